/** The broker of the frame link over NATS JetStream. Made by `openNatsBroker`, which makes or checks the streams. */
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
} from '@nats-io/jetstream'
import { z } from 'zod'
import type { Clock, Random } from '../../../model/clock.ts'
import { errorText, type MillraceError } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import { isFenced, LinkErrors } from '../errors.ts'
import type {
  Commit,
  Committed,
  FrameBroker,
  FrameCommit,
  FrameContent,
  FramePlace,
  FrameReader,
  FrameReaderListener,
  FrameRest,
  HistoryPiece,
  ReadStart,
  RecordWrite,
  StoredFrame,
  StreamRecord,
  WantsQueue,
} from '../frame-broker.ts'
import { NO_OWN_FRAMES } from '../frame-broker.ts'
import type { FrameLinkBounds } from '../options.ts'
import type { ReadPoint } from '../record.ts'
import { answered, ANSWER_MS, assertConnected, away, codeOf, isOvertaken, present } from './nats-answers.ts'
import { contentOf, FRAME_MESSAGES, storedFrame } from './nats-frame.ts'
import { AcknowledgedPublisher } from './acknowledged-publisher.ts'
import { API_CODES, consumerName, epochOfConsumer, natsNames, type NatsNames } from './nats-names.ts'
import { NatsReader } from './nats-reader.ts'
import { OwnFrames, type OwnFrameCounts } from './own-frames.ts'
import { takeInventory, type StreamInventory } from './stream-holes.ts'
import { findOldStreams, moveOldStreams, refuseOlder } from './nats-upgrade.ts'
import { maxBytesOf, preparePatiently, prepareStreams, type StreamsOptions } from './nats-streams.ts'

/** Shorter than an election takes: the next try may find the new leader. */
const PUBLISH_MS = 2000
const PULL_BYTES = 4 << 20
/** Of a message beside its body, with some to spare. */
const HEADER_BYTES = 4096
/** A frame takes no more at this size, or at half of what the server takes: what a message adds is known only when it is encoded. */
const CLOSE_AT_BYTES = 512 << 10

/** A frame is a sync, an answer and a delivery (`docs/reports/ingest-profile.md`). */
const REST = { part: 0.25, leastTookMs: 2, leastMessages: 8 } as const

export interface NatsBrokerOptions
  extends Omit<StreamsOptions, 'now'>, Pick<FrameLinkBounds, 'restMs' | 'ownFrameBytes'> {
  /** Stays its owner's to close. */
  readonly line: NatsLine
  readonly clock: Clock
  readonly random: Random
  readonly maxFrameBytes: number
}

/** Throws what {@link prepareStreams} throws, as {@link preparePatiently}. */
export async function openNatsBroker(options: NatsBrokerOptions): Promise<NatsBroker> {
  const names = natsNames(options.prefix)
  const { line, clock } = options
  const { connection } = line
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: ANSWER_MS })
  const client = jetstream(connection, { timeout: ANSWER_MS })
  await preparePatiently(clock, () => prepare(manager, client, names, { ...options, now: clock.now() }))
  return new NatsBroker(options, names, manager)
}

async function prepare(
  manager: JetStreamManager,
  client: JetStreamClient,
  names: NatsNames,
  options: StreamsOptions,
): Promise<void> {
  const old = await findOldStreams(manager, names, options)
  await prepareStreams(manager, names, { ...options, now: Math.max(options.now, (old?.lastPosition ?? 0) + 1) })
  if (old !== undefined) await moveOldStreams(manager, client, names, old, options.streams)
  await refuseOlder(manager, names, options.replicas)
}

export class NatsBroker implements FrameBroker {
  readonly streams: number
  readonly step = FRAME_MESSAGES
  readonly limits
  readonly rest: FrameRest | undefined
  readonly ownFrames: OwnFrameCounts = { ...NO_OWN_FRAMES }
  readonly recordRidesAlong = false
  readonly refusal = undefined
  readonly backlogBytes = 0
  readonly maxBacklogBytes = Infinity
  private readonly options: NatsBrokerOptions
  private readonly names: NatsNames
  private readonly manager: JetStreamManager
  private readonly publisher: AcknowledgedPublisher
  private readonly readers = new Set<NatsReader>()
  private readonly removedBelow: number[]
  /** Questions without an answer: a lost connection answers them at once, instead of after their time. */
  private readonly open = new Set<(error: Error) => void>()
  private readonly stopListening: () => void

  constructor(options: NatsBrokerOptions, names: NatsNames, manager: JetStreamManager) {
    const { streams, maxFrameBytes, restMs } = options
    this.options = options
    this.streams = streams
    this.rest = restMs === 0 ? undefined : { ...REST, mostMs: restMs }
    this.limits = {
      maxFrameMessages: FRAME_MESSAGES,
      maxFrameBytes,
      closeAtBytes: Math.min(CLOSE_AT_BYTES, maxFrameBytes / 2),
    }
    this.names = names
    this.manager = manager
    this.publisher = new AcknowledgedPublisher(options.line.connection, options.clock)
    this.removedBelow = new Array<number>(streams).fill(0)
    this.stopListening = options.line.onConnection((connected) => {
      if (!connected) for (const fail of [...this.open]) fail(new Error('the connection was lost'))
    })
  }

  get connected(): boolean {
    return this.options.line.connected
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    return this.options.line.onConnection(listener)
  }

  /** Whether there is room only a frame can tell. */
  onRoom(): () => void {
    return () => undefined
  }

  async commit(stream: number, { frame, record }: Commit): Promise<Committed> {
    const position = frame === undefined ? 0 : await this.publish(stream, frame)
    const revision = record === undefined ? 0 : await this.writeRecord(stream, record)
    if (record !== undefined) this.remove(stream, record)
    return { position, revision }
  }

  async readRecord(stream: number): Promise<StreamRecord | undefined> {
    assertConnected(this.options.line)
    const query = { last_by_subj: this.names.recordSubject(stream) }
    const message = await this.found(this.manager.streams.getMessage(this.names.records, query))
    if (message === undefined) return undefined
    const { state } = await answered(this.answer(this.manager.streams.info(this.names.stream(stream))))
    return { body: message.data, revision: message.seq, settledBytes: state.bytes }
  }

  async read(stream: number, epoch: number, start: ReadStart, listener: FrameReaderListener): Promise<FrameReader> {
    assertConnected(this.options.line)
    try {
      return await this.openReader(stream, epoch, start, listener)
    } catch (error) {
      throw isFenced(error) ? error : away(error)
    }
  }

  async fetch(stream: number, { position }: FramePlace, wants: WantsQueue): Promise<FrameContent | undefined> {
    assertConnected(this.options.line)
    const message = await this.found(this.manager.streams.getMessage(this.names.stream(stream), { seq: position }))
    return message === undefined ? undefined : contentOf(position, message.data, wants)
  }

  async history(stream: number, from: number, maxBytes: number): Promise<HistoryPiece> {
    const frames: StoredFrame[] = []
    let next = from
    for (let bytes = 0; bytes < maxBytes;) {
      assertConnected(this.options.line)
      const query = { seq: Math.max(1, next), next_by_subj: this.names.subject(stream) }
      const message = await this.found(this.manager.direct.getMessage(this.names.stream(stream), query))
      if (message === undefined) return { frames, next, isEnd: true }
      const { seq, data, timestamp } = message
      frames.push(storedFrame({ position: seq, storedAt: Date.parse(timestamp) }, data))
      bytes += data.length
      next = seq + 1
    }
    return { frames, next, isEnd: false }
  }

  async close(): Promise<void> {
    this.stopListening()
    this.publisher.close()
    await Promise.all([...this.readers].map((reader) => reader.close()))
  }

  private async publish(stream: number, { content, id }: FrameCommit): Promise<number> {
    assertConnected(this.options.line)
    try {
      const name = this.names.stream(stream)
      const expected = { 'Nats-Msg-Id': id, 'Nats-Expected-Stream': name }
      const body = content.block.finish()
      // Only what is known as stored: a frame that is refused may be stored all the same, and its messages be published again.
      const { messages } = content
      const stored = (position: number): void => {
        for (const reader of this.readers) if (reader.stream === name) reader.own.stored(position, messages, body)
      }
      return await this.answer(this.publisher.publish(this.names.subject(stream), body, expected, PUBLISH_MS, stored))
    } catch (error) {
      throw this.publishError(error)
    }
  }

  private async writeRecord(stream: number, { body, revision }: RecordWrite): Promise<number> {
    assertConnected(this.options.line)
    try {
      const expected = { 'Nats-Expected-Last-Subject-Sequence': String(revision ?? 0) }
      const written = this.publisher.publish(this.names.recordSubject(stream), body(), expected, ANSWER_MS)
      return await this.answer(written)
    } catch (error) {
      throw isOvertaken(error) ? LinkErrors.FENCED({ stream, reason: 'its record was changed' }, error) : away(error)
    }
  }

  /** Not fenced, and need not be: a record that is durable says that what leaves is settled. */
  private remove(stream: number, { removeBelow: below, notRemoved }: RecordWrite): void {
    const before = this.removedBelow[stream] ?? 0
    if (below <= before) return
    this.removedBelow[stream] = below
    this.answer(this.manager.streams.purge(this.names.stream(stream), { seq: below })).catch(() => {
      if (this.removedBelow[stream] === below) this.removedBelow[stream] = before
      notRemoved()
    })
  }

  /** Undefined where there is none. */
  private found(question: Promise<StoredMsg | null>): Promise<StoredMsg | undefined> {
    return present(this.answer(question))
  }

  /** Who wants to read ends the consumers of earlier epochs, and yields to those of later ones. */
  private async openReader(
    number: number,
    epoch: number,
    start: ReadStart,
    listener: FrameReaderListener,
  ): Promise<FrameReader> {
    const stream = this.names.stream(number)
    const { line, clock, random, maxFrameBytes, ownFrameBytes } = this.options
    await this.removeConsumers(number, stream, epoch)
    const from = (await this.isStill(stream, start.lastRead)) ? Math.max(1, start.from) : 1
    const consumer = consumerName(epoch, random.uuid().slice(0, 8))
    await this.answer(
      this.manager.consumers.add(stream, {
        durable_name: consumer,
        // A new reader is what redelivers, and it says where it begins.
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        mem_storage: true,
      }),
    )
    // One of a later epoch may have begun meanwhile.
    await this.removeConsumers(number, stream, epoch, consumer)
    const inventory = await this.inventory(stream)
    const { dropped } = inventory
    if (dropped !== undefined) listener.onDamage({ kind: 'frames-dropped', ...dropped })
    const reader: NatsReader = new NatsReader({
      inventory: { ...inventory, first: Math.max(inventory.first, from) },
      takeInventory: () => this.inventory(stream),
      line,
      clock,
      stream,
      consumer,
      maxPullBytes: Math.max(PULL_BYTES, maxFrameBytes + HEADER_BYTES),
      own: new OwnFrames(ownFrameBytes / this.streams, this.ownFrames),
      listener: {
        onFrame: (frame) => listener.onFrame(frame),
        onDamage: (damage) => listener.onDamage(damage),
        onLost: (reason) => {
          this.readers.delete(reader)
          listener.onLost(reason)
        },
      },
      remove: async () => {
        this.readers.delete(reader)
        await this.removeConsumer(stream, consumer)
      },
    })
    this.readers.add(reader)
    return reader
  }

  /** False where the stream lost its end and counted again since. */
  private async isStill(stream: string, { position, storedAt }: ReadPoint): Promise<boolean> {
    if (position === 0) return true
    const found = await this.found(this.manager.streams.getMessage(stream, { seq: position }))
    if (found !== undefined) return Date.parse(found.timestamp) <= storedAt
    return (await this.answer(this.manager.streams.info(stream))).state.last_seq >= position
  }

  private inventory(stream: string): Promise<StreamInventory> {
    return takeInventory(
      async (inFull) => (await this.answer(this.manager.streams.info(stream, { deleted_details: inFull }))).state,
    )
  }

  private async removeConsumers(number: number, stream: string, epoch: number, own?: string): Promise<void> {
    for (const name of await this.consumers(stream)) {
      if (name === own) continue
      const other = epochOfConsumer(name)
      if (other !== undefined && other > epoch) {
        throw LinkErrors.FENCED({ stream: number, reason: `epoch ${other} reads it` })
      }
      await this.removeConsumer(stream, name)
    }
  }

  private async consumers(stream: string): Promise<string[]> {
    const { connection } = this.options.line
    const question = connection.request(`$JS.API.CONSUMER.NAMES.${stream}`, '', { timeout: ANSWER_MS })
    const answer = await this.answer(question)
    const { error, consumers } = NamesSchema.parse(answer.json())
    if (error !== undefined) throw new JetStreamApiError(error)
    return consumers ?? []
  }

  private async removeConsumer(stream: string, consumer: string): Promise<void> {
    if (!this.connected || this.options.line.connection.isDraining()) return
    try {
      await this.answer(this.manager.consumers.delete(stream, consumer))
    } catch (error) {
      if (codeOf(error) !== API_CODES.consumerNotFound) throw error
    }
  }

  private publishError(error: unknown): MillraceError {
    const limit = maxBytesOf(this.options)
    switch (codeOf(error)) {
      case API_CODES.maximumBytes:
      case API_CODES.maximumMessages:
      case API_CODES.insufficientResources:
      case API_CODES.insufficientStorage:
        return LinkErrors.BACKLOG_FULL({ bytes: limit, limit }, error)
      case API_CODES.messageTooLarge:
        return LinkErrors.MESSAGE_INVALID({ reason: errorText(error) }, error)
      default:
        return away(error)
    }
  }

  private async answer<Answer>(question: Promise<Answer>): Promise<Answer> {
    let fail: ((error: Error) => void) | undefined
    const lost = new Promise<never>((_, reject) => this.open.add((fail = reject)))
    try {
      return await Promise.race([question, lost])
    } finally {
      if (fail !== undefined) this.open.delete(fail)
    }
  }
}

const NamesSchema = z.object({
  consumers: z.array(z.string()).nullish(),
  error: z.object({ code: z.number(), err_code: z.number(), description: z.string() }).optional(),
})
