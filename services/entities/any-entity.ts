/** Members that name an entity of one of several types: kept as one text, so that it is found by an index. */
import { z } from 'zod'
import { entityId, isEntityType, isUuid, NULL_UUID, type EntityId, type EntityType } from '../../model/entity-id.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { Column, ColumnOptions } from './column.ts'

export interface AnyEntityReference {
  readonly entityTypes: readonly [EntityType, ...EntityType[]]
  /** What who deletes the other is told: what is named can not go. */
  readonly inUse: (type: EntityType) => Error
}

/** Null only before it was checked: the declaration refuses a save without it. */
export function anyEntity(reference: AnyEntityReference, options: ColumnOptions = {}): Column<EntityId | null> {
  return {
    column: options.column,
    stored: { type: 'text', isNullable: false, ...(options.since === undefined ? {} : { since: options.since }) },
    namesOneOf: reference,
    absent: null,
    input: z
      .object({
        entityType: z.enum(reference.entityTypes),
        id: z.string().refine(isUuid, 'a UUID is expected'),
      })
      .nullish()
      .transform((sent) =>
        sent === null || sent === undefined || sent.id === NULL_UUID
          ? undefined
          : entityId(sent.entityType, sent.id.toLowerCase()),
      ),
    shape: {
      type: 'object',
      properties: {
        entityType: { type: 'string', enum: [...reference.entityTypes] },
        id: { type: 'string', format: 'uuid' },
      },
      required: ['entityType', 'id'],
    },
    isSearched: false,
    isSorted: false,
    toColumn: (value) => (value === null ? null : `${value.entityType} ${value.id}`),
    ofColumn: (value) => addressOf(String(value)),
    toJson: (value) => (value === null ? null : { ...value }),
    check: () => {},
  }
}

function addressOf(text: string): EntityId {
  const [entityType = '', id = ''] = text.split(' ')
  if (!isEntityType(entityType)) throw EntityStoreErrors.FAILED({ reason: `${text} names no entity` })
  return entityId(entityType, id)
}
