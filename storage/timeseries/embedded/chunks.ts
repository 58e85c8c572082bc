/** Packed chunks by their place: what is read is checked first, and what is damaged is named. */
import { crc32 } from 'node:zlib'
import { ByteCache } from '../../../model/byte-cache.ts'
import { errorText, isMillraceError, type MillraceError } from '../../../model/errors.ts'
import { Aggregate } from './aggregate.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import { ChunkCache } from './chunk-cache.ts'
import { decodeChunk, encodeChunk, type Columns } from './chunk-codec.ts'
import type { ChunkDatabase, ChunkRow } from './database.ts'
import { EmbeddedErrors } from './errors.ts'
import type { StoredPoint } from './point.ts'
import type { Series } from './series.ts'

/** Points of a full chunk. */
export const CHUNK_POINTS = 1024
/** Characters of text in a chunk: with more it ends before it is full, so that reading one takes little memory. */
const CHUNK_CHARACTERS = 1 << 20
/** A thousand full chunks of numbers. */
const CACHED_BYTES = 16 * 2 ** 20
/** Of some 25 million points. */
const CACHED_SUMMARY_BYTES = 8 * 2 ** 20
/** What a summary takes, about. */
const SUMMARY_BYTES = 256

/** What is known of a chunk's points without reading them. */
export interface ChunkSummary {
  readonly aggregate: Aggregate
  /** When the first of its points expires; 0 for never. */
  readonly firstExpiry: number
}

export class Chunks {
  private readonly database: ChunkDatabase
  private readonly damaged = new Map<number, ChunkRow[]>()
  /** Numbers of those that are set aside, and of those that only a read has met. */
  private readonly met = new Set<number>()
  private readonly cache = new ChunkCache(CACHED_BYTES)
  private readonly summaries = new ByteCache<ChunkSummary>({
    maxBytes: CACHED_SUMMARY_BYTES,
    sizeOf: () => SUMMARY_BYTES,
  })

  constructor(database: ChunkDatabase) {
    this.database = database
    for (const range of database.damaged()) this.noteDamaged(range)
  }

  get damagedChunks(): number {
    return this.met.size
  }

  /** Stores ascending points as full chunks of even size. */
  put(series: Series, points: readonly StoredPoint[]): void {
    const parts = Math.ceil(points.length / CHUNK_POINTS)
    for (let part = 0; part < parts; part++) {
      const from = Math.floor((part * points.length) / parts)
      const to = Math.floor(((part + 1) * points.length) / parts)
      for (const piece of piecesOf(points.slice(from, to))) this.putOne(series, piece)
    }
  }

  rows(series: Series, low: number, high: number, order: 'ASC' | 'DESC'): Iterable<ChunkRow> {
    return series.id === 0 ? [] : this.database.chunks(series.id, low, high, order)
  }

  /** Throws CHUNK_DAMAGED. */
  read(series: Series, row: ChunkRow): Columns {
    const known = this.cache.get(row.chunk)
    if (known !== undefined) return known
    const data = this.database.chunkData(row.chunk)
    if (data === undefined) throw this.damage(series, row, 'the chunk is missing')
    try {
      const columns = decodeChunk(data, seedOf(row))
      this.cache.add(row.chunk, columns)
      return columns
    } catch (error) {
      throw this.damage(series, row, errorText(error), error)
    }
  }

  /** Throws CHUNK_DAMAGED. */
  summary(series: Series, row: ChunkRow): ChunkSummary {
    const number = String(row.chunk)
    const known = this.summaries.get(number)
    if (known !== undefined) return known
    const summary = this.readSummary(series, row)
    this.summaries.set(number, summary)
    return summary
  }

  private readSummary(series: Series, row: ChunkRow): ChunkSummary {
    const stored = this.database.summary(row) ?? new Uint8Array(0)
    const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
    const end = bytes.length - 4
    if (end < 0 || bytes.readUInt32LE(end) !== crc32(bytes.subarray(0, end), crc32(seedOf(row)))) {
      throw this.damage(series, row, 'checksum mismatch in the index')
    }
    const reader = new ByteReader(bytes)
    return { firstExpiry: reader.signed(), aggregate: Aggregate.decode(reader) }
  }

  remove(row: ChunkRow): void {
    this.met.delete(row.chunk)
    this.cache.remove(row.chunk)
    this.summaries.delete(String(row.chunk))
    this.database.removeChunk(row)
  }

  /** The error of a chunk in [low, high] that was found damaged before and set aside; undefined where there is none. */
  damageIn(series: Series, low: number, high: number): MillraceError | undefined {
    if (this.damaged.size === 0 || series.id === 0) return undefined
    const found = this.damaged.get(series.id)?.find((range) => range.startTs <= high && range.endTs >= low)
    return found && this.damage(series, found, 'found damaged before')
  }

  /** Takes a damaged chunk out of the way of writes. Reads of its range go on to fail with its name. */
  setAside(row: ChunkRow): void {
    this.database.setAside(row)
    this.noteDamaged(row)
  }

  /** Forgets damaged chunks that lie wholly in [low, high]: what was in them is deleted. */
  forgetDamaged(series: Series, low: number, high: number): void {
    const ranges = this.damaged.get(series.id)
    if (ranges === undefined) return
    const kept = ranges.filter((range) => range.startTs < low || range.endTs > high)
    for (const range of ranges) {
      if (kept.includes(range)) continue
      this.database.removeDamaged(range.chunk)
      this.met.delete(range.chunk)
    }
    if (kept.length > 0) this.damaged.set(series.id, kept)
    else this.damaged.delete(series.id)
  }

  private putOne(series: Series, points: readonly StoredPoint[]): void {
    const first = points[0]
    const last = points[points.length - 1]
    if (first === undefined || last === undefined) return
    const place = { series: series.id, startTs: first.ts, endTs: last.ts, chunk: this.database.takeChunkNumber() }
    const seed = seedOf(place)
    const expiry = expiryOf(points)
    const summary = summaryOf(points, expiry.first, seed)
    this.database.addChunk(place, summary, encodeChunk(points, seed), expiry.all === 0 ? null : expiry.all)
  }

  private noteDamaged(range: ChunkRow): void {
    this.met.add(range.chunk)
    const ranges = this.damaged.get(range.series)
    if (ranges === undefined) this.damaged.set(range.series, [range])
    else if (!ranges.some((known) => known.chunk === range.chunk)) ranges.push(range)
  }

  private damage(series: Series, row: ChunkRow, reason: string, cause?: unknown): MillraceError {
    this.met.add(row.chunk)
    return EmbeddedErrors.CHUNK_DAMAGED(
      {
        file: this.database.path,
        chunk: row.chunk,
        entityId: series.entity.name,
        key: series.key,
        startTs: row.startTs,
        endTs: row.endTs,
        reason,
      },
      cause,
    )
  }
}

/** The points in pieces of at most so many characters of text, or of one point that alone has more. */
function piecesOf(points: readonly StoredPoint[]): readonly (readonly StoredPoint[])[] {
  const pieces: (readonly StoredPoint[])[] = []
  let from = 0
  let characters = 0
  for (const [index, { value }] of points.entries()) {
    if (typeof value !== 'string') continue
    if (characters + value.length > CHUNK_CHARACTERS && index > from) {
      pieces.push(points.slice(from, index))
      from = index
      characters = 0
    }
    characters += value.length
  }
  pieces.push(from === 0 ? points : points.slice(from))
  return pieces
}

export function isDamage(error: unknown): boolean {
  return isMillraceError(error) && error.code === 'timeseries.CHUNK_DAMAGED'
}

function seedOf(row: ChunkRow): string {
  return `${row.series}/${row.startTs}/${row.endTs}/${row.chunk}`
}

/** When the first point expires and when all have; 0 for never. */
function expiryOf(points: readonly StoredPoint[]): { readonly first: number; readonly all: number } {
  let first = 0
  let all = 0
  let forever = false
  for (const { expiresAt } of points) {
    if (expiresAt === 0) forever = true
    else {
      if (first === 0 || expiresAt < first) first = expiresAt
      if (expiresAt > all) all = expiresAt
    }
  }
  return { first, all: forever ? 0 : all }
}

function summaryOf(points: readonly StoredPoint[], firstExpiry: number, seed: string): Buffer {
  const aggregate = new Aggregate()
  for (const point of points) aggregate.add(point.type, point.value)
  const writer = new ByteWriter(96)
  writer.signed(firstExpiry)
  aggregate.encode(writer)
  writer.u32(crc32(writer.view(), crc32(seed)))
  return writer.copy()
}
