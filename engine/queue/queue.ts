/**
 * From the link to the rule engine and back: packs out, outcomes in. Every delivery ends in exactly one of: settled, skipped (settled
 * though it failed, where the queue ignores failures), buried (after its last try, or at once where trying again is no use), or parked with
 * its whole lane, which fails again and again. Another failed message waits and is tried again at the head of its lane, its tries noted
 * durably, while other lanes go on. `docs/internals/queues.md` has the strategies.
 *
 * Bounded by `maxHeld`: when it is reached the link keeps the rest on disk, and in the end senders are slowed. Failing lanes of one tenant
 * have a share of it.
 */
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { MAIN_QUEUE, type Delivery, type Link, type LinkConsumer } from '../link/link.ts'
import { ParkedDelivery } from '../parking/parked-lane.ts'
import type { Parking, ParkingQueue } from '../parking/parking.ts'
import { Crowding } from './crowding.ts'
import type { QueueFigures } from './figures.ts'
import { Held } from './held.ts'
import type { Lane } from './lane.ts'
import { Lanes, haveSameLanes, inLogOrder, isSequential } from './lanes.ts'
import { Outages } from './outages.ts'
import { Pauses } from './pauses.ts'
import type { Queue, QueueOptions } from './queue-options.ts'
import { MAY, type QueueState } from './queue-state.ts'
import { RoomRules, type RoomView } from './room-rules.ts'
import { DEFAULT_QUEUE_SETTINGS, pauseMs, withoutEndlessRetries, type QueueSettings } from './settings.ts'
import { Starting } from './starting.ts'
import { Task, type TaskOwner } from './task.ts'
import { CountsByTenant, type CountName, type TenantCounts } from './tenant-counts.ts'
import { IS_OVER, verdictOf, verdictsOf, type Verdict } from './verdict.ts'

export type { Queue, QueueOptions } from './queue-options.ts'
export type { QueueFigures } from './figures.ts'

/** Why a lane is parked of which nothing failed. */
const SET_ASIDE = 'its tenant holds most of a crowded queue'

/** Starts to consume the link at once. */
export function createQueue(options: QueueOptions): Queue {
  const queue = new PackQueue(options)
  queue.start()
  return queue
}

class PackQueue implements Queue, LinkConsumer, TaskOwner, ParkingQueue, RoomView {
  readonly queueName: string
  private readonly link: Link
  private readonly clock: Clock
  private readonly parking: Parking | undefined
  private state: QueueState = 'running'
  settings: QueueSettings
  private readonly rules = new RoomRules(this)
  /** Settings with other lanes: they hold once nothing is in process. */
  private nextSettings: QueueSettings | undefined
  private lanes: Lanes
  private readonly failing = new Set<Lane<Task>>()
  private readonly outages: Outages
  private readonly pauses: Pauses<Lane<Task>>
  private readonly crowding: Crowding
  private readonly starting: Starting
  private settled: Delivery[] = []
  private isTurnAsked = false
  readonly held: Held
  private giveUp: (() => void) | undefined
  private detach: (() => void) | undefined
  private retiring: { readonly promise: Promise<boolean>; readonly end: (isGone: boolean) => void } | undefined
  private closing: Promise<void> | undefined
  private whenDrained: (() => void) | undefined
  private readonly byTenant = new CountsByTenant()
  private readonly counts = { received: 0, settled: 0, failed: 0, timedOut: 0, retried: 0, skipped: 0, buried: 0 }

  constructor(options: QueueOptions) {
    this.link = options.link
    this.queueName = options.queueName ?? MAIN_QUEUE
    this.clock = options.clock
    this.held = new Held(options.clock)
    this.parking = options.parking
    this.outages = new Outages(options.onOutage ?? (() => undefined))
    this.settings = { ...DEFAULT_QUEUE_SETTINGS, ...options.settings }
    this.lanes = new Lanes(this.settings.submit)
    this.pauses = new Pauses(options.clock, (lanes) => this.retry(lanes))
    this.starting = new Starting(options.clock, options.processor, this)
    this.crowding = new Crowding(options.clock, this.rules, this.starting.packs)
  }

  start(): void {
    this.detach = this.parking?.attach(this)
    this.giveUp = this.link.consume(this, this.queueName)
  }

  room(): number {
    return MAY[this.state].take ? this.settings.maxHeld - this.held.weight : 0
  }

  /** Who waits in the link holds nothing here, and may be a tenant that was never heard: others make room for it too. */
  ahead(deliveries: readonly Delivery[]): void {
    let isNew = false
    for (const delivery of deliveries) if (this.held.expect(delivery)) isNew = true
    if (isNew) this.crowding.watch()
  }

  deliver(batch: readonly Delivery[]): void {
    if (this.state === 'closing') return
    this.counts.received += batch.length
    this.crowding.look()
    for (const delivery of batch) {
      this.held.add(delivery)
      if (this.parking?.takes(this, delivery) === true) continue
      if (this.crowding.mustMakeRoom(delivery.message.tenantId)) this.setAside(delivery)
      else this.line(delivery)
    }
    this.handOut()
    this.crowding.watch()
    // What is parked behind its lane may have been settled at once.
    if (this.settled.length > 0) this.askTurn()
  }

  resume(deliveries: readonly ParkedDelivery[]): void {
    if (this.state === 'closing') return
    for (const delivery of deliveries) {
      this.held.add(delivery)
      if (delivery.attempt > 1) this.counts.retried++
      this.line(delivery)
    }
    this.handOut()
    this.crowding.watch()
  }

  parked(delivery: Delivery): void {
    this.settled.push(delivery)
    this.askTurn()
  }

  lost(delivery: Delivery): void {
    this.held.remove(delivery)
    this.askTurn()
  }

  ended(task: Task): void {
    const { pack } = task
    if (pack === undefined) return
    pack.open--
    if (task.error !== undefined) this.counts.failed++
    if (task.isTimedOut) this.counts.timedOut++
    if (!pack.isJudgedAsOne) this.conclude(task, verdictOf(task, this.settings))
    else if (pack.open === 0) this.judge(pack.tasks)
    if (pack.open === 0) pack.tasks = []
    this.askTurn()
  }

  takeTenantCounts(): ReadonlyMap<string, Readonly<TenantCounts>> {
    return this.byTenant.take()
  }

  figures(): QueueFigures {
    const { inFlight, packs } = this.starting
    return { ...this.counts, packs: packs.count, held: this.held.count, inFlight, failingLanes: this.failing.size }
  }

  apply(change: Partial<QueueSettings>): void {
    if (this.state === 'closing') return
    const settings = { ...DEFAULT_QUEUE_SETTINGS, ...change }
    const { retiring } = this
    this.retiring = undefined
    retiring?.end(false)
    // Also where it was to retire once it has other lanes.
    if (retiring !== undefined) this.detach = this.parking?.attach(this)
    this.nextSettings = undefined
    this.state = 'running'
    if (haveSameLanes(settings.submit, this.settings.submit)) {
      this.settings = settings
      // They may have more room, or have waited for other lanes that are not to come.
      for (const lane of this.lanes.all()) this.release(lane)
    } else {
      this.nextSettings = settings
      this.state = 'changing'
    }
    this.askTurn()
  }

  retire(): Promise<boolean> {
    if (this.retiring !== undefined) return this.retiring.promise
    if (this.state === 'closing') return Promise.resolve(false)
    const { promise, resolve: end } = Promise.withResolvers<boolean>()
    this.retiring = { promise, end }
    if (this.state === 'running') this.state = 'retiring'
    this.settings = withoutEndlessRetries(this.settings)
    if (this.nextSettings !== undefined) this.nextSettings = withoutEndlessRetries(this.nextSettings)
    this.detach?.()
    this.askTurn()
    return promise
  }

  close(): Promise<void> {
    return (this.closing ??= this.drain())
  }

  private get maxInFlight(): number {
    return isSequential(this.settings.submit) ? 1 : this.settings.maxInFlightPerOriginator
  }

  private mustWait(lane: Lane<Task>): boolean {
    const isFree = MAY[this.state].start && !lane.hasFailed && lane.waitingCount === 0
    return !isFree || lane.inFlight >= this.maxInFlight
  }

  /** Puts a delivery where it starts, or waits. */
  private line(delivery: Delivery): void {
    const lane = this.lanes.of(delivery.message)
    const task = new Task(this, delivery, delivery.attempt, lane)
    if (this.mustWait(lane)) this.wait(task)
    else this.starting.add(task)
  }

  /** Parks a delivery with all of its lane, in which nothing begins any more. */
  private setAside(delivery: Delivery): void {
    const lane = this.lanes.of(delivery.message)
    lane.wait(new Task(this, delivery, delivery.attempt, lane))
    lane.parkFor ??= SET_ASIDE
    if (lane.inFlight === 0) this.park(lane)
    else this.crowding.leave(lane)
  }

  private handOut(): void {
    if (MAY[this.state].start) this.starting.handOut((task) => this.takeBack(task))
  }

  private takeBack(task: Task): void {
    const { lane } = task
    lane.ended()
    lane.putBack(task)
    if (lane.inFlight === 0) this.park(lane)
  }

  private judge(tasks: readonly Task[]): void {
    const verdicts = verdictsOf(tasks, this.settings)
    // First what is tried again: it holds its lane before anything behind it could start.
    for (const mustBeOver of [false, true]) {
      for (const [index, task] of tasks.entries()) {
        const verdict = verdicts[index]
        if (verdict !== undefined && IS_OVER[verdict] === mustBeOver) this.conclude(task, verdict)
      }
    }
  }

  private conclude(task: Task, verdict: Verdict): void {
    const { lane, attempt } = task
    lane.ended()
    this.starting.inFlight--
    if (verdict === 'retry' && this.rules.mustMakeRoom(lane, attempt)) verdict = 'bury'
    if (verdict === 'wait' && this.rules.mustLeaveFullLog(lane, task.error)) verdict = 'bury'
    this.byTenant.note(task.delivery.message.tenantId, countOf(verdict, task.isTimedOut))
    if (IS_OVER[verdict]) {
      this.outages.over(lane)
      lane.failedUnderBackpressure = 0
      this.finish(task, verdict)
      this.release(lane)
    } else if (verdict === 'wait') {
      lane.putBack(task.again(attempt))
      // No outage where the lane is only to leave.
      if (lane.parkFor === undefined) {
        this.outages.met(lane, task.error)
        this.pause(lane, lane.outages)
        if (this.rules.mustParkInOutage(task)) lane.parkFor = errorText(task.error)
      }
    } else {
      this.outages.over(lane)
      if (!(task.delivery instanceof ParkedDelivery)) this.link.failed(task.delivery, attempt)
      lane.putBack(task.again(attempt + 1))
      this.pause(lane, attempt)
      if (verdict === 'retry' && this.rules.mustPark(task)) lane.parkFor ??= errorText(task.error)
    }
    if (lane.parkFor !== undefined && lane.inFlight === 0) this.park(lane)
  }

  /** A message that is done with leaves, to where it came from. */
  private finish({ delivery, attempt, error }: Task, verdict: Verdict): void {
    this.counts[verdict === 'bury' ? 'buried' : verdict === 'skip' ? 'skipped' : 'settled']++
    if (delivery instanceof ParkedDelivery) {
      this.held.remove(delivery)
      if (verdict === 'bury') this.parking?.bury(delivery, attempt, errorText(error))
      else this.parking?.done(delivery)
    } else if (verdict === 'bury') {
      this.held.remove(delivery)
      this.link.bury(delivery, errorText(error), attempt)
    } else this.settled.push(delivery)
  }

  /** A message of the lane is done with: what waits behind it may start. */
  private release(lane: Lane<Task>): void {
    if (!lane.hasFailed) this.failing.delete(lane)
    if (!MAY[this.state].start || lane.parkFor !== undefined) return
    for (;;) {
      const next = lane.next(this.maxInFlight)
      if (next === undefined) break
      if (next.delivery.isGone === true) {
        this.drop(lane, next.delivery)
        continue
      }
      if (next.attempt > next.delivery.attempt) this.counts.retried++
      this.starting.add(next)
    }
    if (lane.isIdle) this.lanes.forget(lane)
  }

  /** What another process has by now is not begun here. */
  private drop(lane: Lane<Task>, delivery: Delivery): void {
    lane.inFlight++
    lane.ended()
    this.outages.over(lane)
    if (!lane.hasFailed) this.failing.delete(lane)
    if (delivery instanceof ParkedDelivery) this.held.remove(delivery)
    else this.settled.push(delivery)
    this.askTurn()
  }

  /** The lane has a failed message; it was its so many-th failure in a row. */
  private pause(lane: Lane<Task>, failures: number): void {
    this.failing.add(lane)
    if (lane.pausedUntilMs !== undefined || this.state === 'closing') return
    this.pauses.pause(lane, this.rules.isCrowding(lane) ? 0 : pauseMs(this.settings, failures))
  }

  private wait(task: Task): void {
    const { lane } = task
    lane.wait(task)
    if (lane.pausedUntilMs === undefined) return
    if (lane.outages === 0 && this.rules.hasOverShare(task.delivery)) {
      lane.parkFor ??= 'its tenant has more than its share of what waits in memory'
      if (lane.inFlight === 0) this.park(lane)
    } else if (this.rules.isCrowding(lane)) {
      lane.pausedUntilMs = undefined
      this.release(lane)
    }
  }

  /** A queue of one lane has no others that could go on. */
  get canPark(): boolean {
    return this.parking !== undefined && this.lanes.kind !== 'queue' && this.state !== 'closing'
  }

  get isFull(): boolean {
    return MAY[this.state].take && this.room() <= 0
  }

  get isWritable(): boolean {
    return this.link.writable
  }

  get isOutage(): boolean {
    return this.outages.isCommon
  }

  get parkedPlaces(): number {
    return this.rules.parkedPlaces
  }

  hasParkingRoom(tenantId: string): boolean {
    return this.parking?.hasRoomFor(tenantId) === true
  }

  /** Hands over the whole lane. The link hears of each message when it is durable there. */
  private park(lane: Lane<Task>): void {
    const why = lane.parkFor ?? ''
    const tasks = lane.takeWaiting().sort(inLogOrder)
    lane.parkFor = undefined
    lane.pausedUntilMs = undefined
    this.outages.over(lane)
    this.failing.delete(lane)
    this.lanes.forget(lane)
    for (const { delivery } of tasks) if (delivery instanceof ParkedDelivery) this.held.remove(delivery)
    const failures = (tasks[0]?.attempt ?? 1) - 1
    const hasNoFailure = why === SET_ASIDE && failures === 0
    this.parking?.park(this, lane.key, tasks, why, hasNoFailure ? 0 : pauseMs(this.settings, Math.max(1, failures)))
  }

  private retry(lanes: readonly Lane<Task>[]): void {
    for (const lane of lanes) this.release(lane)
    this.handOut()
  }

  private askTurn(): void {
    if (this.isTurnAsked) return
    this.isTurnAsked = true
    this.clock.soon(() => {
      this.isTurnAsked = false
      this.turn()
    })
  }

  /** Once a turn: settles what ended, starts what that made possible, asks the link for more. */
  private turn(): void {
    const settled = this.settled
    if (settled.length > 0) {
      this.settled = []
      for (const delivery of settled) this.held.remove(delivery)
      this.link.settle(settled)
    }
    this.starting.packs.forgetEnded()
    this.held.forgetIdle()
    if (this.nextSettings !== undefined && this.starting.inFlight === 0 && this.state === 'changing') {
      this.changeLanes(this.nextSettings)
    }
    this.handOut()
    this.link.wake()
    // Settings with less room may have filled it without a delivery.
    this.crowding.watch()
    if (this.starting.inFlight > 0 || this.settled.length > 0) return
    if (this.state === 'closing') this.whenDrained?.()
    else if (this.retiring !== undefined && this.held.count === 0) this.leave(this.retiring.end)
  }

  /** Sorts what is held into the lanes of the new settings. Nothing is in process. */
  private changeLanes(settings: QueueSettings): void {
    this.pauses.cancel()
    this.outages.forget()
    this.crowding.forget()
    this.failing.clear()
    const waiting = [...this.starting.takeAll(), ...this.lanes.takeWaiting()]
    this.settings = settings
    this.nextSettings = undefined
    this.state = this.retiring === undefined ? 'running' : 'retiring'
    this.lanes = new Lanes(settings.submit)
    this.lanes.sortIn(waiting)
    for (const lane of this.lanes.all()) this.release(lane)
  }

  private leave(end: (isGone: boolean) => void): void {
    this.state = 'closing'
    this.giveUp?.()
    end(true)
    void this.close()
  }

  private async drain(): Promise<void> {
    this.state = 'closing'
    this.detach?.()
    this.pauses.cancel()
    if (this.starting.inFlight > 0 || this.settled.length > 0) {
      await new Promise<void>((resolve) => {
        this.whenDrained = resolve
      })
    }
    this.starting.packs.close()
    this.crowding.close()
    this.retiring?.end(false)
  }
}

function countOf(verdict: Verdict, isTimedOut: boolean): CountName {
  if (verdict === 'settle' || verdict === 'repeat') return 'successful'
  if (IS_OVER[verdict]) return isTimedOut ? 'timedOut' : 'failed'
  return isTimedOut ? 'retriedTimedOut' : 'retriedFailed'
}
