/**
 * The parked messages of one partition: an index in memory over a {@link ParkedLog}. Lanes, their messages in the order of the link's log, their
 * tries. What piles up while one write is under way is the next one. A write that fails is tried again for as long as the medium refuses: nothing
 * is dropped for it.
 *
 * What is done with stands as a note behind its message. A log that holds little else than such notes is rewritten from its front, so that a
 * message that stays for ever does not keep everything behind it.
 */
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../model/clock.ts'
import { erasedOfAll, type Erased } from '../../model/erased.ts'
import type { Message } from '../../model/message.ts'
import { Rest } from '../../model/rest.ts'
import { isFenced } from '../link/errors.ts'
import { DoneNotes } from './done-notes.ts'
import { ParkingErrors } from './errors.ts'
import {
  NOBODYS_LANE,
  ParkedBlockWriter,
  readMessages,
  readNotes,
  type BlockNotes,
  type LaneNote,
} from './parked-block.ts'
import { ParkedBlocks } from './parked-blocks.ts'
import type { ParkedLog } from './parked-log.ts'
import { StoredLane, type Block, type ParkedEntry } from './stored-lane.ts'

type Operation = {
  readonly lane: StoredLane
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
} & (
  | { readonly kind: 'entry'; readonly message: Message; readonly attempt: number }
  | { readonly kind: 'done'; readonly entry: ParkedEntry }
  | { readonly kind: 'tries'; readonly entry: ParkedEntry; readonly attempt: number }
)

interface Erasure {
  readonly steps: AsyncIterator<void, Removal, void>
  readonly resolve: (erased: Erased) => void
  readonly reject: (error: unknown) => void
}

/** Removes what stood before, once all that stays was written again. */
type Removal = () => Promise<Erased>

const NOTHING: Erased = { isGone: true }
const UNREADABLE: Erased = {
  isGone: false,
  rest: 'parked messages that can not be read any more stay until they are tried: erase again',
}

/** Each only grows. */
export interface ParkedWrites {
  writes: number
  /** Of those, behind which there was a rest. */
  rests: number
}

export interface ParkedStoreOptions {
  readonly log: ParkedLog
  readonly partition: number
  readonly clock: Clock
  /** Bytes that notes and removed messages may take beside as many again as the messages do, with what is said of their lanes. */
  readonly slackBytes: number
  /** How long messages and tries wait for more behind a write: who fails goes on failing, and each write is a sync. 0: not at all. */
  readonly restMs: number
  /** Counts of all stores of the process; absent where nobody asks. */
  readonly counts?: ParkedWrites
  /** A write failed, and is tried again; undefined once one succeeded. */
  readonly onTrouble: (error: unknown) => void
}

/** Small enough that the one message of a block that is wanted is soon decoded. */
const BLOCK_BYTES = 64 << 10
/** Blocks that were decoded, kept for the next reader: so many bytes of them, and one at least, however large. */
const DECODED_BYTES = 2 << 20
/** So much is asked for in no time: it does not wait. */
const MAX_RESTING = 64
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 5000

export class ParkedStore {
  readonly partition: number
  isClosed = false
  /** Hears of every change of what a tenant has here. */
  onWeight: (tenantId: string, change: number) => void = () => undefined
  private readonly options: ParkedStoreOptions
  /** By key, then by the name of the queue. */
  private readonly lanesByKey = new Map<string, Map<string, StoredLane>>()
  private readonly blocks = new ParkedBlocks()
  private operations: Operation[] = []
  private writing: Promise<void> | undefined
  private readonly resting = new Rest()
  private readonly decoded = new LRUCache<number, Promise<readonly Message[] | undefined>>({ maxSize: DECODED_BYTES })
  private readonly doneNotes = new DoneNotes()
  private readonly erasures: Erasure[] = []
  /** The log may hold messages that are done with, and whose they were. */
  private isToErase = false
  /** The last block that an erasure of this run wrote again, where it could be read. */
  private erasedTo = 0

  private constructor(options: ParkedStoreOptions) {
    this.options = options
    this.partition = options.partition
  }

  /** Throws what the medium throws. */
  static async open(options: ParkedStoreOptions): Promise<ParkedStore> {
    const store = new ParkedStore(options)
    const unsure: number[] = []
    await options.log.load((place, body, isSure) => {
      store.loadBlock(place, body)
      if (!isSure) unsure.push(place)
    })
    for (const { entries } of store.lanes()) for (const entry of entries) entry.isOld = true
    // The link is told at once of what is found here: that has to be durable.
    for (const place of unsure) {
      const block = store.blocks.at(place)
      if (block !== undefined && block.live > 0) await store.rewrite([block], (again) => options.log.append(again))
    }
    return store
  }

  lane(queueName: string, key: string): StoredLane | undefined {
    return this.lanesByKey.get(key)?.get(queueName)
  }

  /** Of all queues. */
  lanesOf(key: string): Iterable<StoredLane> {
    return this.lanesByKey.get(key)?.values() ?? []
  }

  *lanes(): Iterable<StoredLane> {
    for (const lanes of this.lanesByKey.values()) yield* lanes.values()
  }

  get bytes(): number {
    return this.blocks.totalBytes
  }

  /** Something was parked before this run. Asked before anything is parked in it. */
  get hasOld(): boolean {
    return this.doneNotes.hasBefore || this.lanesByKey.size > 0
  }

  /** Whether the message was parked before this run and is done with, by now or then: a link that did not hear of it delivers it again. */
  wasDone(message: Message): boolean {
    return this.doneNotes.has(message)
  }

  /** The lane of that name, which is there from now on until it is forgotten. */
  openLane(note: LaneNote): StoredLane {
    const known = this.lane(note.queueName, note.key)
    if (known !== undefined) return known
    const lane = new StoredLane(note)
    let lanes = this.lanesByKey.get(note.key)
    if (lanes === undefined) this.lanesByKey.set(note.key, (lanes = new Map<string, StoredLane>()))
    lanes.set(note.queueName, lane)
    return lane
  }

  forgetLane(lane: StoredLane): void {
    const lanes = this.lanesByKey.get(lane.key)
    if (lanes?.get(lane.queueName) !== lane) return
    lanes.delete(lane.queueName)
    if (lanes.size === 0) this.lanesByKey.delete(lane.key)
  }

  /** Resolves when the message is durable behind those of its lane. Rejects only where the store is closed or fenced. */
  append(lane: StoredLane, message: Message, attempt: number): Promise<void> {
    return this.ask((promise) => ({ ...promise, lane, kind: 'entry', message, attempt }))
  }

  /** Resolves when it is durable that the message is done with. Rejects as `append`. */
  done(lane: StoredLane, entry: ParkedEntry): Promise<void> {
    entry.isOver = true
    return this.ask((promise) => ({ ...promise, lane, kind: 'done', entry }))
  }

  /** Resolves when it is durable which try comes next. Rejects as `append`. */
  tried(lane: StoredLane, entry: ParkedEntry, attempt: number): Promise<void> {
    entry.attempt = attempt
    return this.ask((promise) => ({ ...promise, lane, kind: 'tries', entry, attempt }))
  }

  /**
   * Of what is done with by now, and of whose it was, nothing stays in the log: what is still parked is written again, and what stood before goes. A
   * crash leaves each message there, once. Parking goes on meanwhile. Rejects as `append`, and with what the medium throws.
   */
  eraseDone(): Promise<Erased> {
    if (this.isClosed) return Promise.reject(ParkingErrors.CLOSED({ partition: this.partition }))
    return new Promise((resolve, reject) => {
      this.erasures.push({ steps: this.erasing(), resolve, reject })
      this.writing ??= this.writeAll()
      this.resting.end()
    })
  }

  /** The message of an entry; undefined where it can not be read any more. Throws what the medium throws. */
  async read(entry: ParkedEntry): Promise<Message | undefined> {
    for (;;) {
      const { block, index } = entry
      const messages = await this.messagesOf(block)
      // It was rewritten to another place meanwhile.
      if (entry.block !== block) continue
      return messages?.[index]
    }
  }

  /** Undefined where the block can not be read any more. Rejects with what the medium throws. */
  private messagesOf({ place, bytes }: Block): Promise<readonly Message[] | undefined> {
    const known = this.decoded.get(place)
    if (known !== undefined) return known
    const messages = this.options.log.read(place).then((body) => (body === undefined ? undefined : readMessages(body)))
    this.decoded.set(place, messages, { size: Math.min(bytes, DECODED_BYTES) })
    // One that failed is read again by the next who asks.
    messages.catch(() => this.decoded.delete(place))
    return messages
  }

  /** Takes nothing more. What is not durable by then is rejected: the link still has it. */
  async close(): Promise<void> {
    this.stop()
    await this.writing
    await this.options.log.close()
  }

  /** What is asked for and not durable is rejected. */
  stop(): void {
    this.isClosed = true
    this.resting.end()
    this.rejectAll(ParkingErrors.CLOSED({ partition: this.partition }))
  }

  private ask(make: (promise: Pick<Operation, 'resolve' | 'reject'>) => Operation): Promise<void> {
    if (this.isClosed) return Promise.reject(ParkingErrors.CLOSED({ partition: this.partition }))
    return new Promise<void>((resolve, reject) => {
      this.operations.push(make({ resolve, reject }))
      this.writing ??= this.writeAll()
      if (!this.mayRest) this.resting.end()
    })
  }

  private async writeAll(): Promise<void> {
    const { clock, restMs, counts } = this.options
    // What this turn asks for goes together.
    await new Promise<void>((resolve) => void clock.soon(resolve))
    try {
      while (this.operations.length > 0 || this.erasures.length > 0) {
        if (this.operations.length > 0) await this.writeGroup()
        const [erasure] = this.erasures
        if (erasure !== undefined) {
          if (await this.erase(erasure)) this.erasures.shift()
          continue
        }
        if (restMs === 0 || !this.mayRest || this.stopped()) continue
        if (counts !== undefined) counts.rests++
        await this.resting.take(clock, restMs)
      }
    } catch (error) {
      // A message that can not be encoded, or a bug: the link still has what was asked for.
      this.options.onTrouble(error)
      this.rejectAll(error)
    } finally {
      // In the same step as the last look: who asks from now on starts the next round.
      this.writing = undefined
    }
  }

  /** What is done with would run again after a crash: that waits for nothing. Nor does what fills a block: more would not go with it. */
  private get mayRest(): boolean {
    if (this.operations.length >= MAX_RESTING) return false
    let bytes = 0
    for (const operation of this.operations) {
      if (operation.kind === 'done') return false
      if (operation.kind === 'entry') bytes += operation.message.data.length
    }
    return bytes < BLOCK_BYTES
  }

  private async writeGroup(): Promise<void> {
    const writer = new ParkedBlockWriter()
    const group = this.takeGroup(writer)
    const { block, notes } = writer.finish(this.options.clock.now())
    const place = await this.appendPatiently(block, group)
    if (place === undefined) return
    this.apply(place, block.length, notes)
    for (const { resolve } of group) resolve()
    await this.tidy()
  }

  private takeGroup(writer: ParkedBlockWriter): readonly Operation[] {
    let count = 0
    for (const operation of this.operations) {
      const { lane } = operation
      if (operation.kind === 'entry') writer.entry(lane, operation.message, operation.attempt)
      else if (operation.kind === 'done') writer.done(lane, operation.entry.sequence, operation.entry.idHash)
      else writer.tries(lane, operation.entry.sequence, operation.entry.idHash, operation.attempt)
      count++
      const next = this.operations[count]
      const nextBytes = next?.kind === 'entry' ? next.message.data.length : 0
      if (writer.bytes + nextBytes >= BLOCK_BYTES) break
    }
    return this.operations.splice(0, count)
  }

  /** Undefined where the store was closed or fenced meanwhile: then the group was rejected. */
  private async appendPatiently(block: Buffer, group: readonly Operation[]): Promise<number | undefined> {
    const { log, clock, onTrouble, partition, counts } = this.options
    for (let pauseMs = FIRST_PAUSE_MS; !this.isClosed; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
      try {
        const place = await log.append(block)
        if (counts !== undefined) counts.writes++
        if (pauseMs !== FIRST_PAUSE_MS) onTrouble(undefined)
        return place
      } catch (error) {
        onTrouble(error)
        if (isFenced(error)) this.stop()
        else if (!this.stopped()) await new Promise<void>((resolve) => void clock.after(pauseMs, resolve))
      }
    }
    for (const { reject } of group) reject(ParkingErrors.CLOSED({ partition }))
    return undefined
  }

  /** A method, so that no earlier look at it is believed after a wait. */
  private stopped(): boolean {
    return this.isClosed
  }

  private rejectAll(error: unknown): void {
    const operations = this.operations
    this.operations = []
    this.isToErase ||= this.erasures.length > 0
    for (const { reject } of [...operations, ...this.erasures.splice(0)]) reject(error)
  }

  private loadBlock(place: number, body: Buffer): void {
    const notes = readNotes(body)
    this.apply(place, body.length, notes)
    for (const { lane, sequence, idHash } of notes.done) {
      this.doneNotes.add(sequence, idHash, true)
      this.isToErase ||= notes.lanes[lane]?.key !== NOBODYS_LANE.key
    }
    for (const note of notes.lanes) {
      const lane = this.lane(note.queueName, note.key)
      if (lane?.entries.length === 0) this.forgetLane(lane)
    }
  }

  private apply(place: number, bytes: number, notes: BlockNotes): void {
    const block = this.blocks.add(place, bytes, notes.entries.length)
    const lanes = notes.lanes.map((note) => this.openLane(note))
    for (const [index, note] of notes.entries.entries()) {
      const lane = lanes[note.lane]
      if (lane === undefined) continue
      const known = lane.find(note.sequence, note.idHash)
      this.blocks.countLive(block, 1)
      if (known === undefined) {
        const { sequence, idHash, attempt, weight } = note
        lane.add({ sequence, idHash, attempt, weight, isOver: false, isOut: false, isOld: false, block, index })
        this.onWeight(lane.tenantId, weight)
      } else {
        this.blocks.countLive(known.block, -1)
        known.block = block
        known.index = index
      }
    }
    for (const { lane: index, sequence, idHash, attempt } of notes.tries) {
      const entry = lanes[index]?.find(sequence, idHash)
      if (entry !== undefined) entry.attempt = Math.max(entry.attempt, attempt)
    }
    for (const { lane: index, sequence, idHash } of notes.done) {
      const lane = lanes[index]
      const entry = lane?.remove(sequence, idHash)
      if (lane === undefined || entry === undefined) continue
      this.blocks.countLive(entry.block, -1)
      this.doneNotes.add(sequence, idHash, entry.isOld)
      this.isToErase = true
      this.onWeight(lane.tenantId, -entry.weight)
    }
  }

  /** Removes what nobody needs at the front, and rewrites the front where the log holds more notes than messages. */
  private async tidy(): Promise<void> {
    // Notes stay until those of the erasure are there.
    if (this.erasures.length > 0) return
    for (;;) {
      const front = this.removeDeadFront()
      if (front === undefined || this.blocks.totalBytes <= 2 * this.blocks.liveBytes + this.options.slackBytes) return
      if (this.isClosed || this.blocks.size < 2) return
      try {
        // Until its fate is known: to a log with an owner another block behind it would look like another owner's.
        if (!(await this.rewrite([front], (block) => this.appendPatiently(block, [])))) return
      } catch (error) {
        // The next write tries again.
        this.options.onTrouble(error)
        return
      }
    }
  }

  private removeDeadFront(): Block | undefined {
    const before = this.blocks.size
    const front = this.deadFrontRemoved()
    // What it leaves behind after a failure goes with the next trim.
    if (this.blocks.size < before && front !== undefined)
      void this.options.log.trim(front.place).catch(this.options.onTrouble)
    return front
  }

  /** The first block that stays: what stood before may be trimmed. */
  private deadFrontRemoved(): Block | undefined {
    return this.blocks.removeDeadFront((place) => this.decoded.delete(place))
  }

  /** Does a step of it, so that who parks meanwhile does not wait for all. Whether nothing is left to write. */
  private async erase({ steps, resolve, reject }: Erasure): Promise<boolean> {
    const failed = (error: unknown): void => {
      this.isToErase = true
      reject(error)
    }
    try {
      const { done, value: remove } = await steps.next()
      // Closed meanwhile, which who asked heard: notes may be missing, and the partition may be another's.
      if (done !== true || this.stopped()) return this.stopped()
      // Who parks does not wait for it.
      remove().then(resolve, failed)
    } catch (error) {
      failed(error)
    }
    return true
  }

  /** A step is about a block. Nothing is written again where nothing was done with. */
  private async *erasing(): AsyncGenerator<void, Removal, void> {
    const { log, clock } = this.options
    let upTo = 0
    if (this.isToErase) {
      await log.roll()
      upTo = this.blocks.lastPlace
      this.isToErase = false
    }
    for (const piece of this.blocks.livePieces(upTo, BLOCK_BYTES)) {
      await this.rewrite(piece, (block) => this.appendPatiently(block, []))
      yield
    }
    const notes = upTo > 0 ? this.doneNotes.blocks(clock.now(), BLOCK_BYTES) : []
    for (const { block, notes: done } of notes) {
      const place = await this.appendPatiently(block, [])
      if (place !== undefined) this.apply(place, block.length, done)
    }
    return async () => {
      this.erasedTo = Math.max(this.erasedTo, upTo)
      const front = this.deadFrontRemoved()
      const left = front !== undefined && front.place <= this.erasedTo ? UNREADABLE : NOTHING
      return erasedOfAll([await log.eraseBefore(front?.place ?? 0), left])
    }
  }

  /**
   * Appends once more what lives of some blocks. False where nothing of it can be read, or `append` has given up. Throws what the medium
   * throws.
   */
  private async rewrite(
    blocks: readonly Block[],
    append: (block: Buffer) => Promise<number | undefined>,
  ): Promise<boolean> {
    const writer = new ParkedBlockWriter()
    for (const old of blocks) {
      const body = await this.options.log.read(old.place)
      if (body === undefined) continue
      const before = readNotes(body)
      const messages = readMessages(body)
      for (const [index, { lane: name, sequence, idHash }] of before.entries.entries()) {
        const { queueName = '', key = '' } = before.lanes[name] ?? {}
        const lane = this.lane(queueName, key)
        const entry = lane?.find(sequence, idHash)
        const message = messages[index]
        if (lane === undefined || message === undefined || entry?.block !== old) continue
        writer.entry(lane, message, entry.attempt)
      }
    }
    const { block, notes } = writer.finish(this.options.clock.now())
    if (notes.entries.length === 0) return false
    const place = await append(block)
    if (place === undefined) return false
    this.apply(place, block.length, notes)
    return true
  }
}
