/** The values that queries show and compare: attributes and latest telemetry of many entities at once. */
import type { EntityId } from '../../model/entity-id.ts'
import type { EntityKey, EntityKeyType, LatestValues, ShownValue } from '../../model/entity-query.ts'
import type { DataPoint, TypedValue } from '../../model/value.ts'
import { valueText } from '../../model/entry-json.ts'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { SelectedEntity } from '../../storage/entities/queries/query.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import { ATTRIBUTE_KEY_SCOPES } from './attribute-keys.ts'

/** Entities whose values are asked for at a time: one read holds up no other for long. */
const ENTITIES_PER_READ = 1_000

type TimedValue = TypedValue & { readonly ts: number }

/** Finds the value of a key that is no field. */
export interface EntityValues {
  of(entityId: string, key: EntityKey): TimedValue | undefined
}

export interface ValueStores {
  readonly entities: EntityStore
  readonly timeSeries: TimeSeriesStore
  /** Series of an entity view are its source's, as far as it shows them. */
  readonly latestOfView: (viewId: string, keys: readonly string[]) => Promise<readonly DataPoint[]>
}

export async function readValues(
  stores: ValueStores,
  wanted: readonly EntityId[],
  keys: readonly EntityKey[],
): Promise<EntityValues> {
  const attributeKeys = namesOf(keys, (type) => type in ATTRIBUTE_KEY_SCOPES)
  const seriesKeys = namesOf(keys, (type) => type === 'TIME_SERIES')
  const attributes = new Map<string, ScopedAttribute[]>()
  const latest = new Map<string, readonly DataPoint[]>()
  for (let start = 0; start < wanted.length; start += ENTITIES_PER_READ) {
    const some = wanted.slice(start, start + ENTITIES_PER_READ)
    const ids = some.map(({ id }) => id)
    const views = seriesKeys.length === 0 ? [] : some.filter(({ entityType }) => entityType === 'ENTITY_VIEW')
    const [found, points, ofViews] = await Promise.all([
      attributeKeys.length === 0 ? [] : stores.entities.queries.attributes(ids, attributeKeys),
      seriesKeys.length === 0 ? undefined : stores.timeSeries.latestOfMany(ids, seriesKeys),
      Promise.all(views.map(async ({ id }) => [id, await stores.latestOfView(id, seriesKeys)] as const)),
    ])
    for (const { entityId, attribute } of found) {
      const held = attributes.get(entityId)
      if (held === undefined) attributes.set(entityId, [attribute])
      else held.push(attribute)
    }
    for (const [id, held] of [...(points?.value ?? []), ...ofViews]) latest.set(id, held)
  }
  return {
    of: (entityId, key) => {
      if (key.type === 'TIME_SERIES') return latest.get(entityId)?.find((point) => point.key === key.key)
      const attribute = attributeOf(attributes.get(entityId) ?? [], key)
      return attribute && { ...attribute, ts: attribute.lastUpdateTs }
    },
  }
}

/** Of several scopes the one that was written last. */
export function attributeOf(held: readonly ScopedAttribute[], { type, key }: EntityKey): ScopedAttribute | undefined {
  const scope = ATTRIBUTE_KEY_SCOPES[type]
  if (scope === undefined) return undefined
  let newest: ScopedAttribute | undefined
  for (const attribute of held) {
    if (attribute.key !== key || (scope !== 'any' && attribute.scope !== scope)) continue
    if (newest === undefined || attribute.lastUpdateTs > newest.lastUpdateTs) newest = attribute
  }
  return newest
}

const NOTHING: ShownValue = { ts: 0, value: '' }

/** As clients read it: every key that was asked for is there. */
export function shownValues(
  entity: SelectedEntity,
  fields: readonly string[],
  keys: readonly EntityKey[],
  values: EntityValues,
  now: number,
): LatestValues {
  const shown: Partial<Record<EntityKeyType, Record<string, ShownValue>>> = {}
  const put = (type: EntityKeyType, key: string, value: ShownValue): void => {
    // A key may be named as members of every object are.
    const ofType = (shown[type] ??= Object.create(null) as Record<string, ShownValue>)
    ofType[key] = value
  }
  for (const [place, field] of fields.entries())
    put('ENTITY_FIELD', field, { ts: now, value: String(entity.fields[place] ?? '') })
  for (const key of keys) {
    const value = values.of(entity.id, key)
    put(key.type, key.key, value === undefined ? NOTHING : { ts: value.ts, value: valueText(value) })
  }
  return shown
}

function namesOf(keys: readonly EntityKey[], isWanted: (type: EntityKeyType) => boolean): readonly string[] {
  return [...new Set(keys.filter(({ type }) => isWanted(type)).map(({ key }) => key))]
}
