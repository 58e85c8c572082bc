/** Aggregations of nodes: of the tenant's entities, in its turns, within the bounds of one. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type {
  AggregationTurn,
  AlarmTally,
  AlarmTallyQuery,
  MemberKey,
  MemberSelection,
  NodeAggregation,
} from '../../engine/rulechain/capabilities/aggregation.ts'
import type { AggregationWorkers } from '../../engine/workers/aggregation/aggregation-workers.ts'
import { AggregationErrors } from '../../engine/workers/aggregation/errors.ts'
import { ALARM_SEVERITIES } from '../../model/alarm-severity.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { LatestColumn } from '../../model/latest-column.ts'
import type { SummaryJob } from '../../model/group-summary.ts'
import type { AlarmTallyRow } from '../../storage/entities/queries/alarm-queries.ts'
import type { EntityGroups } from '../queries/entity-groups.ts'
import type { Services } from '../services.ts'

export interface AggregationBounds {
  /** Entities of one aggregation. */
  readonly maxEntities: number
  /** What its values may take. */
  readonly maxBytes: number
}

export const DEFAULT_AGGREGATION_BOUNDS: AggregationBounds = { maxEntities: 100_000, maxBytes: 32 * 2 ** 20 }

/** Counts by type, severity and status. */
const MAX_TALLIES = 10_000
const MIB = 2 ** 20

export function nodeAggregation(
  { entityGroups }: Pick<Services, 'entityGroups'>,
  workers: Pick<AggregationWorkers, 'inTurn' | 'summarize'>,
  bounds: AggregationBounds = DEFAULT_AGGREGATION_BOUNDS,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeAggregation {
  return ({ tenantId }) => ({
    inTurn: (work) => workers.inTurn(tenantId, () => work(new TenantTurn(tenantId, entityGroups, workers, bounds))),
  })
}

class TenantTurn implements AggregationTurn {
  private readonly tenantId: string
  private readonly groups: EntityGroups
  private readonly workers: Pick<AggregationWorkers, 'summarize'>
  private readonly bounds: AggregationBounds
  private bytes = 0
  /** Of what `members` found: nothing else is read, since stores know no tenant. */
  private readonly found = new WeakSet<readonly string[]>()

  constructor(
    tenantId: string,
    groups: EntityGroups,
    workers: Pick<AggregationWorkers, 'summarize'>,
    bounds: AggregationBounds,
  ) {
    this.tenantId = tenantId
    this.groups = groups
    this.workers = workers
    this.bounds = bounds
  }

  async members(parent: EntityId, selection: MemberSelection): Promise<readonly string[]> {
    const { maxEntities } = this.bounds
    const ids = await this.groups.members(this.tenantId, parent, selection, maxEntities)
    if (ids.length > maxEntities) throw AggregationErrors.TOO_MANY_ENTITIES({ limit: maxEntities })
    this.found.add(ids)
    return ids
  }

  async column(ids: readonly string[], { source, key }: MemberKey): Promise<LatestColumn> {
    if (!this.found.has(ids)) throw new RangeError('only the values of members are read')
    const check = (bytes: number): void => this.took(bytes)
    return source === 'LATEST_TELEMETRY'
      ? this.groups.latest(ids, key, check)
      : this.groups.attributes(ids, source, key, check)
  }

  names(...asked: Parameters<AggregationTurn['names']>) {
    return this.groups.names(this.tenantId, ...asked)
  }

  async alarms(ids: readonly string[], query: AlarmTallyQuery): Promise<readonly AlarmTally[]> {
    const rows = await this.groups.tallyAlarms(this.tenantId, ids, query, MAX_TALLIES)
    if (rows.length > MAX_TALLIES) throw AggregationErrors.TOO_MANY_TALLIES({ limit: MAX_TALLIES })
    return rows.map(tallyOf)
  }

  summarize(job: SummaryJob) {
    return this.workers.summarize(job, this.tenantId)
  }

  private took(bytes: number): void {
    this.bytes += bytes
    const { maxBytes } = this.bounds
    if (this.bytes > maxBytes) throw AggregationErrors.TOO_LARGE({ limit: Math.round(maxBytes / MIB) })
  }
}

function tallyOf({ type, severity, cleared, acknowledged, alarms }: AlarmTallyRow): AlarmTally {
  const known = ALARM_SEVERITIES.find((name) => name === severity)
  if (known === undefined) throw new TypeError(`${severity} is no severity`)
  return {
    ...{ type, severity: known, alarms },
    status: `${cleared ? 'CLEARED' : 'ACTIVE'}_${acknowledged ? 'ACK' : 'UNACK'}`,
  }
}
