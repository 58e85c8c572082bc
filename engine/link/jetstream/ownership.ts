/**
 * Which partitions this process reads. Membership and rendezvous hashing say which ones it should; the partitions' records say which ones
 * it does, and are changed by compare-and-set under a rising epoch. Who stood still or was cut off asks before it goes on.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import { isFenced } from '../errors.ts'
import type { Membership } from '../../cluster/membership.ts'
import type { FrameBroker } from './broker.ts'
import type { FrameLinkEventListener } from './events.ts'
import type { HeldDelivery, HeldFrame } from './held-frame.ts'
import type { FrameLinkBounds } from './options.ts'
import { OwnedPartition } from './owned-partition.ts'
import { decodeRecord, encodeRecord, NEW_RECORD } from './record.ts'
import { ownerOf } from './rendezvous.ts'

/** How often a partition whose owner lives, or whose record could not be read, is looked at again. */
const LOOK_AGAIN_MS = 100
const TICK_MS = 500
/** Two processes that do not see each other would take a partition from one another without end: they do it at a walk. */
const AFTER_LOSS_MS = 1000

export interface OwnershipOptions {
  readonly broker: FrameBroker
  readonly membership: Membership
  readonly clock: Clock
  readonly bounds: FrameLinkBounds
  readonly onEvent: FrameLinkEventListener
  readonly onFrame: (frame: HeldFrame, deliveries: readonly HeldDelivery[]) => void
  /** Nothing more of the partition may be delivered. */
  readonly onGone: (partition: number) => void
  /** Deliveries may go on. */
  readonly onReady: () => void
}

export class Ownership {
  takeOvers = 0
  lostPartitions = 0
  private readonly options: OwnershipOptions
  private readonly owned = new Map<number, OwnedPartition>()
  private readonly taking = new Map<number, Promise<void>>()
  private readonly lostAtMs = new Map<number, number>()
  private readonly leaving = new Map<number, Promise<void>>()
  private readonly stopListening: (() => void)[] = []
  private tick: TimerHandle | undefined
  private lastTickMs = 0
  private verifying: Promise<void> | undefined
  private mustVerify = false
  private isStarted = false
  private isClosing = false

  constructor(options: OwnershipOptions) {
    this.options = options
  }

  /** From now on this process takes the partitions that it should own. */
  start(): void {
    if (this.isStarted || this.isClosing) return
    this.isStarted = true
    const { membership, broker, clock } = this.options
    this.lastTickMs = clock.monotonic()
    this.stopListening.push(
      membership.onChange(() => this.evaluate()),
      broker.onConnection((connected) => {
        if (connected) this.verifyAll()
      }),
    )
    this.tickLater()
    this.evaluate()
  }

  /** False while it is not sure that what is held is still owned. */
  get isSure(): boolean {
    const { broker, clock, bounds } = this.options
    if (!broker.connected || this.verifying !== undefined) return false
    if (clock.monotonic() - this.lastTickMs <= bounds.sleepMs) return true
    this.ticked()
    return this.verifying === undefined
  }

  get partitions(): number {
    return this.owned.size
  }

  *all(): Iterable<OwnedPartition> {
    yield* this.owned.values()
  }

  frameAt(partition: number, position: number): HeldFrame | undefined {
    return this.owned.get(partition)?.frameOf(position)
  }

  /** Resolves when what was settled is durable. */
  async flush(): Promise<void> {
    await Promise.all([...this.owned.values()].map((partition) => partition.flush()))
  }

  /** Hands over all partitions, without waiting for what is being processed. */
  async close(): Promise<void> {
    this.isClosing = true
    this.tick?.cancel()
    for (const stop of this.stopListening) stop()
    await Promise.all(this.taking.values())
    await Promise.all([...this.owned.values()].map((partition) => this.leave(partition, 0)))
    await Promise.all(this.leaving.values())
  }

  private evaluate(): void {
    if (this.isClosing) return
    for (let partition = 0; partition < this.options.broker.partitions; partition++) {
      const owned = this.owned.get(partition)
      const should = this.shouldOwn(partition)
      if (owned !== undefined && !should) void this.leave(owned, this.options.bounds.handOverMs)
      else if (owned === undefined && should && !this.taking.has(partition)) {
        const taking = this.take(partition).finally(() => this.taking.delete(partition))
        this.taking.set(partition, taking)
      }
    }
  }

  private shouldOwn(partition: number): boolean {
    const { membership, broker } = this.options
    return ownerOf(partition, broker.partitions, engines(membership)) === membership.self.id
  }

  /** Tries until the partition is this process's, or should not be. Never rejects. */
  private async take(partition: number): Promise<void> {
    const { clock, bounds, broker } = this.options
    const patientUntil = clock.monotonic() + bounds.takeOverMs
    await this.leaving.get(partition)
    const pauseMs = (this.lostAtMs.get(partition) ?? -Infinity) + AFTER_LOSS_MS - clock.monotonic()
    if (pauseMs > 0) await new Promise<void>((resolve) => void clock.after(pauseMs, resolve))
    while (!this.isClosing && this.shouldOwn(partition)) {
      try {
        if (broker.connected && (await this.tryToTake(partition, clock.monotonic() >= patientUntil))) return
      } catch (error) {
        if (!isFenced(error) && broker.connected) {
          this.options.onEvent({ kind: 'partition-troubled', partition, reason: errorText(error) })
        }
      }
      await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN_MS, resolve))
    }
  }

  /** False while its owner lives and has not handed it over; `mustTake` does not wait for that. */
  private async tryToTake(partition: number, mustTake: boolean): Promise<boolean> {
    const { broker, membership, clock } = this.options
    const stored = await broker.readRecord(partition)
    const before = stored === undefined ? NEW_RECORD : decodeRecord(stored.body)
    const isOthers = before.owner !== '' && before.owner !== membership.self.id
    if (isOthers && !mustTake && engines(membership).includes(before.owner)) return false
    const record = { ...before, epoch: before.epoch + 1, owner: membership.self.id, since: clock.now() }
    const revision = await broker.writeRecord(partition, encodeRecord(record), stored?.revision)
    const { bounds, onEvent, onFrame } = this.options
    const owned = new OwnedPartition({
      partition,
      record,
      revision,
      broker,
      clock,
      bounds,
      onEvent,
      onFrame,
      onLost: (lost) => this.lost(lost),
    })
    this.owned.set(partition, owned)
    this.takeOvers++
    onEvent({ kind: 'partition-taken', partition, epoch: record.epoch, from: before.owner })
    owned.start()
    // Who should own it may have changed while it was being taken.
    if (this.isClosing || !this.shouldOwn(partition)) void this.leave(owned, bounds.handOverMs)
    return true
  }

  private lost(lost: OwnedPartition): void {
    if (this.owned.get(lost.partition) !== lost) return
    this.lostPartitions++
    this.lostAtMs.set(lost.partition, this.options.clock.monotonic())
    this.owned.delete(lost.partition)
    this.options.onGone(lost.partition)
    this.evaluate()
  }

  private leave(owned: OwnedPartition, waitMs: number): Promise<void> {
    const { partition } = owned
    const before = this.leaving.get(partition)
    if (before !== undefined) return before
    this.options.onGone(partition)
    const leaving = owned.leave(waitMs).finally(() => {
      this.leaving.delete(partition)
      if (this.owned.get(partition) === owned) this.owned.delete(partition)
      this.evaluate()
    })
    this.leaving.set(partition, leaving)
    return leaving
  }

  private tickLater(): void {
    this.tick = this.options.clock.after(TICK_MS, () => {
      this.ticked()
      if (!this.isClosing) this.tickLater()
    })
  }

  /** A tick that comes late tells that the process stood still. */
  private ticked(): void {
    const { clock, bounds, onEvent } = this.options
    const now = clock.monotonic()
    const forMs = now - this.lastTickMs
    this.lastTickMs = now
    if (forMs <= bounds.sleepMs) return
    onEvent({ kind: 'slept', forMs })
    this.verifyAll()
  }

  private verifyAll(): void {
    this.mustVerify = true
    this.verifying ??= this.verifyUntilSure().finally(() => {
      this.verifying = undefined
      this.options.onReady()
    })
  }

  private async verifyUntilSure(): Promise<void> {
    while (this.mustVerify && !this.isClosing) {
      this.mustVerify = false
      const partitions = [...this.owned.values()].map((partition) => partition.verify())
      const outcomes = await Promise.allSettled(partitions)
      if (!outcomes.some(({ status }) => status === 'rejected')) continue
      this.mustVerify = true
      await new Promise<void>((resolve) => void this.options.clock.after(LOOK_AGAIN_MS, resolve))
    }
  }
}

function engines(membership: Membership): string[] {
  return membership
    .members()
    .filter(({ roles }) => roles.includes('engine'))
    .map(({ id }) => id)
}
