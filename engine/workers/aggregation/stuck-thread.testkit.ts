/** Entry of a thread that never ends a job of one entity. */
import type { SummaryJob } from '../../../model/group-summary.ts'
import summarize, { type TimedSummary } from './aggregation-thread.ts'

export default function summarizeOrHang(job: SummaryJob): TimedSummary {
  while (job.size === 1);
  return summarize(job)
}
