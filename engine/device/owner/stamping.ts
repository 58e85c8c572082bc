/**
 * Stamps points that carry no time as their frames are read, in log order and before any node: the observer of the link's frames. What it
 * needs to stamp the same after a crash is durable with the stream's record.
 */
import { z } from 'zod'
import type { Message } from '../../../model/message.ts'
import { SAME_UPLOAD } from '../device-messages.ts'
import { Stamper, type UnstampedMessage } from './stamper.ts'
import type { LoggedFrame } from '../../link/link.ts'
import type { FrameObserver } from '../../link/options.ts'

const pairs = z.array(z.tuple([z.string(), z.int()]))
const noteSchema = z.object({ time: z.int().nonnegative(), floors: pairs, given: pairs.default([]) })

/** The stamps of a frame's messages by their place in it; 0 for one that needed none. */
interface FrameStamps {
  readonly firstSequence: number
  readonly stamps: readonly number[]
}

export interface StampingOptions {
  /** Points that are older than so when their frame is stored are backfill; 0: none are. */
  readonly backfillAfterMs: number
}

export function stampingObserver(options: StampingOptions = { backfillAfterMs: 0 }): FrameObserver {
  return new StampingObserver(options)
}

class StampingObserver implements FrameObserver {
  private readonly stampers = new Map<number, Stamper>()
  private readonly options: StampingOptions

  constructor(options: StampingOptions) {
    this.options = options
  }

  taken(stream: number, _epoch: number, note: Uint8Array | undefined): void {
    this.stampers.set(stream, note === undefined ? new Stamper() : new Stamper(parseNote(note)))
  }

  gone(stream: number): void {
    this.stampers.delete(stream)
  }

  opened({ stream, storedAt, messages }: LoggedFrame): FrameStamps | undefined {
    const stamper = this.stampers.get(stream)
    if (stamper === undefined) throw new Error(`a frame of stream ${stream}, which nobody has taken`)
    const storedMs = Math.floor(storedAt)
    this.markBackfill(storedMs, messages)
    const looked = messages.filter((message) => mayMatter(message, storedMs))
    const stamps = stamper.stamp(storedAt, looked.map(asUnstamped))
    const [first] = messages
    if (first === undefined || !looked.some(isUnstamped)) return undefined
    const byPlace: number[] = messages.map(() => 0)
    for (const [index, message] of looked.entries()) {
      if (!isUnstamped(message)) continue
      const stamp = stamps[index] ?? storedAt
      message.stampPoints(stamp)
      byPlace[message.sequence - first.sequence] = stamp
    }
    return { firstSequence: first.sequence, stamps: byPlace }
  }

  reopened({ storedAt, messages }: LoggedFrame, memo: unknown): void {
    this.markBackfill(Math.floor(storedAt), messages)
    if (memo === undefined) return
    const { firstSequence, stamps } = memo as FrameStamps
    for (const message of messages) {
      const stamp = stamps[message.sequence - firstSequence]
      if (stamp !== undefined && stamp > 0) message.stampPoints(stamp)
    }
  }

  /** By the time at which the log stored them, not by the present: who reads them again says the same. */
  private markBackfill(storedMs: number, messages: readonly Message[]): void {
    const { backfillAfterMs } = this.options
    if (backfillAfterMs === 0) return
    for (const message of messages) {
      if (isUpload(message) && Number(message.metadata['ts']) < storedMs - backfillAfterMs) message.markBackfill()
    }
  }

  encode(stream: number): Uint8Array | undefined {
    const stamper = this.stampers.get(stream)
    return stamper === undefined ? undefined : Buffer.from(JSON.stringify(stamper.note()))
  }
}

/** Without a time, or with one that a later stamp could be. */
function mayMatter(message: Message, storedMs: number): boolean {
  if (!isUpload(message)) return false
  if (isUnstamped(message)) return true
  const given = Number(message.metadata['ts'])
  return given >= storedMs && Number.isSafeInteger(given)
}

/** What a device sent, not what a rule node put into a queue or what was calculated. */
function isUpload({ type, originator, resumption, calculatedFieldIds }: Message): boolean {
  if (type !== 'POST_TELEMETRY_REQUEST' || originator.entityType !== 'DEVICE') return false
  return resumption === undefined && calculatedFieldIds === undefined
}

function isUnstamped({ metadata }: Message): boolean {
  const ts = metadata['ts']
  return ts === undefined || ts === SAME_UPLOAD
}

function asUnstamped(message: Message): UnstampedMessage {
  const { originator, metadata } = message
  const isSameUpload = metadata['ts'] === SAME_UPLOAD
  if (isUnstamped(message)) return { deviceId: originator.id, isSameUpload }
  return { deviceId: originator.id, isSameUpload, ts: Number(metadata['ts']) }
}

function parseNote(note: Uint8Array): z.infer<typeof noteSchema> {
  return noteSchema.parse(JSON.parse(Buffer.from(note).toString()))
}
