/** The broker of the frame link over NATS JetStream. Made by `openNatsBroker`, which makes or checks the streams. */
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream'
import { z } from 'zod'
import type { Clock, Random } from '../../../model/clock.ts'
import { errorText, isMillraceError, type MillraceError } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import { isFenced, LinkErrors } from '../errors.ts'
import type { FrameBroker, FrameReader, FrameReaderListener, PartitionRecord } from './broker.ts'
import { API_CODES, consumerName, epochOfConsumer, natsNames, type NatsNames } from './nats-names.ts'
import { NatsReader } from './nats-reader.ts'
import { takeInventory, type StreamInventory } from './stream-holes.ts'
import { prepareStreams, type StreamsOptions } from './nats-streams.ts'

const NANOS = 1_000_000
const ANSWER_MS = 3000
const PREPARE_MS = 30_000
const PREPARE_PAUSE_MS = 250
/** Shorter than an election takes: the next try may find the new leader. */
const PUBLISH_MS = 2000
const PULL_BYTES = 4 << 20
/** Of a message beside its body, with some to spare. */
const HEADER_BYTES = 4096
/** Unacknowledged frames are never sent again to the same reader: a new reader is what redelivers. */
const ACK_WAIT_MS = 7 * 24 * 3_600_000
const READ_TRIES = 5

export interface NatsBrokerOptions extends Omit<StreamsOptions, 'now'> {
  /** Stays its owner's to close. */
  readonly line: NatsLine
  readonly clock: Clock
  readonly random: Random
  /** Frames that one reader may have open. */
  readonly maxOpenFrames: number
  readonly maxFrameBytes: number
}

/**
 * Throws what {@link prepareStreams} throws. Servers that are connected and do not answer yet (a cluster elects a leader for each
 * stream that is made, slowly on a busy machine) are asked again before that: half a minute in all.
 */
export async function openNatsBroker(options: NatsBrokerOptions): Promise<NatsBroker> {
  const names = natsNames(options.prefix)
  const { line, clock } = options
  const { connection } = line
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: ANSWER_MS })
  const giveUpAt = clock.monotonic() + PREPARE_MS
  for (;;) {
    try {
      await prepareStreams(manager, names, { ...options, now: clock.now() })
      break
    } catch (error) {
      const isAway = isMillraceError(error) && error.code === 'link.BROKER_AWAY'
      if (!isAway || clock.monotonic() >= giveUpAt) throw error
      await new Promise<void>((resolve) => void clock.after(PREPARE_PAUSE_MS, resolve))
    }
  }
  return new NatsBroker(options, names, manager, jetstream(connection, { timeout: ANSWER_MS }))
}

export class NatsBroker implements FrameBroker {
  readonly partitions: number
  private readonly options: NatsBrokerOptions
  private readonly names: NatsNames
  private readonly manager: JetStreamManager
  private readonly client: JetStreamClient
  private readonly readers = new Set<NatsReader>()
  /** Questions without an answer: a lost connection answers them at once, instead of after their time. */
  private readonly open = new Set<(error: Error) => void>()
  private readonly stopListening: () => void

  constructor(options: NatsBrokerOptions, names: NatsNames, manager: JetStreamManager, client: JetStreamClient) {
    this.options = options
    this.partitions = options.partitions
    this.names = names
    this.manager = manager
    this.client = client
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

  async publish(partition: number, body: Uint8Array, frameId: string): Promise<number> {
    this.assertConnected()
    try {
      const options = { msgID: frameId, timeout: PUBLISH_MS, expect: { streamName: this.names.stream(partition) } }
      return (await this.answer(this.client.publish(this.names.subject(partition), body, options))).seq
    } catch (error) {
      throw this.publishError(partition, error)
    }
  }

  async readRecord(partition: number): Promise<PartitionRecord | undefined> {
    this.assertConnected()
    try {
      const query = { last_by_subj: this.names.recordSubject(partition) }
      const message = await this.answer(this.manager.streams.getMessage(this.names.records, query))
      return message === null ? undefined : { body: message.data, revision: message.seq }
    } catch (error) {
      if (codeOf(error) === API_CODES.messageNotFound) return undefined
      throw away(error)
    }
  }

  async writeRecord(partition: number, body: Uint8Array, revision: number | undefined): Promise<number> {
    this.assertConnected()
    try {
      const options = { timeout: ANSWER_MS, expect: { lastSubjectSequence: revision ?? 0 } }
      return (await this.answer(this.client.publish(this.names.recordSubject(partition), body, options))).seq
    } catch (error) {
      const code = codeOf(error)
      if (code === API_CODES.wrongLastSequence || code === API_CODES.wrongLastSequenceUnknown) {
        throw LinkErrors.FENCED({ partition, reason: 'its record was changed' }, error)
      }
      throw away(error)
    }
  }

  async read(partition: number, epoch: number, listener: FrameReaderListener): Promise<FrameReader> {
    this.assertConnected()
    try {
      return await this.openReader(partition, epoch, listener)
    } catch (error) {
      throw isFenced(error) ? error : away(error)
    }
  }

  async fetch(partition: number, position: number): Promise<Uint8Array | undefined> {
    this.assertConnected()
    try {
      const message = await this.answer(
        this.manager.streams.getMessage(this.names.stream(partition), { seq: position }),
      )
      return message === null ? undefined : message.data
    } catch (error) {
      if (codeOf(error) === API_CODES.messageNotFound) return undefined
      throw away(error)
    }
  }

  async close(): Promise<void> {
    this.stopListening()
    await Promise.all([...this.readers].map((reader) => reader.close()))
  }

  /** A work queue has one consumer: who wants to read ends those of earlier epochs, and yields to those of later ones. */
  private async openReader(partition: number, epoch: number, listener: FrameReaderListener): Promise<FrameReader> {
    const stream = this.names.stream(partition)
    const { line, clock, random, maxOpenFrames, maxFrameBytes } = this.options
    for (let tries = 1; ; tries++) {
      await this.removeConsumers(partition, stream, epoch)
      const consumer = consumerName(epoch, random.uuid().slice(0, 8))
      try {
        await this.answer(
          this.manager.consumers.add(stream, {
            durable_name: consumer,
            ack_policy: AckPolicy.Explicit,
            deliver_policy: DeliverPolicy.All,
            ack_wait: ACK_WAIT_MS * NANOS,
            max_deliver: -1,
            max_ack_pending: maxOpenFrames,
            // What it would have to remember, the stream remembers: an acknowledged frame has left it.
            mem_storage: true,
          }),
        )
      } catch (error) {
        const code = codeOf(error)
        const isTaken = code === API_CODES.workQueueNeedsOneConsumer || code === API_CODES.workQueueConsumerNotUnique
        if (isTaken && tries < READ_TRIES) continue
        throw error
      }
      const inventory = await this.inventory(stream)
      const { dropped } = inventory
      if (dropped !== undefined) listener.onDamage({ kind: 'frames-dropped', ...dropped })
      const reader: NatsReader = new NatsReader({
        inventory,
        takeInventory: () => this.inventory(stream),
        line,
        clock,
        stream,
        consumer,
        maxPullBytes: Math.max(PULL_BYTES, maxFrameBytes + HEADER_BYTES),
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
  }

  private inventory(stream: string): Promise<StreamInventory> {
    return takeInventory(
      async (inFull) => (await this.answer(this.manager.streams.info(stream, { deleted_details: inFull }))).state,
    )
  }

  private async removeConsumers(partition: number, stream: string, epoch: number): Promise<void> {
    for (const name of await this.consumers(stream)) {
      const other = epochOfConsumer(name)
      if (other !== undefined && other > epoch) {
        throw LinkErrors.FENCED({ partition, reason: `epoch ${other} reads it` })
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

  private publishError(partition: number, error: unknown): MillraceError {
    const { maxBytesPerPartition } = this.options
    switch (codeOf(error)) {
      case API_CODES.maximumBytes:
      case API_CODES.maximumMessages:
      case API_CODES.insufficientResources:
      case API_CODES.insufficientStorage:
        return LinkErrors.BACKLOG_FULL({ bytes: maxBytesPerPartition, limit: maxBytesPerPartition, partition }, error)
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

  /** The client would keep back what it cannot send, for as long as that lasts. */
  private assertConnected(): void {
    if (!this.connected) throw LinkErrors.BROKER_AWAY({ reason: 'not connected' })
  }
}

const NamesSchema = z.object({
  consumers: z.array(z.string()).nullish(),
  error: z.object({ code: z.number(), err_code: z.number(), description: z.string() }).optional(),
})

function codeOf(error: unknown): number | undefined {
  return error instanceof JetStreamApiError ? error.code : undefined
}

function away(error: unknown): MillraceError {
  return LinkErrors.BROKER_AWAY({ reason: errorText(error) }, error)
}
