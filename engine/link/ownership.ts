/**
 * Which streams this process reads. Membership and rendezvous hashing say which ones it should; the streams' records say which ones
 * it does, and are changed by compare-and-set under a rising epoch. Who stood still or was cut off asks before it goes on.
 */
import type { TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { isFenced } from './errors.ts'
import type { Membership } from '../cluster/membership.ts'
import type { StreamWatcher } from './options.ts'
import { OwnedStream, type StreamContext } from './owned-stream.ts'
import { decodeRecord, encodeRecord, NEW_RECORD } from './record.ts'
import { ownerOf } from './rendezvous.ts'

/** How often a stream whose owner lives, or whose record could not be read, is looked at again. */
const LOOK_AGAIN_MS = 100
const TICK_MS = 500
/** Two processes that do not see each other would take a stream from one another without end: they do it at a walk. */
const AFTER_LOSS_MS = 1000

export interface OwnershipOptions extends StreamContext {
  readonly membership: Membership
  /** Told one after the other. */
  readonly watchers: readonly StreamWatcher[]
  /** Nothing more of the stream may be delivered; what runs may end. */
  readonly onLeaving: (stream: number) => void
  /** Deliveries may go on. */
  readonly onReady: () => void
}

export class Ownership {
  takeOvers = 0
  lostStreams = 0
  private readonly options: OwnershipOptions
  private readonly owned = new Map<number, OwnedStream>()
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

  /** From now on this process takes the streams that it should own. */
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

  get streams(): number {
    return this.owned.size
  }

  /** Messages of the stream below this sequence are settled, durably; 0 where it is not this process's. */
  settledBelow(stream: number): number {
    return (this.owned.get(stream)?.record.settledBelow ?? 0) * this.options.broker.step
  }

  *all(): Iterable<OwnedStream> {
    yield* this.owned.values()
  }

  /** Resolves when what was settled is durable. */
  async flush(): Promise<void> {
    await Promise.all([...this.owned.values()].map((stream) => stream.record.flush()))
  }

  /** Hands over all streams, without waiting for what is being processed. */
  async close(): Promise<void> {
    this.isClosing = true
    this.tick?.cancel()
    for (const stop of this.stopListening) stop()
    await Promise.all(this.taking.values())
    await Promise.all([...this.owned.values()].map((stream) => this.leave(stream, 0)))
    await Promise.all(this.leaving.values())
  }

  private evaluate(): void {
    if (this.isClosing) return
    for (let stream = 0; stream < this.options.broker.streams; stream++) {
      const owned = this.owned.get(stream)
      const should = this.shouldOwn(stream)
      if (owned !== undefined && !should) void this.leave(owned, this.options.bounds.handOverMs)
      else if (owned === undefined && should && !this.taking.has(stream)) {
        const taking = this.take(stream).finally(() => this.taking.delete(stream))
        this.taking.set(stream, taking)
      }
    }
  }

  private shouldOwn(stream: number): boolean {
    const { membership, broker } = this.options
    return ownerOf(stream, broker.streams, engines(membership)) === membership.self.id
  }

  /** Tries until the stream is this process's, or should not be. Never rejects. */
  private async take(stream: number): Promise<void> {
    const { clock, bounds, broker } = this.options
    const patientUntil = clock.monotonic() + bounds.takeOverMs
    await this.leaving.get(stream)
    const pauseMs = (this.lostAtMs.get(stream) ?? -Infinity) + AFTER_LOSS_MS - clock.monotonic()
    if (pauseMs > 0) await new Promise<void>((resolve) => void clock.after(pauseMs, resolve))
    while (!this.isClosing && this.shouldOwn(stream)) {
      try {
        if (broker.connected && (await this.tryToTake(stream, clock.monotonic() >= patientUntil))) return
      } catch (error) {
        if (!isFenced(error) && broker.connected) {
          this.options.onEvent({ kind: 'stream-troubled', stream, reason: errorText(error) })
        }
      }
      await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN_MS, resolve))
    }
  }

  /** False while its owner lives and has not handed it over; `mustTake` does not wait for that. */
  private async tryToTake(stream: number, mustTake: boolean): Promise<boolean> {
    const { broker, membership, clock } = this.options
    const stored = await broker.readRecord(stream)
    const before = stored === undefined ? NEW_RECORD : decodeRecord(stored.body)
    const isOthers = before.owner !== '' && before.owner !== membership.self.id
    if (isOthers && !mustTake && engines(membership).includes(before.owner)) return false
    const known = await Promise.all(this.options.watchers.flatMap((watcher) => watcher.epochOf?.(stream) ?? []))
    const epoch = Math.max(before.epoch, ...known) + 1
    const record = { ...before, epoch, owner: membership.self.id, since: clock.now() }
    const write = {
      body: () => encodeRecord(record),
      change: { settled: [], tries: new Map<number, number>(), note: undefined },
      revision: stored?.revision,
      settledBelow: 0,
      removeBelow: 0,
      notRemoved: () => undefined,
    }
    const { revision } = await broker.commit(stream, { record: write })
    const { bounds, onEvent, observer, publisher } = this.options
    const { note } = record
    const owned = new OwnedStream({
      ...this.options,
      stream,
      record,
      revision,
      settledBytes: stored?.settledBytes ?? 0,
      onLost: (lost) => this.lost(lost),
    })
    observer?.taken(stream, record.epoch, note === undefined || note.bytes.length === 0 ? undefined : note.bytes)
    if (broker.recordRidesAlong) publisher.setSource(stream, owned.record)
    this.owned.set(stream, owned)
    this.takeOvers++
    onEvent({ kind: 'stream-taken', stream, epoch: record.epoch, from: before.owner })
    void this.begin(owned)
    // Who should own it may have changed while it was being taken.
    if (this.isClosing || !this.shouldOwn(stream)) void this.leave(owned, bounds.handOverMs)
    return true
  }

  /** Reads the stream, once what moves with it is here. Never rejects. */
  private async begin(owned: OwnedStream): Promise<void> {
    const { clock, onEvent, watchers } = this.options
    const { stream } = owned
    const isHeld = (): boolean => this.owned.get(stream) === owned && !this.leaving.has(stream)
    while (isHeld()) {
      try {
        for (const watcher of watchers) await watcher.taken(stream, isHeld, owned.epoch)
        break
      } catch (error) {
        onEvent({ kind: 'stream-troubled', stream, reason: errorText(error) })
        // It may be another's by now: then it is given up here. Where that can not be asked, the next turn asks again.
        await owned.record.verify().catch(() => undefined)
        await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN_MS, resolve))
      }
    }
    if (isHeld()) owned.start()
  }

  private lost(lost: OwnedStream): void {
    if (this.owned.get(lost.stream) !== lost) return
    this.lostStreams++
    this.lostAtMs.set(lost.stream, this.options.clock.monotonic())
    this.owned.delete(lost.stream)
    this.publishLeaving(lost.stream)
    this.publishGone(lost.stream)
    this.evaluate()
  }

  private leave(owned: OwnedStream, waitMs: number): Promise<void> {
    const { stream } = owned
    const before = this.leaving.get(stream)
    if (before !== undefined) return before
    this.publishLeaving(stream)
    const leaving = owned
      .leave(waitMs, () => this.publishGone(stream))
      .finally(() => {
        this.leaving.delete(stream)
        if (this.owned.get(stream) === owned) this.owned.delete(stream)
        this.evaluate()
      })
    this.leaving.set(stream, leaving)
    return leaving
  }

  private publishLeaving(stream: number): void {
    this.options.onLeaving(stream)
    for (const watcher of this.options.watchers) watcher.leaving?.(stream)
  }

  private publishGone(stream: number): void {
    for (const watcher of this.options.watchers) watcher.gone(stream)
  }

  private tickLater(): void {
    if (this.options.bounds.sleepMs === Infinity) return
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
      const streams = [...this.owned.values()].map((stream) => stream.record.verify())
      const outcomes = await Promise.allSettled(streams)
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
