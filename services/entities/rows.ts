/** A declared type's rows, with the errors that its declaration names. */
import { NULL_UUID } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { maskedSecrets } from '../../model/secret-members.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { typeNameOf } from '../errors.ts'
import {
  uniqueColumns,
  type ColumnSet,
  type DraftOf,
  type EntityDefinition,
  type Identity,
  type RecordOf,
} from './define.ts'

export function rowsOf<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
  entities: EntityStore,
): RowStore {
  const { type, storedAs, unique = [] } = definition
  const taken: Record<string, () => Error> = {}
  for (const index of unique) taken[uniqueColumns(definition, index).join(', ')] = index.otherwise
  return entities.rows(storedAs, {
    taken,
    overtaken: () => EntityStoreErrors.VERSION_CONFLICT({ entity: typeNameOf(type) }),
  })
}

/** A record with every member that is not given at what it is when a save leaves it out. */
export function recordWith<Columns extends ColumnSet>(
  { columns }: EntityDefinition<Columns>,
  identity: Identity,
  members: Readonly<Record<string, unknown>>,
): RecordOf<Columns> {
  const record: Record<string, unknown> = { ...identity }
  for (const [member, column] of Object.entries(columns)) record[member] = members[member] ?? column.absent
  return record as RecordOf<Columns>
}

/** What was sent, in the form that answers have, for the audit row of a save that failed. */
export function draftJson<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
  draft: DraftOf<Columns>,
): JsonObject {
  const { type, columns } = definition
  const json: JsonObject = draft.id === undefined ? {} : { id: { entityType: type, id: draft.id } }
  const whole = definition.jsonOf(recordWith(definition, NOBODY, draft))
  for (const member of Object.keys(columns)) {
    const shown = whole[member]
    if (draft[member] !== undefined && shown !== undefined) json[member] = shown
  }
  return auditedJson(definition, json)
}

/** As rows of the audit log show it: the same object where there is no secret in it. */
export function auditedJson<Columns extends ColumnSet>(
  { secrets = {} }: Pick<EntityDefinition<Columns>, 'secrets'>,
  json: JsonObject,
): JsonObject {
  return maskedSecrets(json, secrets)
}

const NOBODY: Identity = { id: NULL_UUID, createdTime: 0, version: 0, tenantId: NULL_UUID }
