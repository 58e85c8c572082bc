/**
 * Messages that failed every try, kept with their body and the reason until somebody replays or removes them. A log of its
 * own beside the main one; the index is in memory, the bodies are on disk. Bounded, the bound shared out by tenant: over it the
 * oldest letters of the tenant that holds the most go, counted and told.
 */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import { openBlock } from './block.ts'
import type { Disk, Durability } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import type { PublishReceipt } from './link.ts'
import { LetterIndex, type LetterPlace } from './letter-index.ts'
import { recover } from './recovery.ts'
import type { SegmentFile } from './segment-file.ts'
import { SegmentWriter } from './segment-writer.ts'
import { BlockWriter } from './block-writer.ts'
import { decodeBlock, tenantOf } from './wire.ts'

export interface DeadLetter {
  /** The message's sequence in the main log. */
  readonly id: number
  readonly message: Message
  readonly reason: string
  /** When it was buried, Unix ms. */
  readonly time: number
  readonly attempts: number
}

export interface LetterQuery {
  /** Only letters of this tenant; those of others are not read. Absent: of all. */
  readonly tenantId?: string | undefined
  readonly after?: number | undefined
  readonly limit: number
}

export interface DeadLetters {
  readonly count: number
  /** Oldest first: at most `limit` letters with an id above `after`. */
  list(query: LetterQuery): Promise<DeadLetter[]>
  read(id: number): Promise<DeadLetter | undefined>
  /** Publishes the message once more, under its old id, and removes the letter when that is durable. False: no such letter. */
  replay(id: number): Promise<boolean>
  remove(id: number): Promise<boolean>
}

/** Where letters go. Resolves when the letter is durable; the same burial twice is one letter. */
export interface LetterKeeper {
  put(letter: Omit<DeadLetter, 'id' | 'time'>): Promise<void>
}

/** Where letters are kept. */
export interface LetterStore extends Omit<DeadLetters, 'replay'>, LetterKeeper {
  close(): Promise<void>
}

/** What a person may do with the letters of a store; `publish` is the link's. */
export function deadLettersOf(
  store: LetterStore,
  publish: (message: Message, receipt: PublishReceipt) => void,
): DeadLetters {
  return {
    get count() {
      return store.count
    },
    list: (query) => store.list(query),
    read: (id) => store.read(id),
    remove: (id) => store.remove(id),
    replay: async (id) => {
      const letter = await store.read(id)
      if (letter === undefined) return false
      await new Promise<void>((resolve, reject) => publish(letter.message, { stored: resolve, refused: reject }))
      return store.remove(id)
    },
  }
}

export interface DeadLetterOptions {
  readonly disk: Disk
  readonly directory: string
  readonly durability: Durability
  readonly clock: Clock
  readonly segmentBytes: number
  readonly maxLetters: number
  readonly maxBytes: number
  readonly onEvent: LinkEventListener
}

interface Unwritten {
  readonly id: number
  readonly tenantId: string
  readonly time: number
  readonly block: Buffer
}

/** Letters may take so much of the bytes: the rest is for what their files hold besides, so that a file is seldom written again. */
const LETTERS_SHARE = 0.75

export class DeadLetterStore implements LetterStore {
  droppedCount = 0
  private readonly options: DeadLetterOptions
  private readonly index = new LetterIndex()
  private readonly segments: SegmentFile[] = []
  private writer: SegmentWriter | undefined
  private unwritten: Unwritten[] = []
  private nextWrite: Promise<void> | undefined
  /** One write at a time. */
  private last: Promise<unknown> = Promise.resolve()

  constructor(options: DeadLetterOptions) {
    this.options = options
  }

  static async open(options: DeadLetterOptions): Promise<DeadLetterStore> {
    const store = new DeadLetterStore(options)
    await store.load()
    return store
  }

  get count(): number {
    return this.index.count
  }

  /** Resolves when the letter is durable. Throws what the disk throws; then it is not there, and may be put again. */
  put(letter: Omit<DeadLetter, 'id' | 'time'>): Promise<void> {
    const block = new BlockWriter(1)
    block.message(letter.message)
    block.attempts(new Map([[letter.message.sequence, letter.attempts]]))
    const time = this.options.clock.now()
    block.deadLetter(letter.reason, time)
    const { sequence: id, tenantId } = letter.message
    this.unwritten.push({ id, tenantId, time, block: block.finish() })
    // What piles up while the last write is under way is one write, and one promise.
    return (this.nextWrite ??= this.inTurn(() => this.writeLetters()))
  }

  remove(id: number): Promise<boolean> {
    return this.inTurn(async () => {
      if (!this.index.has(id)) return false
      await this.noteRemoved([id])
      this.index.delete(id)
      await this.removeEmptyFront()
      return true
    })
  }

  async list({ tenantId, after = 0, limit }: LetterQuery): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = []
    for (const id of this.index.idsAfter(after, tenantId)) {
      if (letters.length >= limit) break
      const letter = await this.read(id)
      if (letter !== undefined) letters.push(letter)
    }
    return letters
  }

  /** Undefined where there is no such letter, or where it is damaged (told as an event). */
  async read(id: number): Promise<DeadLetter | undefined> {
    const block = await this.readBlock(id)
    if (block === undefined) return undefined
    const content = decodeBlock(block.body, { entries: true })
    const message = content.messages[0]
    if (message === undefined) return undefined
    return { id, message, reason: content.reason ?? '', time: content.time, attempts: content.attempts[0]?.[1] ?? 0 }
  }

  async close(): Promise<void> {
    await this.last.catch(() => undefined) // Whoever made that write heard of its failure.
    await this.writer?.close()
  }

  private async load(): Promise<void> {
    const { disk, directory, durability, segmentBytes, onEvent } = this.options
    const recovery = await recover(disk, directory, onEvent, { entries: false }, (content, segment, block) => {
      if (this.segments.at(-1) !== segment) this.segments.push(segment)
      if (content.count > 0) {
        const { offset, end, body } = block
        const place = { tenantId: tenantOf(body), time: content.time, segment, offset, bytes: end - offset }
        this.index.set(content.firstSequence, place)
      }
      for (const id of content.removed) this.index.delete(id)
    })
    this.index.sortByTime()
    this.writer = new SegmentWriter({
      disk,
      directory,
      durability,
      segmentBytes,
      last: recovery.segments.at(-1),
      nextSequence: 0,
      opened: (segment) => this.segments.push(segment),
    })
    await this.removeEmptyFront()
  }

  private async writeLetters(): Promise<void> {
    const letters = this.unwritten
    this.unwritten = []
    this.nextWrite = undefined
    const place = await this.append(Buffer.concat(letters.map(({ block }) => block)), (letters.at(-1)?.id ?? 0) + 1)
    let { offset } = place
    for (const { id, tenantId, time, block } of letters) {
      this.index.set(id, { tenantId, time, segment: place.segment, offset, bytes: block.length })
      offset += block.length
    }
    await this.keepBound()
  }

  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.last.then(work, work)
    this.last = done
    return done
  }

  private async append(block: Buffer, nextSequence: number): Promise<Omit<LetterPlace, 'tenantId' | 'time'>> {
    const writer = this.writer
    if (writer === undefined) throw new Error('the dead-letter store is not open')
    const offset = await writer.append(block, nextSequence)
    const segment = writer.current
    if (segment === undefined) throw new Error('no segment is open')
    return { segment, offset, bytes: block.length }
  }

  private async keepBound(): Promise<void> {
    const { maxLetters, maxBytes, onEvent } = this.options
    const dropped = this.index.dropBeyond({ count: maxLetters, bytes: maxBytes * LETTERS_SHARE })
    if (dropped.length > 0) {
      this.droppedCount += dropped.length
      onEvent({ kind: 'dead-letters-dropped', count: dropped.length })
      await this.noteRemoved(dropped)
      await this.removeEmptyFront()
    }
    await this.keepFilesBound()
  }

  /** Files that hold few letters any more give their space back: those letters are written again, behind all others. */
  private async keepFilesBound(): Promise<void> {
    const oldest = [...this.segments]
    for (const front of oldest) {
      const bytes = this.segments.reduce((sum, segment) => sum + segment.end, 0)
      if (bytes <= this.options.maxBytes || this.segments[0] !== front || front === this.writer?.current) return
      for (const [id, { tenantId, time }] of this.index.in(front)) {
        const block = await this.readBlock(id)
        if (block === undefined) this.index.delete(id)
        else this.index.set(id, { tenantId, time, ...(await this.append(block.whole, 0)) })
      }
      await this.removeEmptyFront()
    }
  }

  private async noteRemoved(ids: readonly number[]): Promise<void> {
    const block = new BlockWriter(1)
    block.removed(ids)
    await this.append(block.finish(), 0)
  }

  private async readBlock(id: number): Promise<{ readonly whole: Buffer; readonly body: Buffer } | undefined> {
    const place = this.index.get(id)
    if (place === undefined) return undefined
    const { offset, bytes } = place
    const { path } = place.segment
    const file = await this.options.disk.open(path)
    try {
      const whole = await file.read(offset, bytes)
      const body = openBlock(whole)
      if (body !== undefined) return { whole, body }
      this.options.onEvent({ kind: 'damaged', file: path, from: offset, to: offset + bytes, lostMessages: 1 })
      return undefined
    } finally {
      await file.close()
    }
  }

  /** Removes front segments that hold no letter; a `removed` record there speaks of letters that are gone too. */
  private async removeEmptyFront(): Promise<void> {
    for (;;) {
      const front = this.segments[0]
      if (front === undefined || this.segments.length < 2) return
      if (this.index.holds(front)) return
      try {
        await this.options.disk.remove(front.path)
        await this.options.disk.syncDirectory(this.options.directory)
      } catch (error) {
        this.options.onEvent({ kind: 'segment-not-removed', file: front.path, error })
        return
      }
      this.segments.shift()
    }
  }
}
