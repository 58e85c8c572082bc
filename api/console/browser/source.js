/** What one datasource of a widget tells, as it comes: entities with their latest values, or with those of a time. */
import { fold } from './buckets.js'
import { insert } from './points.js'
import { intervalOf } from './time-window.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ ts: number, value: string }} Value */
/** A name of a value and how it is shown. @typedef {{ name: string, type: string, label: string, color: string, units: string, decimals: number | undefined }} Key */
/** One key of one entity. @typedef {{ entityType: string, entityId: string, entityName: string, key: Key, latest: Value, points: import('./points.js').Point[] }} Line */
/** @typedef {{ lines: Line[], shown: number, total: number, startTs: number, endTs: number }} Told */

/** So many entities one widget tells of; it says how many there are. */
const MAX_ENTITIES = 100
const MAX_LINES = 20
/** What was put together by the page is asked for again: the steps of the server move on. */
const REREAD_MS = 30_000
const NOTHING = { ts: 0, value: '' }
const TYPES = /** @type {Readonly<Record<string, string>>} */ ({
  timeseries: 'TIME_SERIES',
  attribute: 'ATTRIBUTE',
  entityField: 'ENTITY_FIELD',
})

/** @param {unknown} stored @returns {Key[]} */
export function keysOf(stored) {
  const list = Array.isArray(stored) ? stored : []
  return list
    .filter((key) => typeof key?.name === 'string')
    .map(({ name, type, label, color, units, decimals }) => ({
      name,
      type: typeof type === 'string' ? type : 'timeseries',
      label: typeof label === 'string' && label !== '' ? label : name,
      color: typeof color === 'string' ? color : '',
      units: typeof units === 'string' ? units : '',
      decimals: Number.isInteger(decimals) ? Number(decimals) : undefined,
    }))
}

/**
 * @param {object} parts
 * @param {import('./live.js').Live} parts.live
 * @param {Json} parts.filter of the entities
 * @param {Json[]} parts.keyFilters
 * @param {Key[]} parts.keys
 * @param {(() => import('./time-window.js').Span) | undefined} parts.span where it tells of a time; asked anew at each reading
 * @param {() => void} parts.onChange
 * @param {(error: Error) => void} parts.onRefused
 */
export function source({ live, filter, keyFilters, keys, span, onChange, onRefused }) {
  /** @typedef {{ entityType: string, name: string, latest: Json, series: Map<string, Series> }} Entity */
  /** @type {Map<string, Entity>} */
  const entities = new Map()
  /** @typedef {{ points: import('./points.js').Point[], buckets: import('./buckets.js').Bucket[] }} Series */
  let total = 0
  let window = span?.()
  let isSent = false
  const query = {
    entityFilter: filter,
    keyFilters,
    entityFields: [
      { type: 'ENTITY_FIELD', key: 'name' },
      { type: 'ENTITY_FIELD', key: 'label' },
    ],
    latestValues: span === undefined ? queried(keys) : [],
    pageLink: {
      page: 0,
      pageSize: span === undefined ? MAX_ENTITIES : Math.max(1, Math.floor(MAX_LINES / Math.max(keys.length, 1))),
      sortOrder: { key: { type: 'ENTITY_FIELD', key: 'name' }, direction: 'ASC' },
      dynamic: true,
    },
  }
  const names = keys.filter(({ type }) => type === 'timeseries').map(({ name }) => name)
  const topic = live.follow({
    command(cmdId) {
      isSent = true
      const common = { type: 'ENTITY_DATA', cmdId, query }
      if (span === undefined) return { ...common, latestCmd: { keys: queried(keys) } }
      window = span()
      const { startTs, endTs, agg, limit, isLive } = window
      const how = { keys: names, startTs, interval: intervalOf(window), limit, agg }
      // A little longer than now: clocks of devices are ahead.
      if (isLive) return { ...common, tsCmd: { ...how, timeWindow: endTs - startTs + 60_000 } }
      return { ...common, historyCmd: { ...how, endTs } }
    },
    onFrame(frame, isFirst) {
      if (frame['data'] !== null && frame['data'] !== undefined) {
        // Other entities, whose points are not told yet.
        if (!isFirst && span !== undefined && !isSent) return topic.again()
        isSent = false
        total = frame['data'].totalElements
        entities.clear()
        for (const entity of frame['data'].data) take(entity, true)
      } else for (const entity of frame['update'] ?? []) take(entity, false)
      onChange()
    },
    onRefused,
  })
  const timer =
    span !== undefined && window?.isLive === true && window.agg !== 'NONE'
      ? setInterval(() => document.hidden || topic.again(), REREAD_MS)
      : undefined

  /** @param {Json} entity @param {boolean} isWhole */
  function take({ entityId, latest, timeseries }, isWhole) {
    /** @type {Entity} */
    const known = entities.get(entityId.id) ?? {
      entityType: entityId.entityType,
      name: '',
      latest: {},
      series: new Map(),
    }
    entities.set(entityId.id, known)
    for (const [type, values] of Object.entries(latest ?? {})) known.latest[type] = { ...known.latest[type], ...values }
    known.name = known.latest['ENTITY_FIELD']?.name?.value ?? known.name
    for (const [key, list] of Object.entries(timeseries ?? {})) takeSeries(known.series, key, list, isWhole)
  }

  /** @param {Map<string, Series>} all @param {string} key @param {(Value & { count?: number })[]} list @param {boolean} isWhole */
  function takeSeries(all, key, list, isWhole) {
    const series = all.get(key) ?? { points: [], buckets: [] }
    all.set(key, series)
    if (window === undefined) return
    const how = { startTs: window.startTs, interval: intervalOf(window), agg: window.agg }
    for (const { ts, value, count } of [...list].sort((a, b) => a.ts - b.ts)) {
      const number = Number(value)
      if (value === undefined || value === '' || !Number.isFinite(number)) continue
      if (how.agg === 'NONE') insert(series.points, [ts, number])
      else if (isWhole) series.buckets.push({ ts, value: number, count: count ?? 1 })
      else fold(series.buckets, [ts, number], how)
    }
    // As many as the server tells of at once: else a page that is left open would gather them without end.
    const { limit } = window
    if (series.points.length > 2 * limit) series.points.splice(0, series.points.length - limit)
  }

  return {
    /** @returns {Told} */
    told() {
      const now = Date.now()
      const endTs = window === undefined || window.isLive ? now : window.endTs
      const startTs = window === undefined ? now : endTs - (window.endTs - window.startTs)
      const lines = [...entities].flatMap(([entityId, { entityType, name, latest, series }]) =>
        keys.map((key) => {
          const own = series.get(key.name)
          const points = own === undefined ? [] : window?.agg === 'NONE' ? own.points : own.buckets.map(asPoint)
          const value = latest[TYPES[key.type] ?? '']?.[key.name] ?? lastOf(points)
          return {
            entityType,
            entityId,
            entityName: name,
            key,
            latest: value,
            points: points.filter(([ts]) => ts >= startTs),
          }
        }),
      )
      return { lines, shown: entities.size, total, startTs, endTs }
    },
    close() {
      clearInterval(timer)
      topic.end('ENTITY_DATA_UNSUBSCRIBE')
    },
  }
}

/** @param {import('./buckets.js').Bucket} bucket @returns {import('./points.js').Point} */
function asPoint({ ts, value }) {
  return [ts, value]
}

/** @param {import('./points.js').Point[]} points @returns {Value} */
function lastOf(points) {
  const last = points.at(-1)
  return last === undefined ? NOTHING : { ts: last[0], value: String(last[1]) }
}

/** @param {Key[]} keys */
function queried(keys) {
  return keys.flatMap(({ name, type }) => {
    const wanted = TYPES[type]
    return wanted === undefined ? [] : [{ type: wanted, key: name }]
  })
}
