/** Reads of time series. Source: `rest-api.md` 4.3 and 4.4. */

export const AGGREGATIONS = ['MIN', 'MAX', 'AVG', 'SUM', 'COUNT', 'NONE'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

export interface HistoryQuery {
  readonly keys: readonly string[]
  /** Inclusive, Unix ms. */
  readonly startTs: number
  /** Exclusive, Unix ms. */
  readonly endTs: number
  readonly agg: Aggregation
  /**
   * With an aggregation: ascending bucket borders, at least two; bucket i is [borders[i], borders[i+1]).
   * The service computes them, so that milliseconds and calendar intervals are one thing to a store.
   */
  readonly borders?: readonly number[]
  /** At most so many points a key (agg NONE only). */
  readonly limit: number
  readonly order: 'ASC' | 'DESC'
}
