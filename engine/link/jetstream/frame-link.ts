/**
 * The link of a cluster: frames in a broker's streams, one a partition, shared by all processes. Who publishes is told when the
 * broker has stored the frame; who reads a partition is its one owner (`ownership.ts`), and a frame leaves its stream when
 * all its messages are settled.
 */
import type { Message } from '../../../model/message.ts'
import { Burial, type LetterKeeper } from '../burial.ts'
import type { DeadLetters } from '../dead-letters.ts'
import {
  MAIN_QUEUE,
  type Delivery,
  type Link,
  type LinkConsumer,
  type PublishBound,
  type PublishReceipt,
} from '../link.ts'
import { partitionOf } from '../partition.ts'
import { DeliveryQueues } from './delivery-queues.ts'
import type { FrameLinkEvent, FrameLinkEventListener } from './events.ts'
import { FRAME_MESSAGES, FramePublisher } from './frame-publisher.ts'
import { HeldDelivery, type HeldFrame } from './held-frame.ts'
import { DEFAULT_FRAME_BOUNDS, type FrameLinkFigures, type FrameLinkOptions } from './options.ts'
import { Ownership } from './ownership.ts'

export interface FrameLink extends Link, PublishBound {
  readonly deadLetters: DeadLetters
  /** Where dead letters of messages go that the link has settled. */
  readonly letters: LetterKeeper
  figures(): FrameLinkFigures
  readonly connected: boolean
  /** Why not all of its partitions take messages, though it is connected. */
  readonly trouble: string | undefined
  /** Calls back when the broker goes away and when it is back; returns the way to stop listening. */
  onConnection(listener: (connected: boolean) => void): () => void
  /** Resolves when what was settled before is durable, as far as the broker answers. */
  flush(): Promise<void>
}

/** Dead letters that wait for the broker: beyond it nothing more is delivered, since the consumer has let go of them. */
const MAX_BURIALS = 1000

const STREAM_DAMAGES: ReadonlySet<FrameLinkEvent['kind']> = new Set([
  'frames-missing',
  'frames-dropped',
  'stream-went-back',
])

/** Publishes from the start; reads from the first `consume` on. Neither broker nor membership is closed with it, the letters are. */
export function createFrameLink(options: FrameLinkOptions): FrameLink {
  return new BrokerLink(options)
}

class BrokerLink implements FrameLink {
  readonly deadLetters: DeadLetters
  readonly letters: LetterKeeper
  private readonly options: FrameLinkOptions
  private readonly onEvent: FrameLinkEventListener
  private readonly publisher: FramePublisher
  private readonly queues: DeliveryQueues
  private readonly ownership: Ownership
  private readonly burial: Burial
  private readonly counts = { settled: 0, failed: 0, buried: 0, streamDamages: 0 }
  /** Deliveries that are being buried: settled only when their letter is durable. */
  private readonly buried = new Set<string>()
  private readonly stopListening: () => void
  private closing: Promise<void> | undefined
  private isClosing = false

  constructor(options: FrameLinkOptions) {
    const { broker, membership, clock, random, letters } = options
    const bounds = { ...DEFAULT_FRAME_BOUNDS, ...options.bounds }
    const tell = options.onEvent ?? (() => undefined)
    const onEvent: FrameLinkEventListener = (event) => {
      if (STREAM_DAMAGES.has(event.kind)) this.counts.streamDamages++
      tell(event)
    }
    this.options = options
    this.letters = letters
    this.onEvent = onEvent
    this.publisher = new FramePublisher({ broker, clock, random, bounds, onEvent })
    this.burial = new Burial(
      letters,
      clock,
      (event) => {
        if (event.kind === 'dead-letter-not-stored') onEvent(event)
      },
      (_, delivery) => this.buriedDurably(delivery),
    )
    this.queues = new DeliveryQueues({
      broker,
      clock,
      bounds,
      onEvent,
      mayDeliver: () => !this.isClosing && this.burial.size < MAX_BURIALS && this.ownership.isSure,
    })
    this.ownership = new Ownership({
      broker,
      membership,
      clock,
      bounds,
      onEvent,
      onFrame: (frame, deliveries) => {
        this.queues.add(frame, deliveries)
        this.queues.pump()
      },
      onGone: (partition) => this.queues.drop(partition),
      onReady: () => this.queues.pump(),
    })
    this.stopListening = broker.onConnection((connected) => {
      onEvent({ kind: connected ? 'broker-back' : 'broker-away' })
    })
    this.deadLetters = {
      get count() {
        return letters.count
      },
      list: (query) => letters.list(query),
      read: (id) => letters.read(id),
      remove: (id) => letters.remove(id),
      replay: async (id) => {
        const letter = await letters.read(id)
        if (letter === undefined) return false
        await new Promise<void>((resolve, reject) => this.publish(letter.message, { stored: resolve, refused: reject }))
        return letters.remove(id)
      },
    }
  }

  get connected(): boolean {
    return this.options.broker.connected
  }

  get trouble(): string | undefined {
    const silent = this.publisher.silentPartitions
    return silent.length === 0 ? undefined : `the streams of partitions ${silent.join(', ')} do not answer`
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    return this.options.broker.onConnection(listener)
  }

  publish(message: Message, receipt: PublishReceipt): void {
    this.publisher.publish(message, receipt)
  }

  checkFits(message: Message): void {
    this.publisher.checkFits(message)
  }

  get writable(): boolean {
    return this.publisher.writable
  }

  onWritable(listener: () => void): () => void {
    return this.publisher.onWritable(listener)
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
      if (this.frameOf(delivery)?.settle(delivery.message.sequence) === true) this.counts.settled++
    }
  }

  failed(delivery: Delivery, tries: number): void {
    if (this.frameOf(delivery)?.failed(delivery.message.sequence, tries) === true) this.counts.failed++
  }

  bury(delivery: Delivery, reason: string, tries: number): void {
    const key = burialKey(delivery)
    if (this.buried.has(key) || this.frameOf(delivery)?.isOutstanding(delivery.message.sequence) !== true) return
    this.buried.add(key)
    this.burial.bury(delivery, reason, tries)
  }

  flush(): Promise<void> {
    return this.ownership.flush()
  }

  figures(): FrameLinkFigures {
    let openFrames = 0
    let outstanding = 0
    for (const partition of this.ownership.all()) {
      openFrames += partition.openFrames
      outstanding += partition.outstanding
    }
    return {
      ...this.publisher.counts,
      ...this.counts,
      refused: this.publisher.refused,
      pending: this.publisher.pending,
      delivered: this.queues.delivered,
      outstanding,
      openFrames,
      parkedFrames: this.queues.parked,
      partitions: this.ownership.partitions,
      silentPartitions: this.publisher.silentPartitions.length,
      takeOvers: this.ownership.takeOvers,
      lostPartitions: this.ownership.lostPartitions,
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
  }

  /** The frame of a delivery, where this process still holds it; also of a delivery that the consumer made anew. */
  private frameOf(delivery: Delivery): HeldFrame | undefined {
    if (delivery instanceof HeldDelivery) return delivery.frame.owner.holds(delivery.frame) ? delivery.frame : undefined
    const { message } = delivery
    const partition = partitionOf(message.originator.id, this.options.broker.partitions)
    return this.ownership.frameAt(partition, Math.floor(message.sequence / FRAME_MESSAGES))
  }

  private buriedDurably(delivery: Delivery): void {
    this.buried.delete(burialKey(delivery))
    this.counts.buried++
    this.settle([delivery])
    this.queues.pump()
  }
}

function burialKey({ message }: Delivery): string {
  return `${message.originator.id} ${message.sequence}`
}
