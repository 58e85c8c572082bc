/**
 * Messages that failed every try, kept with their body and the reason until somebody replays or removes them. A log of its
 * own beside the main one; the index is in memory, the bodies are on disk. Bounded: over its bound the oldest letters go,
 * counted and told.
 */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import { BlockReader } from './block.ts'
import type { Disk, Durability } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import type { PublishReceipt } from './link.ts'
import { recover } from './recovery.ts'
import type { SegmentFile } from './segment-file.ts'
import { SegmentWriter } from './segment-writer.ts'
import { BlockWriter } from './block-writer.ts'
import { decodeBlock } from './wire.ts'

export interface DeadLetter {
  /** The message's sequence in the main log. */
  readonly id: number
  readonly message: Message
  readonly reason: string
  /** When it was buried, Unix ms. */
  readonly time: number
  readonly attempts: number
}

export interface DeadLetters {
  readonly count: number
  /** Oldest first: at most `limit` letters with an id above `after`. */
  list(query: { readonly after?: number; readonly limit: number }): Promise<DeadLetter[]>
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

interface Place {
  readonly segment: SegmentFile
  readonly offset: number
  readonly bytes: number
}

export class DeadLetterStore implements LetterStore {
  droppedCount = 0
  private readonly options: DeadLetterOptions
  /** In the order of burial. */
  private readonly places = new Map<number, Place>()
  private readonly segments: SegmentFile[] = []
  private writer: SegmentWriter | undefined
  private unwritten: { readonly id: number; readonly block: Buffer }[] = []
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
    return this.places.size
  }

  /** Resolves when the letter is durable. Throws what the disk throws; then it is not there, and may be put again. */
  put(letter: Omit<DeadLetter, 'id' | 'time'>): Promise<void> {
    const block = new BlockWriter(1)
    block.message(letter.message)
    block.attempts(new Map([[letter.message.sequence, letter.attempts]]))
    block.deadLetter(letter.reason, this.options.clock.now())
    this.unwritten.push({ id: letter.message.sequence, block: block.finish() })
    // What piles up while the last write is under way is one write, and one promise.
    return (this.nextWrite ??= this.inTurn(() => this.writeLetters()))
  }

  remove(id: number): Promise<boolean> {
    return this.inTurn(async () => {
      if (!this.places.has(id)) return false
      const block = new BlockWriter(1)
      block.removed([id])
      await this.append(block.finish(), 0)
      this.places.delete(id)
      await this.removeEmptyFront()
      return true
    })
  }

  async list(query: { readonly after?: number; readonly limit: number }): Promise<DeadLetter[]> {
    const ids = [...this.places.keys()].filter((id) => id > (query.after ?? 0)).sort((a, b) => a - b)
    const letters: DeadLetter[] = []
    for (const id of ids.slice(0, query.limit)) {
      const letter = await this.read(id)
      if (letter !== undefined) letters.push(letter)
    }
    return letters
  }

  /** Undefined where there is no such letter, or where it is damaged (told as an event). */
  async read(id: number): Promise<DeadLetter | undefined> {
    const place = this.places.get(id)
    if (place === undefined) return undefined
    const file = await this.options.disk.open(place.segment.path)
    try {
      const end = place.offset + place.bytes
      const { blocks } = await new BlockReader(file, place.offset).read(end)
      const block = blocks[0]
      if (block === undefined) {
        this.options.onEvent({
          kind: 'damaged',
          file: place.segment.path,
          from: place.offset,
          to: end,
          lostMessages: 1,
        })
        return undefined
      }
      const content = decodeBlock(block.body, { entries: true })
      const message = content.messages[0]
      if (message === undefined) return undefined
      return { id, message, reason: content.reason ?? '', time: content.time, attempts: content.attempts[0]?.[1] ?? 0 }
    } finally {
      await file.close()
    }
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
        this.places.set(content.firstSequence, { segment, offset: block.offset, bytes: block.end - block.offset })
      }
      for (const id of content.removed) this.places.delete(id)
    })
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
    let offset = place.offset
    for (const { id, block } of letters) {
      this.places.set(id, { segment: place.segment, offset, bytes: block.length })
      offset += block.length
    }
    await this.keepBound()
  }

  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.last.then(work, work)
    this.last = done
    return done
  }

  private async append(block: Buffer, nextSequence: number): Promise<Place> {
    const writer = this.writer
    if (writer === undefined) throw new Error('the dead-letter store is not open')
    const offset = await writer.append(block, nextSequence)
    const segment = writer.current
    if (segment === undefined) throw new Error('no segment is open')
    return { segment, offset, bytes: block.length }
  }

  private async keepBound(): Promise<void> {
    const { maxLetters, maxBytes, onEvent } = this.options
    const bytes = this.segments.reduce((sum, segment) => sum + segment.end, 0)
    if (this.places.size <= maxLetters && bytes <= maxBytes) return
    const front = this.segments[0]
    if (front === undefined || this.segments.length < 2) return
    let count = 0
    for (const [id, place] of this.places) {
      if (place.segment !== front) continue
      this.places.delete(id)
      count++
    }
    this.droppedCount += count
    onEvent({ kind: 'dead-letters-dropped', count })
    await this.removeEmptyFront()
  }

  /** Removes front segments that hold no letter; a `removed` record there speaks of letters that are gone too. */
  private async removeEmptyFront(): Promise<void> {
    for (;;) {
      const front = this.segments[0]
      if (front === undefined || this.segments.length < 2) return
      for (const place of this.places.values()) if (place.segment === front) return
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
