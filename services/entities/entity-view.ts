/** Entity views: what a customer may see of a device or an asset: some keys, some time. Source: `rest-api.md` 15.1. */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import { parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Change } from '../../engine/subscriptions/change.ts'
import type { Principal } from '../../model/principal.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { copiedAttributes, MAX_KEYS, type Exposure, type ViewKeys } from '../telemetry/exposure.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { NOT_IN_OWN_HANDS } from '../access/permissions.ts'
import { anyEntity } from './any-entity.ts'
import { customerId, integer, json, name, type Column } from './column.ts'
import { defineEntity, type EntityAccess, type RecordOf } from './define.ts'
import { EntityViewErrors } from './entity-view-errors.ts'

const keyList = z
  .array(z.string())
  .max(MAX_KEYS)
  .nullish()
  .transform((sent) => sent ?? [])

const NO_ATTRIBUTES = { cs: [], ss: [], sh: [] }

const viewKeys = z.object({
  timeseries: keyList,
  attributes: z
    .object({ cs: keyList, ss: keyList, sh: keyList })
    .nullish()
    .transform((sent) => sent ?? NO_ATTRIBUTES),
})

const LIST: JsonObject = { type: 'array', items: { type: 'string' } }

function keys(): Column<ViewKeys | null> {
  return {
    ...json(),
    absent: null,
    input: viewKeys.nullish().transform((sent) => sent ?? undefined),
    shape: {
      type: ['object', 'null'],
      properties: {
        timeseries: LIST,
        attributes: { type: 'object', properties: { cs: LIST, ss: LIST, sh: LIST }, required: ['cs', 'ss', 'sh'] },
      },
      required: ['timeseries', 'attributes'],
    },
    toColumn: (value) => stringifyJson(jsonOfKeys(value)),
    ofColumn: (stored) => viewKeys.nullable().parse(parseJson(String(stored))),
    toJson: jsonOfKeys,
    check: () => {},
  }
}

function jsonOfKeys(value: ViewKeys | null): JsonObject | null {
  if (value === null) return null
  const { cs, ss, sh } = value.attributes
  return { timeseries: [...value.timeseries], attributes: { cs: [...cs], ss: [...ss], sh: [...sh] } }
}

export const entityViews = defineEntity({
  type: 'ENTITY_VIEW',
  label: 'Entity view',
  name: 'name',
  table: {
    name: 'entity_view',
    version: 1,
    indexes: [{ members: ['customerId'] }, { members: ['entityId'] }, { members: ['type'] }],
  },
  columns: {
    entityId: anyEntity({
      entityTypes: ['DEVICE', 'ASSET'],
      inUse: (type) => EntityViewErrors.SOURCE_IN_USE({ type: type.toLowerCase() }),
    }),
    customerId: customerId('entity view'),
    name: name(),
    type: name(),
    keys: keys(),
    startTimeMs: integer(0),
    endTimeMs: integer(0),
    additionalInfo: json(),
  },
  unique: [
    { members: ['name'], otherwise: () => EntityStoreErrors.NAME_TAKEN({ entity: 'Entity view', property: 'name' }) },
  ],
  example: (ids) => ({
    name: 'Meter for its tenant',
    type: 'meter',
    entityId: { entityType: 'ASSET', id: ids['assetId'] ?? '' },
    keys: { timeseries: ['temperature'], attributes: { cs: [], ss: ['model'], sh: [] } },
    startTimeMs: 0,
    endTimeMs: 0,
  }),
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: NOT_IN_OWN_HANDS },
  shows: { customerTitle: { by: 'customerId', table: 'customer', column: 'title', isSearched: true } },
  async prepare(record, { before, principal, services }) {
    const source = record.entityId
    if (source === null) throw EntityViewErrors.SOURCE_MISSING()
    await checkSource(source, record, before, principal, services)
    return {
      record,
      following: await copiedAttributes(services.store, record.id, source, record, before?.keys ?? null),
    }
  },
  // What was copied is told to nobody: whoever holds attributes of the view reads them again, and whoever follows it asks whether it may.
  tells: ({ id }, what) => {
    const entity: EntityId = { entityType: 'ENTITY_VIEW', id }
    const none = { scope: 'SERVER_SCOPE', attributes: [], audience: 'caches' } as const
    const copied: Change = { kind: 'attributes', entity, sequence: undefined, ...none }
    return what === 'created' ? copied : [copied, { kind: 'device-changed', entity, credentialsChanged: false }]
  },
})

export type EntityView = RecordOf<typeof entityViews.columns>

/** What a view shows of its source's series; undefined where there is no such view. */
export async function exposureOf(
  views: { findAnywhere(id: string): Promise<EntityView | undefined> },
  viewId: string,
): Promise<Exposure | undefined> {
  const view = await views.findAnywhere(viewId)
  if (view?.entityId === undefined || view.entityId === null) return undefined
  const { entityId: source, keys: shown, startTimeMs, endTimeMs } = view
  return { source, keys: shown?.timeseries ?? [], startTimeMs, endTimeMs }
}

/** The source is there and the tenant's; who may not read it changes nothing of what the view shows of it. */
async function checkSource(
  source: EntityId,
  record: EntityView,
  before: EntityView | undefined,
  principal: Principal,
  services: EntityAccess,
): Promise<void> {
  const owner = await services.whose(source)
  if (owner === undefined) throw itemNotFound(source)
  if (owner.tenantId !== record.tenantId) throw ServiceErrors.PERMISSION_DENIED()
  if (principal.authority !== 'CUSTOMER_USER' || owner.customerId === principal.customerId) return
  if (before === undefined || exposureText(before) !== exposureText(record)) throw ServiceErrors.PERMISSION_DENIED()
}

function exposureText({ entityId, keys: shown, startTimeMs, endTimeMs }: EntityView): string {
  return stringifyJson([entityId === null ? null : { ...entityId }, jsonOfKeys(shown), startTimeMs, endTimeMs])
}
