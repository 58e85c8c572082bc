/**
 * Who is next: tenants take turns by processor time, in a tenant its rule chains, in a chain its scripts. A task takes what has piled up
 * while the slots were busy, so an idle pool adds no wait and a loaded one grows its batches.
 */
import { FairTurns, type Competitor } from '../../workers/fair-turns.ts'
import type { LaneTask, Pace, ScriptLane } from './script-lane.ts'

/**
 * A script whose last task used more processor time (ms) is slow. Slow tasks leave a thread free wherever there are two; one tenant's, and those
 * of its scripts that have not run yet, leave half of them.
 */
const SLOW_TASK_MS = 50
/** What a task costs in turns beside what it used, ms. */
const TASK_COST_MS = 0.05

/** How many lanes have messages waiting. */
type Ready = Record<Pace, number>

interface ChainLine extends Competitor {
  readonly lanes: FairTurns<ScriptLane>
  readonly ready: Ready
}

interface TenantLine extends Competitor {
  readonly chains: FairTurns<ChainLine>
  readonly ready: Ready
  waiting: number
  /** Tasks under way that are slow, or may be. */
  doubtfulRunning: number
}

/** Where a lane stands in the turns. */
interface Place {
  readonly tenant: TenantLine
  readonly chain: ChainLine
  readonly lane: ScriptLane
}

export interface DispatcherOptions {
  readonly threads: number
  /** Tasks under way at a time for each thread. */
  readonly concurrentTasks: number
  /** Messages of one tenant that may wait. */
  readonly queueBound: number
}

/** Runs a task to its end and never rejects; resolves with the processor time it used, ms. */
export type RunTask = (lane: ScriptLane, task: LaneTask) => Promise<number>

export class Dispatcher {
  /** Tasks under way. */
  running = 0
  /** Messages that wait. */
  waiting = 0
  private options: DispatcherOptions
  private readonly run: RunTask
  private readonly tenants = new FairTurns<TenantLine>()
  private slowRunning = 0
  private idle: (() => void) | undefined

  constructor(options: DispatcherOptions, run: RunTask) {
    this.options = options
    this.run = run
  }

  /** From now on; what waits beyond a lower bound stays. */
  change(options: DispatcherOptions): void {
    this.options = options
    this.dispatch()
  }

  waitingOf(tenantId: string): number {
    return this.tenants.find(tenantId)?.waiting ?? 0
  }

  /** Messages of the tenant that wait, where `count` more are too many. */
  refusal(tenantId: string, count: number): number | undefined {
    const waiting = this.waitingOf(tenantId)
    return waiting + count > this.options.queueBound ? waiting : undefined
  }

  /** `count` messages were added to the lane. */
  added(lane: ScriptLane, count: number): void {
    const tenant = this.tenants.join(lane.identity.tenantId, newTenantLine)
    const chain = tenant.chains.join(lane.ruleChainId, newChainLine)
    chain.lanes.join(lane.identity.scriptId, () => lane)
    const place: Place = { tenant, chain, lane }
    activate(place, count)
    tenant.waiting += count
    this.waiting += count
    markReady(place)
    this.dispatch()
  }

  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void> {
    if (this.running === 0 && this.waiting === 0) return Promise.resolve()
    return new Promise((resolve) => (this.idle = resolve))
  }

  private dispatch(): void {
    while (this.running < this.options.threads * this.options.concurrentTasks) {
      const place = this.next()
      if (place === undefined) return
      this.start(place)
    }
  }

  private next(): Place | undefined {
    const tenant = this.tenants.next((line) => isReady(line.ready, this.allowed(line)))
    if (tenant === undefined) return undefined
    const allowed = this.allowed(tenant)
    const chain = tenant.chains.next((line) => isReady(line.ready, allowed))
    const lane = chain?.lanes.next(({ readyAs }) => readyAs !== undefined && allowed[readyAs])
    return chain === undefined || lane === undefined ? undefined : { tenant, chain, lane }
  }

  /** Which tasks of the tenant may start now. */
  private allowed(tenant: TenantLine): Readonly<Record<Pace, boolean>> {
    const { threads } = this.options
    const unproven = tenant.doubtfulRunning < Math.max(1, Math.floor(threads / 2))
    return { quick: true, unproven, slow: unproven && this.slowRunning < Math.max(1, threads - 1) }
  }

  private start(place: Place): void {
    const { tenant, lane } = place
    const task = lane.take()
    const count = task.messages.length
    const { pace } = lane
    tenant.waiting -= count
    this.waiting -= count
    activate(place, 1 - count)
    // Charged beforehand by what it is likely to take, or the same tenant would get all free slots.
    const expectedMs = lane.expectedMs(count)
    charge(place, expectedMs + TASK_COST_MS)
    markReady(place)
    this.running++
    if (pace === 'slow') this.slowRunning++
    if (pace !== 'quick') tenant.doubtfulRunning++
    void this.finish(place, task, { pace, expectedMs })
  }

  private async finish(
    place: Place,
    task: LaneTask,
    { pace, expectedMs }: { readonly pace: Pace; readonly expectedMs: number },
  ): Promise<void> {
    const { tenant, lane } = place
    const usedMs = await this.run(lane, task)
    charge(place, usedMs - expectedMs)
    // A task whose script is put aside runs not at all, which says nothing of the trial that comes some day.
    if (usedMs > 0) {
      lane.ran(task.messages.length, usedMs)
      lane.pace = usedMs > SLOW_TASK_MS ? 'slow' : 'quick'
    }
    markReady(place)
    this.running--
    if (pace === 'slow') this.slowRunning--
    if (pace !== 'quick') tenant.doubtfulRunning--
    activate(place, -1)
    this.dispatch()
    lane.finish(task)
    if (this.running > 0 || this.waiting > 0) return
    this.tenants.clear()
    this.idle?.()
  }
}

function newTenantLine(): TenantLine {
  return {
    virtualTime: 0,
    active: 0,
    chains: new FairTurns(),
    ready: noneReady(),
    waiting: 0,
    doubtfulRunning: 0,
  }
}

function newChainLine(): ChainLine {
  return { virtualTime: 0, active: 0, lanes: new FairTurns(), ready: noneReady() }
}

function noneReady(): Ready {
  return { quick: 0, slow: 0, unproven: 0 }
}

function isReady(ready: Readonly<Ready>, allowed: Readonly<Record<Pace, boolean>>): boolean {
  return ready.quick > 0 || (allowed.unproven && ready.unproven > 0) || (allowed.slow && ready.slow > 0)
}

function activate({ tenant, chain, lane }: Place, count: number): void {
  tenant.active += count
  chain.active += count
  lane.active += count
}

function charge({ tenant, chain, lane }: Place, ms: number): void {
  tenant.virtualTime += ms
  chain.virtualTime += ms
  lane.virtualTime += ms
}

/** Counts the lane among those with waiting messages, as what it is now. */
function markReady({ tenant, chain, lane }: Place): void {
  const readyAs = lane.waiting === 0 ? undefined : lane.pace
  if (readyAs === lane.readyAs) return
  for (const { ready } of [tenant, chain]) {
    if (lane.readyAs !== undefined) ready[lane.readyAs]--
    if (readyAs !== undefined) ready[readyAs]++
  }
  lane.readyAs = readyAs
}
