/** The scripts that are deployed, with the work of each, of its tenant and of all: what a report is made of. */
import type { Clock } from '../../../model/clock.ts'
import type { ScriptWork, TenantWork } from '../../../model/worker-pool.ts'
import { WorkFigures } from '../../workers/work-figures.ts'
import type { ScriptKind, ScriptSource } from '../script.ts'
import { Breaker } from './breaker.ts'
import type { ScriptLane } from './script-lane.ts'

/** What a script's work is counted in. */
export interface ScriptEntry {
  readonly source: ScriptSource<ScriptKind>
  readonly breaker: Breaker
  readonly script: WorkFigures
  readonly tenant: WorkFigures
}

interface TenantEntry {
  readonly work: WorkFigures
  scripts: number
}

interface DeployedScript extends ScriptEntry {
  readonly lane: ScriptLane
}

export class ScriptRegistry {
  readonly all: WorkFigures
  private readonly clock: Clock
  private readonly scripts = new Set<DeployedScript>()
  private readonly tenants = new Map<string, TenantEntry>()

  constructor(clock: Clock) {
    this.clock = clock
    this.all = new WorkFigures(clock)
  }

  get size(): number {
    return this.scripts.size
  }

  get tenantCount(): number {
    return this.tenants.size
  }

  get breakersOpen(): number {
    let open = 0
    for (const { breaker } of this.scripts) if (breaker.state !== 'closed') open++
    return open
  }

  /** The script is deployed with the lane made of its entry. Returns what takes it out again, once. */
  add(
    source: ScriptSource<ScriptKind>,
    laneOf: (entry: ScriptEntry) => ScriptLane,
  ): { lane: ScriptLane; remove(): void } {
    const tenant = this.tenants.get(source.tenantId) ?? { work: new WorkFigures(this.clock), scripts: 0 }
    this.tenants.set(source.tenantId, tenant)
    tenant.scripts++
    const entry = {
      source,
      breaker: this.breakerOf(source),
      script: new WorkFigures(this.clock),
      tenant: tenant.work,
    }
    const deployed: DeployedScript = { ...entry, lane: laneOf(entry) }
    this.scripts.add(deployed)
    const remove = (): void => {
      if (!this.scripts.delete(deployed)) return
      tenant.scripts--
      if (tenant.scripts === 0) this.tenants.delete(source.tenantId)
    }
    return { lane: deployed.lane, remove }
  }

  /** Most run time first. */
  busiestTenants(rows: number, threads: number, waitingOf: (tenantId: string) => number): readonly TenantWork[] {
    return [...this.tenants]
      .map(([tenantId, { work, scripts }]) => ({ tenantId, work, scripts, busyMs: work.busyMs() }))
      .sort((a, b) => b.busyMs - a.busyMs)
      .slice(0, rows)
      .map(({ tenantId, work, scripts }) => ({
        tenantId,
        scripts,
        waiting: waitingOf(tenantId),
        work: work.report(threads),
      }))
  }

  /** Those whose breaker is not closed, then most run time first. */
  busiestScripts(rows: number, threads: number): readonly ScriptWork[] {
    return [...this.scripts]
      .map((entry) => ({ entry, tripped: entry.breaker.state === 'closed' ? 0 : 1, busyMs: entry.script.busyMs() }))
      .sort((a, b) => b.tripped - a.tripped || b.busyMs - a.busyMs)
      .slice(0, rows)
      .map(({ entry: { source, lane, breaker, script } }) => ({
        tenantId: source.tenantId,
        ruleChainId: source.ruleChainId ?? '',
        ruleChainName: source.ruleChainName ?? '',
        ruleNodeId: source.ownerId,
        ruleNodeName: source.ownerName ?? '',
        waiting: lane.waiting,
        breaker: breaker.report(),
        work: script.report(threads),
      }))
  }

  /** A rule node that is deployed once more with the same script keeps its breaker; a changed script begins anew. */
  private breakerOf(source: ScriptSource<ScriptKind>): Breaker {
    for (const { source: known, breaker } of this.scripts)
      if (
        known.ownerId === source.ownerId &&
        known.tenantId === source.tenantId &&
        known.kind === source.kind &&
        known.body === source.body
      )
        return breaker
    return new Breaker(this.clock)
  }
}
