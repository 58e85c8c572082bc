/** Values put together by steps of time as the server does it, gone on with as more come. Knows no page. */

/** @typedef {{ ts: number, value: number, count: number }} Bucket in the middle of its step */
/** @typedef {import('./time-window.js').Aggregation} Aggregation */

/**
 * A new value goes into its step, which is made where nothing fell into it yet. Steps begin at `startTs`.
 * @param {Bucket[]} buckets by time @param {readonly [ts: number, value: number]} point @param {{ startTs: number, interval: number, agg: Aggregation }} how
 */
export function fold(buckets, [ts, value], { startTs, interval, agg }) {
  if (ts < startTs) return
  const index = Math.floor((ts - startTs) / interval)
  const middle = startTs + index * interval + Math.floor(interval / 2)
  let at = buckets.length
  while (at > 0 && (buckets[at - 1]?.ts ?? 0) >= startTs + (index + 1) * interval) at--
  const last = buckets[at - 1]
  const isThere = last !== undefined && last.ts >= startTs + index * interval
  if (isThere) buckets[at - 1] = { ts: last.ts, ...joined(last, value, agg) }
  else buckets.splice(at, 0, { ts: middle, value: agg === 'COUNT' ? 1 : value, count: 1 })
}

/** @param {Bucket} bucket @param {number} value @param {Aggregation} agg @returns {{ value: number, count: number }} */
function joined({ value: before, count }, value, agg) {
  const after = count + 1
  if (agg === 'MIN') return { value: Math.min(before, value), count: after }
  if (agg === 'MAX') return { value: Math.max(before, value), count: after }
  if (agg === 'SUM') return { value: before + value, count: after }
  if (agg === 'COUNT') return { value: before + 1, count: after }
  return { value: (before * count + value) / after, count: after }
}
