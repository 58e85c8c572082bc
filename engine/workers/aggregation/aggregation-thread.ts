/** Entry of a thread of the aggregation pool: one task is one batch of entities with all that is to be told of it. */
import { summarized, type SummaryJob, type SummaryResult } from '../../../model/group-summary.ts'

export interface TimedSummary {
  readonly result: SummaryResult
  readonly runMs: number
}

export default function summarize(job: SummaryJob): TimedSummary {
  const startedAt = performance.now()
  const result = summarized(job)
  return { result, runMs: performance.now() - startedAt }
}
