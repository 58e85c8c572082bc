/** One message of metrics over many entities, whatever they are. */
import type { SummaryMetric } from '../../model/group-summary.ts'
import type { JsonValue } from '../../model/json.ts'
import { mergedMembers } from '../../model/members.ts'
import type { MemberKey } from '../../engine/rulechain/capabilities/aggregation.ts'
import type { GroupNodeRules } from './group-node.ts'
import { MemberColumns } from './member-columns.ts'
import type { MemberFilter } from './member-filter.ts'
import { summaryValue } from './summary-values.ts'

/** A metric of the values under a key, told under another. */
export interface KeyMetric extends Omit<SummaryMetric, 'column'> {
  readonly of: MemberKey
  readonly outputKey: string
}

/** Tells those of the metrics that have a value; nothing where none has. */
export function metricsReport(
  filter: MemberFilter | undefined,
  wanted: readonly KeyMetric[],
): GroupNodeRules['report'] {
  return async (turn, ids) => {
    const held = new MemberColumns(turn, ids)
    const selected = await filter?.selected(turn, ids, (key) => held.of(key))
    const metrics: SummaryMetric[] = []
    for (const { of, function: wantedFunction, percentile, missing } of wanted)
      metrics.push({ column: await held.placeOf(of), function: wantedFunction, percentile, missing })
    const { columns } = held
    const result = await turn.summarize({ size: ids.length, columns, selected, metrics, rankings: [] })
    const results: (readonly [string, JsonValue])[] = []
    for (const [place, { outputKey, function: of }] of wanted.entries()) {
      const value = result.metrics[place] ?? null
      if (value !== null) results.push([outputKey, summaryValue(outputKey, of, value)])
    }
    if (results.length === 0) return undefined
    const { entities, ignored } = result
    return { values: mergedMembers({}, results), entities, ignored }
  }
}
