/** Values of very many entities, to be compared and searched: latest telemetry by columns where the store has them. Their times are not told. */
import { COLUMN_KINDS, type LatestColumn } from '../../model/latest-column.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { EntityKey } from '../../model/entity-query.ts'
import type { TypedValue } from '../../model/value.ts'
import { readValues, type EntityValues, type ValueStores } from './query-values.ts'

const { BOOLEAN, LONG, DOUBLE, STRING } = COLUMN_KINDS

export async function readCandidateValues(
  stores: ValueStores,
  entities: readonly EntityId[],
  keys: readonly EntityKey[],
): Promise<EntityValues> {
  const series = new Set(keys.filter(({ type }) => type === 'TIME_SERIES').map(({ key }) => key))
  const { timeSeries } = stores
  const hasViews = entities.some(({ entityType }) => entityType === 'ENTITY_VIEW')
  if (timeSeries.latestColumn === undefined || hasViews || series.size === 0) return readValues(stores, entities, keys)
  const ids = entities.map(({ id }) => id)
  const columns = new Map<string, LatestColumn>()
  for (const key of series) columns.set(key, await timeSeries.latestColumn(ids, key))
  const rounded = await readValues(
    stores,
    entities.filter((_, place) => [...columns.values()].some((column) => isRounded(column, place))),
    [...series].map((key) => ({ type: 'TIME_SERIES', key })),
  )
  const others = await readValues(
    stores,
    entities,
    keys.filter(({ type }) => type !== 'TIME_SERIES'),
  )
  const places = new Map(ids.map((id, place) => [id, place]))
  return {
    of(entityId, key) {
      if (key.type !== 'TIME_SERIES') return others.of(entityId, key)
      const place = places.get(entityId)
      const column = columns.get(key.key)
      if (place === undefined || column === undefined) return undefined
      if (isRounded(column, place)) return rounded.of(entityId, key)
      const value = valueAt(column, place)
      return value && { ...value, ts: 0 }
    },
  }
}

/** Of a long integer a column has not each digit. */
export function isRounded({ kinds, numbers }: LatestColumn, place: number): boolean {
  return kinds[place] === LONG && Math.abs(numbers[place] ?? 0) > Number.MAX_SAFE_INTEGER
}

export function valueAt({ kinds, numbers, texts }: LatestColumn, place: number): TypedValue | undefined {
  const number = numbers[place] ?? 0
  switch (kinds[place] ?? 0) {
    case 0:
      return undefined
    case BOOLEAN:
      return { type: 'BOOLEAN', value: number === 1 }
    case LONG:
      return { type: 'LONG', value: number }
    case DOUBLE:
      return { type: 'DOUBLE', value: number }
    case STRING:
      return { type: 'STRING', value: texts[number] ?? '' }
    default:
      return { type: 'JSON', value: texts[number] ?? '' }
  }
}
