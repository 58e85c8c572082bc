/**
 * The link: frames in a broker's streams. Who publishes is told when the broker has stored the frame; who reads a stream is its one
 * owner (`ownership.ts`), and a frame may leave its stream when all its messages are settled.
 */
import type { Message } from '../../model/message.ts'
import { Burial } from './burial.ts'
import { deadLettersOf, type DeadLetters, type LetterKeeper } from './dead-letters.ts'
import { DeliveryQueues } from './delivery-queues.ts'
import type { LinkEvent, LinkEventListener } from './events.ts'
import { NO_OWN_FRAMES } from './frame-broker.ts'
import { FramePublisher } from './frame-publisher.ts'
import { HeldDelivery } from './held-frame.ts'
import {
  MAIN_QUEUE,
  type Delivery,
  type Link,
  type LinkConsumer,
  type LoggedFrame,
  type LogPosition,
  type PublishBound,
  type PublishReceipt,
  type ReadableLink,
} from './link.ts'
import { DEFAULT_FRAME_BOUNDS, type FrameLinkFigures, type FrameLinkOptions, type StreamWatcher } from './options.ts'
import { Ownership } from './ownership.ts'
import { readAgain } from './reading-again.ts'

/** Dead letters that wait for the broker: beyond it nothing more is delivered, since the consumer has let go of them. */
const MAX_BURIALS = 1000

const STREAM_DAMAGES: ReadonlySet<LinkEvent['kind']> = new Set(['frames-missing', 'frames-dropped', 'stream-went-back'])

/** Publishes from the start; reads from the first `consume` on. Broker and letters are closed with it, the membership is not. */
export class FrameLink implements Link, PublishBound, ReadableLink {
  readonly deadLetters: DeadLetters
  /** Where dead letters of messages go that the link has settled. */
  readonly letters: LetterKeeper
  private readonly options: FrameLinkOptions
  private readonly publisher: FramePublisher
  private readonly queues: DeliveryQueues
  private readonly ownership: Ownership
  private readonly burial: Burial
  private readonly counts = { settled: 0, failed: 0, buried: 0, streamDamages: 0 }
  private readonly stopListening: () => void
  private closing: Promise<void> | undefined
  private isClosing = false
  private readonly watchers: StreamWatcher[] = []

  constructor(options: FrameLinkOptions) {
    const { broker, clock, random, letters, partitions, observer } = options
    const bounds = { ...DEFAULT_FRAME_BOUNDS, ...options.bounds }
    const tell = options.onEvent ?? (() => undefined)
    const onEvent: LinkEventListener = (event) => {
      if (STREAM_DAMAGES.has(event.kind)) this.counts.streamDamages++
      tell(event)
    }
    this.options = options
    this.letters = letters
    const publisher = new FramePublisher({ broker, partitions, clock, random, bounds, onEvent })
    this.publisher = publisher
    this.burial = new Burial(letters, clock, onEvent)
    this.queues = new DeliveryQueues({
      broker,
      clock,
      bounds,
      onEvent,
      mayDeliver: () => !this.isClosing && this.burial.size < MAX_BURIALS && this.ownership.isSure,
      reopened: ({ owner, position, storedAt, memo }, messages) =>
        observer?.reopened({ stream: owner.stream, position, storedAt, messages }, memo),
    })
    this.ownership = new Ownership({
      ...options,
      publisher,
      bounds,
      observer,
      onEvent,
      onFrame: (frame, deliveries) => {
        this.queues.add(frame, deliveries)
        this.queues.pump()
      },
      watchers: this.watchers,
      onLeaving: (stream) => this.queues.drop(stream),
      onReady: () => this.queues.pump(),
    })
    this.stopListening = broker.onConnection((connected) => {
      onEvent({ kind: connected ? 'broker-back' : 'broker-away' })
    })
    this.deadLetters = deadLettersOf(letters, (message, receipt) => this.publish(message, receipt))
  }

  /** Before the first `consume`. Of several, each is told in turn. */
  watch(watcher: StreamWatcher): void {
    this.watchers.push(watcher)
  }

  /** Messages of the stream with a lower sequence are settled durably: they are not delivered again. 0 where that is not known here. */
  settledBelow(stream: number): number {
    return this.ownership.settledBelow(stream)
  }

  get connected(): boolean {
    return this.options.broker.connected
  }

  /** Why not all of its streams take messages, though it is connected. */
  get trouble(): string | undefined {
    const silent = this.publisher.silentStreams
    return silent.length === 0 ? undefined : `the streams ${silent.join(', ')} do not answer`
  }

  /** Calls back when the broker goes away and when it is back; returns the way to stop listening. */
  onConnection(listener: (connected: boolean) => void): () => void {
    return this.options.broker.onConnection(listener)
  }

  checkFits(message: Message): void {
    this.publisher.checkFits(message)
  }

  publish(message: Message, receipt: PublishReceipt): void {
    this.publisher.publish(message, receipt)
  }

  get writable(): boolean {
    return this.publisher.room.isWritable
  }

  hasRoomFor(tenantId: string): boolean {
    return this.publisher.room.hasRoomFor(tenantId)
  }

  onWritable(listener: () => void): () => void {
    return this.publisher.room.onWritable(listener)
  }

  consume(consumer: LinkConsumer, queueName: string = MAIN_QUEUE): () => void {
    const stop = this.queues.consume(consumer, queueName)
    this.ownership.start()
    return stop
  }

  wake(): void {
    this.queues.pump()
  }

  settle(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      if (delivery instanceof HeldDelivery && delivery.frame.settle(delivery, false)) this.counts.settled++
    }
  }

  failed(delivery: Delivery, tries: number): void {
    if (delivery instanceof HeldDelivery && delivery.frame.failed(delivery, tries)) this.counts.failed++
  }

  bury(delivery: Delivery, reason: string, tries: number): void {
    if (!(delivery instanceof HeldDelivery) || !delivery.frame.bury(delivery)) return
    this.burial.bury({ message: delivery.message, attempts: tries, reason }, () => this.buriedDurably(delivery))
  }

  get streams(): number {
    return this.options.broker.streams
  }

  read(from: LogPosition): AsyncIterable<LoggedFrame> {
    const { broker, clock, onEvent = () => undefined } = this.options
    return readAgain({ broker, clock, onEvent, isBehind: () => this.queues.isWaiting }, from)
  }

  /** Resolves when what was settled before is durable, as far as the broker answers. */
  flush(): Promise<void> {
    return this.ownership.flush()
  }

  figures(): FrameLinkFigures {
    let openFrames = 0
    let outstanding = 0
    for (const stream of this.ownership.all()) {
      openFrames += stream.openFrames
      outstanding += stream.outstanding
    }
    return {
      ...this.publisher.counts,
      ...this.counts,
      ...(this.options.broker.ownFrames ?? NO_OWN_FRAMES),
      refused: this.publisher.refused,
      pending: this.publisher.room.messages,
      delivered: this.queues.delivered,
      outstanding,
      openFrames,
      parkedFrames: this.queues.parked,
      streams: this.ownership.streams,
      silentStreams: this.publisher.silentStreams.length,
      takeOvers: this.ownership.takeOvers,
      lostStreams: this.ownership.lostStreams,
      connected: this.connected,
      deadLetters: this.options.letters.count,
    }
  }

  close(): Promise<void> {
    return (this.closing ??= this.drainAndClose())
  }

  private async drainAndClose(): Promise<void> {
    this.isClosing = true
    this.queues.close()
    await Promise.all([this.publisher.close(), this.burial.close()])
    await this.ownership.close()
    this.stopListening()
    await this.options.letters.close()
    await this.options.broker.close()
  }

  private buriedDurably(delivery: HeldDelivery): void {
    this.counts.buried++
    if (delivery.frame.settle(delivery, true)) this.counts.settled++
    this.queues.pump()
  }
}
