/**
 * What must hold in every history of a cluster, whatever fails:
 *
 * - what was acknowledged has its effects in the store, or is a dead letter with its body; nothing else is in the store
 * - a frame leaves its stream, and a message is noted as settled, only after that
 * - what was noted as settled when a stream was taken over does not run in that epoch
 * - a message lies in the log once, however often it was tried to be put there
 * - of one device, what was acknowledged before the next was sent, or sent before it on one connection, starts before it, and has the lower
 *   sequence; with one in flight, each starts when the one before is done with
 */
import assert from 'node:assert/strict'
import type { Message } from '../../model/message.ts'
import { openBlock } from '../../disk/block.ts'
import type { DeadLetter } from '../../engine/link/dead-letters.ts'
import { FRAME_MESSAGES } from '../../engine/link/jetstream/nats-frame.ts'
import { decodeRecord, type OwnerRecord } from '../../engine/link/record.ts'
import { decodeBlock } from '../../engine/link/wire.ts'
import { isPoison } from './checker.ts'
import type { StreamsWatcher } from './simulated-broker.ts'

interface Sent {
  readonly id: string
  readonly device: number
  readonly connection: number
  readonly counter: number
  readonly data: string
  readonly sentAt: number
  acknowledgedAt: number | undefined
  refused: boolean
  sequence: number | undefined
  /** When it was durable that it is settled. */
  settledAt: number | undefined
}

/** One device's messages in one epoch of their stream, at its owner. */
class Progress {
  readonly started = new Set<string>()
  readonly done = new Set<string>()
  last: Sent | undefined
  /** Of all that started, the one that was sent last; and of each connection. */
  newest: Sent | undefined
  readonly newestOf = new Map<number, Sent>()
}

export interface ClusterEffects {
  readonly state: ReadonlyMap<string, string>
  readonly letters: readonly DeadLetter[]
}

export class ClusterChecker implements StreamsWatcher {
  acknowledged = 0
  refused = 0
  starts = 0
  takeOvers = 0
  /** Starts of what another owner had started before. */
  repeats = 0
  private readonly effects: ClusterEffects
  private readonly isStrict: boolean
  private readonly sent = new Map<string, Sent>()
  private readonly frames = new Map<string, readonly string[]>()
  private readonly records = new Map<number, OwnerRecord>()
  private readonly takenAt = new Map<string, number>()
  private readonly progress = new Map<string, Progress>()
  private readonly everStarted = new Set<string>()
  /** Counts what happens: what is later has the higher number. */
  private moment = 0

  constructor(effects: ClusterEffects, isStrict: boolean) {
    this.effects = effects
    this.isStrict = isStrict
  }

  published(message: Message, device: number, connection: number, counter: number): void {
    const { id, data } = message
    const nothing = { acknowledgedAt: undefined, refused: false, sequence: undefined, settledAt: undefined }
    this.sent.set(id, { id, device, connection, counter, data, sentAt: ++this.moment, ...nothing })
  }

  stored(id: string): void {
    const sent = this.known(id)
    assert.ok(sent.acknowledgedAt === undefined && !sent.refused, `${id} has one receipt`)
    sent.acknowledgedAt = ++this.moment
    this.acknowledged++
  }

  wasRefused(id: string): void {
    const sent = this.known(id)
    assert.ok(sent.acknowledgedAt === undefined && !sent.refused, `${id} has one receipt`)
    sent.refused = true
    this.refused++
  }

  frameStored(stream: number, position: number, body: Uint8Array): void {
    const block = openBlock(Buffer.from(body))
    assert.ok(block !== undefined, 'a frame is whole')
    const ids: string[] = []
    for (const { id } of decodeBlock(block, { entries: true }).messages) {
      const sent = this.known(id)
      assert.equal(sent.sequence, undefined, `${id} is stored twice`)
      sent.sequence = position * FRAME_MESSAGES + ids.length
      ids.push(id)
    }
    this.frames.set(frameKey(stream, position), ids)
  }

  frameLeaves(stream: number, position: number): void {
    for (const id of this.frames.get(frameKey(stream, position)) ?? []) this.settledDurably(id, 'leaves the stream')
    this.frames.delete(frameKey(stream, position))
  }

  recordWritten(stream: number, body: Uint8Array): void {
    const record = decodeRecord(body)
    const before = this.records.get(stream)
    this.records.set(stream, record)
    if (record.epoch !== before?.epoch) {
      this.takenAt.set(epochKey(stream, record.epoch), ++this.moment)
      this.takeOvers++
    }
    for (const [key, ids] of this.frames) {
      const position = positionOf(key, stream)
      if (position === undefined || position > record.read.position) continue
      const open = record.open.get(position)
      for (const [index, id] of ids.entries()) {
        const isSettled = open === undefined || ((open.settled?.[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0
        if (isSettled) this.settledDurably(id, 'is noted as settled')
      }
    }
  }

  /** `run` is the engine, `epoch` that in which the engine was given the message. */
  startedProcessing(message: Message, run: string, stream: number, epoch: number): void {
    const sent = this.known(message.id)
    this.starts++
    assert.equal(message.data, sent.data, `${sent.id} arrives as it was sent`)
    assert.equal(message.sequence, sent.sequence, `${sent.id} has the sequence of its place in the log`)
    const takenAt = this.takenAt.get(epochKey(stream, epoch)) ?? 0
    assert.ok(
      sent.settledAt === undefined || sent.settledAt > takenAt,
      `${sent.id} was settled before epoch ${epoch} and runs in it`,
    )
    if (this.everStarted.has(sent.id)) this.repeats++
    this.everStarted.add(sent.id)
    this.checkOrder(sent, this.progressOf(sent.device, run, epoch))
  }

  /** Its consumer has settled or buried it. */
  done(message: Message, run: string, epoch: number): void {
    this.progressOf(this.known(message.id).device, run, epoch).done.add(message.id)
  }

  /** At the end, with everything settled. */
  finish(): void {
    for (const sent of this.sent.values()) if (sent.acknowledgedAt !== undefined) this.checkEffects(sent, 'at the end')
    for (const key of this.effects.state.keys()) this.known(key.slice(key.indexOf(' ') + 1))
    const ids = this.effects.letters.map(({ message }) => message.id)
    assert.equal(new Set(ids).size, ids.length, 'a message has one dead letter')
  }

  private checkOrder(sent: Sent, progress: Progress): void {
    if (progress.started.has(sent.id)) return
    const { last } = progress
    progress.started.add(sent.id)
    if (sent.acknowledgedAt !== undefined) {
      const { newest } = progress
      if (newest !== undefined) this.mustNotPrecede(newest, sent, newest.sentAt > sent.acknowledgedAt)
      const sameConnection = progress.newestOf.get(sent.connection)
      if (sameConnection !== undefined) this.mustNotPrecede(sameConnection, sent, sameConnection.counter > sent.counter)
    }
    if (this.isStrict && last !== undefined)
      assert.ok(progress.done.has(last.id), `${sent.id} starts before ${last.id} is done with`)
    progress.last = sent
    if (progress.newest === undefined || sent.sentAt > progress.newest.sentAt) progress.newest = sent
    const before = progress.newestOf.get(sent.connection)
    if (before === undefined || sent.counter > before.counter) progress.newestOf.set(sent.connection, sent)
  }

  private mustNotPrecede(earlier: Sent, later: Sent, isWrong: boolean): void {
    assert.ok(!isWrong, `${later.id} starts behind ${earlier.id}`)
    if (earlier.sequence === undefined || later.sequence === undefined) return
    assert.ok(earlier.sequence < later.sequence, `${earlier.id} has a higher sequence than ${later.id}`)
  }

  private settledDurably(id: string, where: string): void {
    const sent = this.known(id)
    if (sent.settledAt !== undefined) return
    sent.settledAt = ++this.moment
    this.checkEffects(sent, where)
  }

  private checkEffects({ id, data }: Sent, where: string): void {
    const letter = this.effects.letters.find(({ message }) => message.id === id)
    if (letter !== undefined) {
      assert.equal(letter.message.data, data, `the dead letter ${id} keeps its body`)
      return
    }
    assert.ok(!isPoison(data), `${id} ${where} and is no dead letter, though it is poison`)
    for (const effect of ['save', 'audit'])
      assert.equal(this.effects.state.get(`${effect} ${id}`), data, `${id} ${where}: ${effect}`)
  }

  private progressOf(device: number, run: string, epoch: number): Progress {
    const key = `${device} ${run} ${epoch}`
    let progress = this.progress.get(key)
    if (progress === undefined) this.progress.set(key, (progress = new Progress()))
    return progress
  }

  private known(id: string): Sent {
    const sent = this.sent.get(id)
    assert.ok(sent !== undefined, `${id} was sent`)
    return sent
  }
}

function frameKey(stream: number, position: number): string {
  return `${stream}/${position}`
}

function positionOf(key: string, stream: number): number | undefined {
  const [ofStream, position] = key.split('/').map(Number)
  return ofStream === stream ? position : undefined
}

function epochKey(stream: number, epoch: number): string {
  return `${stream}/${epoch}`
}
