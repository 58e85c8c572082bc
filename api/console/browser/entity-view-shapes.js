/** Keys and times of an entity view as people write them. Knows no page. */

/** Each once. @param {string} text parted by commas */
export function keyNames(text) {
  return [...new Set(text.split(',').map((each) => each.trim()))].filter((each) => each !== '')
}

/** @param {Record<'timeseries' | 'ss' | 'sh' | 'cs', string[]>} names */
export function viewKeys({ timeseries, ss, sh, cs }) {
  return { timeseries, attributes: { cs, ss, sh } }
}

/** As a field of the browser has it, in its own time; 0 is none. @param {number} ts */
export function localTime(ts) {
  if (ts === 0) return ''
  const time = new Date(ts)
  const local = new Date(ts - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}

/** Unix milliseconds; 0 where there is none. @param {string} text */
export function timeOf(text) {
  return text === '' ? 0 : new Date(text).getTime()
}
