/** Figures over values, as a form shows them, and back: metrics and intervals. Knows no page. */

/** @typedef {Record<string, any>} Json */
/** `argument` is '' where a script makes the value; `filter` is '' where all values count. @typedef {{ name: string, fn: string, argument: string, script: string, filter: string, defaultValue: string, before: Json }} Metric */
/** Seconds. @typedef {{ type: string, zone: string, durationSec: number | undefined, offsetSec: number | undefined }} Interval */

export const FUNCTIONS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['AVG', 'mean'],
  ['SUM', 'sum'],
  ['MIN', 'least'],
  ['MAX', 'most'],
  ['COUNT', 'how many'],
  ['COUNT_UNIQUE', 'how many different'],
])

export const INTERVALS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['HOUR', 'hour'],
  ['DAY', 'day'],
  ['WEEK', 'week from Monday'],
  ['WEEK_SUN_SAT', 'week from Sunday'],
  ['MONTH', 'month'],
  ['QUARTER', 'quarter'],
  ['YEAR', 'year'],
  ['CUSTOM', 'length of its own'],
])

export const UNITS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['1', 'seconds'],
  ['60', 'minutes'],
  ['3600', 'hours'],
  ['86400', 'days'],
])

/** @param {Json | undefined} named @returns {Metric[]} */
export function metricsOf(named) {
  return Object.entries(named ?? {}).map(([name, before]) => ({
    name,
    fn: before.function ?? 'AVG',
    argument: before.input?.type === 'key' ? before.input.key : '',
    script: before.input?.type === 'function' ? before.input.function : '',
    filter: before.filter ?? '',
    defaultValue: before.defaultValue === undefined || before.defaultValue === null ? '' : String(before.defaultValue),
    before,
  }))
}

/** What the form does not show stays as it is. @param {readonly Metric[]} shown @returns {Json} */
export function namedMetrics(shown) {
  return Object.fromEntries(
    shown.map(({ name, fn, argument, script, filter, defaultValue, before }) => {
      const { filter: _filter, defaultValue: _value, ...others } = before
      const input = argument === '' ? { type: 'function', function: script } : { type: 'key', key: argument }
      return [
        name,
        {
          ...{ ...others, function: fn, input },
          ...(filter === '' ? {} : { filter }),
          ...(defaultValue === '' ? {} : { defaultValue: Number(defaultValue) }),
        },
      ]
    }),
  )
}

/**
 * Where the argument at `place` stands now, after one was called otherwise, added behind or taken out; -1 where it is gone. While somebody types
 * names may be alike, or empty: they say nothing of which is which.
 * @param {readonly string[]} before @param {readonly string[]} now @param {number} place
 */
export function followed(before, now, place) {
  if (now.length >= before.length) return place
  const gone = before.findIndex((name, index) => name !== now[index])
  if (place === gone) return -1
  return place > gone ? place - 1 : place
}

/** @param {Json | undefined} stored @returns {Interval} */
export function intervalOf({ type, tz, durationSec, offsetSec } = {}) {
  return {
    type: type ?? 'HOUR',
    zone: tz ?? 'UTC',
    durationSec: durationSec ?? undefined,
    offsetSec: offsetSec ?? undefined,
  }
}

/** @param {Json | undefined} before @param {Interval} shown @returns {Json} */
export function storedInterval(before, { type, zone, durationSec, offsetSec }) {
  const { durationSec: _length, offsetSec: _offset, ...others } = before ?? {}
  return {
    ...{ ...others, type, tz: zone },
    ...(type === 'CUSTOM' && durationSec !== undefined ? { durationSec } : {}),
    ...(offsetSec === undefined ? {} : { offsetSec }),
  }
}

/** @param {number | null | undefined} seconds @returns {{ amount: string, unit: string }} */
export function inUnit(seconds) {
  if (seconds === undefined || seconds === null) return { amount: '', unit: '60' }
  const unit = UNITS.map(([each]) => Number(each)).findLast((each) => seconds !== 0 && seconds % each === 0) ?? 1
  return { amount: String(seconds / unit), unit: String(unit) }
}

/** Whole seconds: others are not stored. @param {string} amount @param {string} unit */
export function secondsOf(amount, unit) {
  return Math.round(Number(amount) * Number(unit))
}
