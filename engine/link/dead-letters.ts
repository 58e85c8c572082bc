/**
 * Messages that failed every try, kept with their body and the reason until somebody replays or removes them. A log of its
 * own beside the main one; the index is in memory, the bodies are on disk. Bounded, the bound shared out by tenant: over it the
 * oldest letters of the tenant that holds the most go, counted and told.
 */
import type { Clock } from '../../model/clock.ts'
import type { Erased } from '../../model/erased.ts'
import type { Message } from '../../model/message.ts'
import { erasedBeside, NOT_REMOVED } from '../../disk/segments.ts'
import { RecordLog, type RecordLogOptions } from '../../disk/record-log.ts'
import type { SegmentFile } from '../../disk/segment-file.ts'
import { BlockWriter } from './block-writer.ts'
import type { LinkEventListener } from './events.ts'
import { LetterIndex } from './letter-index.ts'
import type { PublishReceipt } from './link.ts'
import { LINK_SEGMENTS } from './log-format.ts'
import { decodeBlock, tenantOf, type BlockContent } from './wire.ts'

/** A message that is to become a letter. */
export interface NewLetter {
  readonly message: Message
  readonly reason: string
  readonly attempts: number
}

export interface DeadLetter extends NewLetter {
  /** The message's sequence in the main log. */
  readonly id: number
  /** When it was buried, Unix ms. */
  readonly time: number
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
  /** Takes removed letters out of the files too. New ones may wait meanwhile. */
  eraseRemoved(): Promise<Erased>
}

/** Where letters go. Resolves when the letter is durable; the same burial twice is one letter. */
export interface LetterKeeper {
  put(letter: NewLetter): Promise<void>
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
    eraseRemoved: () => store.eraseRemoved(),
    replay: async (id) => {
      const letter = await store.read(id)
      if (letter === undefined) return false
      await new Promise<void>((resolve, reject) => publish(letter.message, { stored: resolve, refused: reject }))
      return store.remove(id)
    },
  }
}

export interface DeadLetterOptions extends Omit<RecordLogOptions<BlockContent>, 'format' | 'startAt'> {
  readonly clock: Clock
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

/** Letters that are written again together: one write and one sync, for which a burial waits. */
const AGAIN_BYTES = 1 << 20
/** Letters may take so much of the bytes: the rest is for what their files hold besides, so that a file is seldom written again. */
const LETTERS_SHARE = 0.75

export class DeadLetterStore implements LetterStore {
  droppedCount = 0
  private readonly options: DeadLetterOptions
  private readonly index: LetterIndex
  private readonly log: RecordLog
  /** Files may hold letters that were removed. */
  private isToErase = false
  private isClosed = false
  private unwritten: Unwritten[] = []
  private nextWrite: Promise<void> | undefined
  /** One write at a time. */
  private last: Promise<unknown> = Promise.resolve()

  private constructor(options: DeadLetterOptions, index: LetterIndex, log: RecordLog) {
    this.options = options
    this.index = index
    this.log = log
  }

  static async open(options: DeadLetterOptions): Promise<DeadLetterStore> {
    const index = new LetterIndex()
    let isToErase = false
    const log = await RecordLog.open({ ...options, format: LINK_SEGMENTS }, (content, segment, block) => {
      if (content.count > 0) {
        const { offset, end, body } = block
        const place = { tenantId: tenantOf(body), time: content.time, segment, offset, bytes: end - offset }
        index.set(content.firstSequence, place)
      }
      for (const id of content.removed) index.delete(id)
      isToErase ||= content.removed.length > 0
    })
    index.sortByTime()
    const store = new DeadLetterStore(options, index, log)
    store.isToErase = isToErase
    await store.removeEmptyFront()
    return store
  }

  get count(): number {
    return this.index.count
  }

  /** Resolves when the letter is durable. Throws what the disk throws; then it is not there, and may be put again. */
  put(letter: NewLetter): Promise<void> {
    const time = this.options.clock.now()
    const { sequence: id, tenantId } = letter.message
    this.unwritten.push({ id, tenantId, time, block: encodeLetter(letter, time) })
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

  /** All files of before are written again without what was removed, and go: also those of a removal before the last start. */
  async eraseRemoved(): Promise<Erased> {
    const { disk, directory } = this.options
    const last = await this.inTurn(() => this.beginErasure())
    if (last !== undefined) {
      // Burials have their turns between the writes.
      let step: 'again' | 'over' | 'stuck' = 'again'
      while (step === 'again') step = await this.inTurn(() => this.eraseSome(last))
      if (step === 'stuck') return NOT_REMOVED
    }
    return erasedBeside(disk, directory)
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
    const place = this.index.get(id)
    const record = place && (await this.log.read(place))
    return record && decodeLetter(id, record.body)
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.last.catch(() => undefined) // Whoever made that write heard of its failure.
    await this.log.close()
  }

  private async writeLetters(): Promise<void> {
    const letters = this.unwritten
    this.unwritten = []
    this.nextWrite = undefined
    await this.append(letters)
    await this.keepBound()
  }

  /** As one write. */
  private async append(letters: readonly Unwritten[]): Promise<void> {
    const { segment, offset } = await this.log.append(Buffer.concat(letters.map(({ block }) => block)))
    let at = offset
    for (const { id, tenantId, time, block } of letters) {
      this.index.set(id, { tenantId, time, segment, offset: at, bytes: block.length })
      at += block.length
    }
  }

  /** The last file that is to be written again; undefined where none is. */
  private async beginErasure(): Promise<number | undefined> {
    const last = this.log.segments.newest
    if (last === undefined || !this.isToErase) return undefined
    await this.log.openSegment()
    // What is removed from now on is for the next one.
    this.isToErase = false
    return last.id
  }

  /** A step of it, while the oldest file is one that is to be written again. */
  private async eraseSome(last: number): Promise<'again' | 'over' | 'stuck'> {
    const front = this.log.segments.oldest
    if (front === undefined || front.id > last) return 'over'
    let isDone = false
    try {
      isDone = !this.isClosed && (await this.giveUpSome(front))
    } finally {
      this.isToErase ||= !isDone
    }
    return isDone ? 'again' : 'stuck'
  }

  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.last.then(work, work)
    this.last = done
    return done
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
    const { segments } = this.log
    const last = segments.newest?.id ?? 0
    for (let front = segments.oldest; front !== undefined && front.id < last; front = segments.oldest)
      if (segments.bytes <= this.options.maxBytes || !(await this.giveUpSome(front))) return
  }

  /** Moves a part of the letters of the oldest file, or removes it where it holds none. False where the disk refuses that. */
  private async giveUpSome(front: SegmentFile): Promise<boolean> {
    if (await this.writeSomeAgain(front)) return true
    await this.removeEmptyFront()
    return this.log.segments.oldest !== front
  }

  /** About a write's worth of the letters of a file, behind all others. False where it holds none. One that can not be read any more is none. */
  private async writeSomeAgain(file: SegmentFile): Promise<boolean> {
    const letters: Unwritten[] = []
    let bytes = 0
    const all = this.index.in(file)
    for (const [id, place] of all) {
      if (bytes >= AGAIN_BYTES) break
      const record = await this.log.read(place)
      if (record === undefined) this.index.delete(id)
      else {
        letters.push({ ...place, id, block: record.block })
        bytes += record.block.length
      }
    }
    if (letters.length > 0) await this.append(letters)
    return all.length > 0
  }

  private async noteRemoved(ids: readonly number[]): Promise<void> {
    const block = new BlockWriter(1)
    block.removed(ids)
    this.isToErase = true
    await this.log.append(block.finish())
  }

  /** Removes front segments that hold no letter; a `removed` record there speaks of letters that are gone too. */
  private removeEmptyFront(): Promise<void> {
    return this.log.segments.remove((segment) => !this.index.holds(segment))
  }
}

/** The block of a letter. */
export function encodeLetter({ message, reason, attempts }: NewLetter, time: number): Buffer {
  const block = new BlockWriter(1)
  block.message(message)
  block.attempts(new Map([[message.sequence, attempts]]))
  block.deadLetter(reason, time)
  return block.finish()
}

/** The letter of a block's body; undefined where it holds none. Throws where the schema is not kept. */
export function decodeLetter(id: number, body: Buffer): DeadLetter | undefined {
  const { messages, reason, time, attempts } = decodeBlock(body, { entries: true })
  const message = messages[0]
  if (message === undefined) return undefined
  return { id, message, reason: reason ?? '', time, attempts: attempts[0]?.[1] ?? 0 }
}
