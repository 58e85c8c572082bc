/** Where rule nodes aggregate many entities: at once, or on threads that start when the first large aggregation needs them. */
import { systemClock } from '../model/system-clock.ts'
import type { Config } from '../config/settings.ts'
import { AggregationWorkers } from '../engine/workers/aggregation/aggregation-workers.ts'
import type { AggregationBounds } from '../services/node-capabilities/aggregation.ts'
import type { Closing } from './closing.ts'

export interface Aggregation {
  readonly workers: AggregationWorkers
  readonly bounds: AggregationBounds
}

export function openAggregation(config: Config, closing: Closing): Aggregation {
  const workers = new AggregationWorkers({
    clock: systemClock,
    threads: config.aggregationThreads,
    timeoutMs: config.aggregationTimeoutMs,
  })
  closing.add('aggregation workers', () => workers.close())
  return {
    workers,
    bounds: { maxEntities: config.aggregationMaxEntities, maxBytes: config.aggregationMaxMb * 2 ** 20 },
  }
}
