/**
 * Who is next: tenants take turns, in a tenant its scripts take turns. A task takes what has piled up while the slots were
 * busy, so an idle pool adds no wait and a loaded one grows its batches.
 */
import type { Clock } from '../../../model/clock.ts'
import type { LaneTask, ScriptLane } from './script-lane.ts'

/** A task that took longer (ms) marks its tenant as slow: until a quick one, it has one task under way at a time. */
const SLOW_TASK_MS = 50

interface TenantLine {
  readonly tenantId: string
  /** Lanes with waiting messages, each once. */
  readonly ready: ScriptLane[]
  waiting: number
  running: number
  slow: boolean
}

export interface DispatcherOptions {
  /** Tasks under way at a time. */
  readonly slots: number
  /** Messages of one tenant that may wait. */
  readonly queueBound: number
  readonly clock: Clock
  readonly run: (lane: ScriptLane, task: LaneTask) => Promise<void>
}

export class Dispatcher {
  private readonly options: DispatcherOptions
  private readonly tenants = new Map<string, TenantLine>()
  /** Tenants in the order of their turns. */
  private turns: TenantLine[] = []
  private running = 0
  private idle: (() => void) | undefined

  constructor(options: DispatcherOptions) {
    this.options = options
  }

  get waiting(): number {
    let waiting = 0
    for (const line of this.tenants.values()) waiting += line.waiting
    return waiting
  }

  /** Messages of the tenant that wait, where `count` more are too many. */
  refusal(tenantId: string, count: number): number | undefined {
    const waiting = this.tenants.get(tenantId)?.waiting ?? 0
    return waiting + count > this.options.queueBound ? waiting : undefined
  }

  /** `count` messages were added to the lane. */
  added(lane: ScriptLane, count: number): void {
    const line = this.lineOf(lane.identity.tenantId)
    line.waiting += count
    if (!line.ready.includes(lane)) line.ready.push(lane)
    this.dispatch()
  }

  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void> {
    if (this.running === 0 && this.tenants.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.idle = resolve))
  }

  private lineOf(tenantId: string): TenantLine {
    const known = this.tenants.get(tenantId)
    if (known !== undefined) return known
    const line: TenantLine = { tenantId, ready: [], waiting: 0, running: 0, slow: false }
    this.tenants.set(tenantId, line)
    this.turns.push(line)
    return line
  }

  private dispatch(): void {
    let passed = 0
    while (this.running < this.options.slots && passed < this.turns.length) {
      const line = this.turns.shift()
      if (line === undefined) return
      this.turns.push(line)
      const lane = line.running < (line.slow ? 1 : this.options.slots) ? line.ready.shift() : undefined
      if (lane === undefined) {
        passed++
        continue
      }
      passed = 0
      this.start(line, lane)
    }
  }

  private start(line: TenantLine, lane: ScriptLane): void {
    const task = lane.take()
    line.waiting -= task.messages.length
    if (lane.waiting > 0) line.ready.push(lane)
    line.running++
    this.running++
    void this.finish(line, lane, task, this.options.clock.monotonic())
  }

  private async finish(line: TenantLine, lane: ScriptLane, task: LaneTask, startedAt: number): Promise<void> {
    await this.options.run(lane, task)
    line.slow = this.options.clock.monotonic() - startedAt > SLOW_TASK_MS
    line.running--
    this.running--
    this.dispatch()
    lane.finish(task)
    if (line.running > 0 || line.waiting > 0) return
    // A tenant without work leaves, so the turns stay as few as the busy tenants.
    this.tenants.delete(line.tenantId)
    this.turns = this.turns.filter((other) => other !== line)
    if (this.running === 0 && this.tenants.size === 0) this.idle?.()
  }
}
