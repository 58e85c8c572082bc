/**
 * Parked messages on JetStream: a stream for all partitions, a subject a partition. Every block names the one before it, so who has taken the
 * partition since, and has written there, fences whoever had it before.
 */
import {
  DiscardPolicy,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
} from '@nats-io/jetstream'
import type { Clock } from '../../model/clock.ts'
import type { Erased } from '../../model/erased.ts'
import type { NatsLine } from '../cluster/nats-connection.ts'
import { LinkErrors } from '../link/errors.ts'
import { AcknowledgedPublisher } from '../link/jetstream/acknowledged-publisher.ts'
import { ANSWER_MS, assertConnected, away, bodyOf, isOvertaken, present } from '../link/jetstream/nats-answers.ts'
import { findOrCreate, preparePatiently } from '../link/jetstream/nats-streams.ts'
import { ParkingErrors } from './errors.ts'
import { ParkedBlockWriter } from './parked-block.ts'
import type { ParkedLog } from './parked-log.ts'

export interface NatsParkedStreamOptions {
  /** Stays its owner's to close. */
  readonly line: Pick<NatsLine, 'connection'>
  /** Of the link's streams. */
  readonly prefix: string
  readonly replicas: number
  readonly clock: Clock
}

export interface NatsParkedLogOptions {
  readonly line: NatsLine
  readonly prefix: string
  readonly partition: number
  readonly clock: Clock
  /** Hears of blocks that can not be read. */
  readonly onDamage: (partition: number, place: number) => void
}

/** Makes the stream where it is missing; how many copies one has that is there is the operator's to change. Throws as {@link preparePatiently}. */
export async function prepareParkedStream({ line, prefix, replicas, clock }: NatsParkedStreamOptions): Promise<void> {
  const manager = await jetstreamManager(line.connection, { checkAPI: false, timeout: ANSWER_MS })
  const wanted = {
    name: streamOf(prefix),
    subjects: [`${prefix}.parked.*`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_bytes: -1,
    num_replicas: replicas,
    allow_direct: true,
  }
  await preparePatiently(clock, () => findOrCreate(manager, wanted))
}

function streamOf(prefix: string): string {
  return `${prefix}_PARKED`
}

export class NatsParkedLog implements ParkedLog {
  private readonly options: NatsParkedLogOptions
  private readonly stream: string
  private readonly subject: string
  private readonly publisher: AcknowledgedPublisher
  private manager: JetStreamManager | undefined
  /** The place of the last block that this process knows. */
  private last = 0
  /** Of the blocks that are there, ascending. */
  private readonly places = new Set<number>()
  private trimming: Promise<void> = Promise.resolve()
  private isClosed = false

  constructor(options: NatsParkedLogOptions) {
    this.options = options
    this.stream = streamOf(options.prefix)
    this.subject = `${options.prefix}.parked.${options.partition}`
    this.publisher = new AcknowledgedPublisher(options.line.connection, options.clock)
  }

  async load(visit: (place: number, body: Buffer, isSure: boolean) => void): Promise<void> {
    try {
      await this.loadBlocks(visit)
    } catch (error) {
      // Who could not open it does not close it either.
      this.publisher.close()
      throw error
    }
  }

  async append(block: Buffer): Promise<number> {
    assertConnected(this.options.line)
    try {
      const expected = { 'Nats-Expected-Last-Subject-Sequence': String(this.last) }
      return this.appended(await this.publisher.publish(this.subject, block, expected, ANSWER_MS))
    } catch (error) {
      if (!isOvertaken(error)) throw away(error)
      // It may be this very block: the answer to the try before was lost.
      const found = await this.lastBlock()
      if (found !== undefined && Buffer.from(found.data).equals(block)) return this.appended(found.seq)
      throw LinkErrors.FENCED(
        { partition: this.options.partition, reason: 'its parked messages have another owner' },
        error,
      )
    }
  }

  async read(place: number): Promise<Buffer | undefined> {
    const found = await this.blockAt(place)
    const body = found === undefined ? undefined : bodyOf(found.data)
    if (body === undefined) this.options.onDamage(this.options.partition, place)
    return body
  }

  trim(place: number): Promise<void> {
    const trimmed = this.trimming.then(() => this.deleteBefore(place))
    this.trimming = trimmed.catch(() => undefined) // Whoever asked for it heard.
    return trimmed
  }

  /** The server overwrites what is deleted. */
  roll(): Promise<void> {
    return Promise.resolve()
  }

  async eraseBefore(place: number): Promise<Erased> {
    await this.trim(place)
    if (this.isClosed) throw ParkingErrors.CLOSED({ partition: this.options.partition })
    return { isGone: true }
  }

  close(): Promise<void> {
    // The connection stays its owner's. Whoever has the partition next removes the rest.
    this.isClosed = true
    this.publisher.close()
    return Promise.resolve()
  }

  /** One by one, the oldest first: a purge would leave their bytes in the server's files, and a block may speak of any before it. */
  private async deleteBefore(place: number): Promise<void> {
    for (const seq of this.places) {
      if (seq >= place || this.isClosed) return
      await this.ask((manager) => manager.streams.deleteMessage(this.stream, seq))
      this.places.delete(seq)
    }
  }

  private async loadBlocks(visit: (place: number, body: Buffer, isSure: boolean) => void): Promise<void> {
    const { line, clock, partition, onDamage } = this.options
    this.manager = await jetstreamManager(line.connection, { checkAPI: false, timeout: ANSWER_MS })
    // From here on who had the partition can append nothing.
    const fence = await this.fence(new ParkedBlockWriter().finish(clock.now()).block)
    this.places.clear()
    for (let seq = 1; seq <= fence;) {
      const query = { seq, next_by_subj: this.subject }
      const found = await this.ask((manager) => manager.direct.getMessage(this.stream, query))
      if (found === undefined) throw LinkErrors.BROKER_AWAY({ reason: `${this.stream} has no block ${fence} yet` })
      seq = found.seq + 1
      this.places.add(found.seq)
      const body = bodyOf(found.data)
      if (body === undefined) onDamage(partition, found.seq)
      else visit(found.seq, body, true)
    }
    // Who had it removes the oldest first: where that is still there, no note went between its message and itself.
    const [first] = this.places
    if (first !== undefined && (await this.blockAt(first)) === undefined)
      throw LinkErrors.BROKER_AWAY({ reason: `blocks of ${this.subject} went while they were read` })
  }

  private appended(place: number): number {
    this.places.add(place)
    return (this.last = place)
  }

  /** Appends a block behind whatever is the last one now. */
  private async fence(block: Buffer): Promise<number> {
    for (let tries = 0; ; tries++) {
      this.last = (await this.lastBlock())?.seq ?? 0
      try {
        return await this.append(Buffer.from(block))
      } catch (error) {
        // Whoever has it is still writing.
        if (tries >= FENCE_TRIES) throw error
      }
    }
  }

  private blockAt(place: number) {
    return this.ask((manager) => manager.streams.getMessage(this.stream, { seq: place }))
  }

  private lastBlock() {
    return this.ask((manager) => manager.streams.getMessage(this.stream, { last_by_subj: this.subject }))
  }

  /** Undefined where the server says that there is no such message. Throws BROKER_AWAY. */
  private async ask<Answer>(
    question: (manager: JetStreamManager) => Promise<Answer | null>,
  ): Promise<Answer | undefined> {
    assertConnected(this.options.line)
    if (this.manager === undefined) throw new Error('the parked log is not loaded')
    return present(question(this.manager))
  }
}

const FENCE_TRIES = 20
