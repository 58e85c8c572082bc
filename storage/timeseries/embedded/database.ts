/** The SQLite file with the packed chunks, the dictionaries of entities and keys, and the latest values. One connection, one thread. */
import { join } from 'node:path'
import { backup, DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { errorText } from '../../../model/errors.ts'
import { EmbeddedErrors } from './errors.ts'
import { LATEST_HEAD_BYTES, LONG_LATEST_BYTES } from './series.ts'

const FORMAT = 1
export const CHUNKS_FILE = 'chunks.sqlite'

/** One packed chunk as its index knows it. The chunks of a series never overlap in time. */
export interface ChunkRow {
  readonly series: number
  readonly startTs: number
  /** Inclusive. */
  readonly endTs: number
  readonly chunk: number
}

export interface SeriesRow {
  readonly series: number
  readonly key: string
  /** Of a long one the first bytes alone: `isHead`. */
  readonly latest: Uint8Array | null
  readonly isHead: boolean
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entity (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS key (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS series (
    id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, key INTEGER NOT NULL, latest BLOB, UNIQUE (entity, key));
  CREATE TABLE IF NOT EXISTS chunk (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS chunk_index (
    series INTEGER NOT NULL, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, chunk INTEGER NOT NULL,
    expires_at INTEGER, summary BLOB NOT NULL, PRIMARY KEY (series, start_ts)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS chunk_expiry ON chunk_index (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS damaged_chunk (
    chunk INTEGER PRIMARY KEY, series INTEGER NOT NULL, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
`

const PLACE = 'series, start_ts, end_ts, chunk'

const STATEMENTS = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  entityOf: 'SELECT id FROM entity WHERE name = ?',
  addEntity: 'INSERT INTO entity (name) VALUES (?)',
  removeEntity: 'DELETE FROM entity WHERE id = ?',
  keyOf: 'SELECT id FROM key WHERE name = ?',
  addKey: 'INSERT INTO key (name) VALUES (?)',
  seriesOf: `SELECT series.id AS series, key.name AS key, coalesce(length(series.latest), 0) > ${LONG_LATEST_BYTES} AS isHead,
     CASE WHEN length(series.latest) > ${LONG_LATEST_BYTES} THEN substr(series.latest, 1, ${LATEST_HEAD_BYTES}) ELSE series.latest END AS latest
     FROM series JOIN key ON key.id = series.key WHERE series.entity = ?`,
  latestOf: 'SELECT latest FROM series WHERE id = ?',
  addSeries: 'INSERT INTO series (entity, key) VALUES (?, ?)',
  removeSeries: 'DELETE FROM series WHERE entity = ?',
  setLatest: 'UPDATE series SET latest = ? WHERE id = ?',
  descending: `SELECT ${PLACE} FROM chunk_index WHERE series = ? AND start_ts <= ? ORDER BY start_ts DESC LIMIT ?`,
  ascending: `SELECT ${PLACE} FROM chunk_index WHERE series = ? AND start_ts >= ? ORDER BY start_ts LIMIT ?`,
  summaryOf: 'SELECT summary FROM chunk_index WHERE series = ? AND start_ts = ?',
  startAtOrBefore: 'SELECT max(start_ts) AS start_ts FROM chunk_index WHERE series = ? AND start_ts <= ?',
  expired: `SELECT ${PLACE} FROM chunk_index WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?`,
  addIndex: 'INSERT INTO chunk_index (series, start_ts, end_ts, chunk, expires_at, summary) VALUES (?, ?, ?, ?, ?, ?)',
  removeIndex: 'DELETE FROM chunk_index WHERE series = ? AND start_ts = ?',
  addChunk: 'INSERT INTO chunk (id, data) VALUES (?, ?)',
  removeChunk: 'DELETE FROM chunk WHERE id = ?',
  chunkOf: 'SELECT data FROM chunk WHERE id = ?',
  lastChunk: 'SELECT max(id) AS id FROM chunk',
  addDamaged: 'INSERT OR REPLACE INTO damaged_chunk (chunk, series, start_ts, end_ts) VALUES (?, ?, ?, ?)',
  damaged: 'SELECT chunk, series, start_ts, end_ts FROM damaged_chunk',
  removeDamaged: 'DELETE FROM damaged_chunk WHERE chunk = ?',
  setSetting: 'INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)',
  setting: 'SELECT value FROM setting WHERE name = ?',
  checkpoint: 'PRAGMA wal_checkpoint(PASSIVE)',
  truncate: 'PRAGMA wal_checkpoint(TRUNCATE)',
  pages: 'PRAGMA page_count',
} as const

type StatementName = keyof typeof STATEMENTS
type Row = Readonly<Record<string, SQLOutputValue>>
type Bound = string | number | Uint8Array | null

/** Many reads want the newest chunk alone. */
const FIRST_ROWS = 8
const MAX_ROWS = 256
const PAGE_BYTES = 16_384
/** Of a copy: how long a statement may wait for it. */
const PAGES_AT_ONCE = 64
/** What SQLite's own log is cut to after a checkpoint. */
const WAL_BYTES = 8 * 2 ** 20

export class ChunkDatabase {
  readonly path: string
  private readonly database: DatabaseSync
  private readonly prepared = new Map<StatementName, StatementSync>()
  private nextChunk: number
  private open = true

  /** Opens or creates the file, which never grows beyond `maxBytes`. Throws IN_USE, FORMAT_UNKNOWN, DATABASE_DAMAGED. */
  constructor(directory: string, maxBytes = Infinity) {
    this.path = join(directory, CHUNKS_FILE)
    this.database = new DatabaseSync(this.path)
    try {
      this.nextChunk = this.guarded(() => {
        this.database
          .exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;
          PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000; PRAGMA wal_autocheckpoint = 512;
          PRAGMA journal_size_limit = ${WAL_BYTES};
          PRAGMA secure_delete = ON`)
        this.migrate()
        if (maxBytes < Infinity) this.database.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)}`)
        return numberIn(this.one('lastChunk'), 'id') + 1
      })
    } catch (error) {
      this.database.close()
      throw error instanceof Error && /database is locked/.test(error.message)
        ? EmbeddedErrors.IN_USE({ directory }, error)
        : error
    }
  }

  /** Runs `work` in one transaction: all of it or nothing. */
  transaction<Result>(work: () => Result): Result {
    return this.guarded(() => {
      this.run('begin')
      try {
        const result = work()
        this.run('commit')
        return result
      } catch (error) {
        // SQLite has rolled back by itself after some errors (full disk, I/O).
        if (this.database.isTransaction) this.run('rollback')
        throw error
      }
    })
  }

  /** The series of an entity with their latest values; undefined for an entity that was never stored. */
  entity(name: string): { readonly id: number; readonly series: readonly SeriesRow[] } | undefined {
    return this.guarded(() => {
      const found = this.one('entityOf', name)
      if (found === undefined) return undefined
      const id = numberIn(found, 'id')
      const series = this.all('seriesOf', id).map((row) => ({
        series: numberIn(row, 'series'),
        key: textIn(row, 'key'),
        latest: row['latest'] === null ? null : bytesIn(row, 'latest'),
        isHead: numberIn(row, 'isHead') === 1,
      }))
      return { id, series }
    })
  }

  addEntity(name: string): number {
    return this.run('addEntity', name)
  }

  addSeries(entity: number, key: string): number {
    const known = this.one('keyOf', key)
    const keyId = known === undefined ? this.run('addKey', key) : numberIn(known, 'id')
    return this.run('addSeries', entity, keyId)
  }

  /** The whole of a latest value; undefined where there is none. */
  latest(series: number): Uint8Array | undefined {
    return this.guarded(() => {
      const row = this.one('latestOf', series)
      return row === undefined || row['latest'] === null ? undefined : bytesIn(row, 'latest')
    })
  }

  setLatest(series: number, latest: Uint8Array | null): void {
    this.run('setLatest', latest, series)
  }

  removeEntity(entity: number): void {
    this.run('removeSeries', entity)
    this.run('removeEntity', entity)
  }

  /**
   * Chunks that touch [low, high], both inclusive; latest first, or earliest first. Read as they are needed, by batches: SQLite hands over rows one
   * by one at three times the cost (`benchmarks/query`).
   */
  *chunks(series: number, low: number, high: number, order: 'ASC' | 'DESC'): Generator<ChunkRow> {
    const isDescending = order === 'DESC'
    let from = isDescending ? high : this.startOf(series, low)
    for (let most = FIRST_ROWS; ; most = MAX_ROWS) {
      const rows = this.all(isDescending ? 'descending' : 'ascending', series, from, most)
      for (const row of rows) {
        const chunk = chunkRow(row)
        if (isDescending ? chunk.endTs < low : chunk.startTs > high) return
        if (chunk.endTs >= low) yield chunk
        from = isDescending ? chunk.startTs - 1 : chunk.startTs + 1
      }
      if (rows.length < most) return
    }
  }

  /** Where the chunk begins in which the time may lie. */
  private startOf(series: number, ts: number): number {
    const first = this.one('startAtOrBefore', series, ts)?.['start_ts']
    return typeof first === 'number' ? first : ts
  }

  /** The encoded summary with its checksum; undefined where the chunk has no place in the index. */
  summary({ series, startTs }: ChunkRow): Uint8Array | undefined {
    return this.guarded(() => {
      const row = this.one('summaryOf', series, startTs)
      return row === undefined ? undefined : bytesIn(row, 'summary')
    })
  }

  expired(now: number, limit: number): ChunkRow[] {
    return this.all('expired', now, limit).map(chunkRow)
  }

  /** The number that the next chunk will have: its checksums are bound to it. */
  takeChunkNumber(): number {
    return this.nextChunk++
  }

  addChunk(row: ChunkRow, summary: Uint8Array, data: Uint8Array, expiresAt: number | null): void {
    this.run('addChunk', row.chunk, data)
    this.run('addIndex', row.series, row.startTs, row.endTs, row.chunk, expiresAt, summary)
  }

  /** Undefined where the chunk is missing. */
  chunkData(chunk: number): Uint8Array | undefined {
    return this.guarded(() => {
      const row = this.one('chunkOf', chunk)
      return row === undefined ? undefined : bytesIn(row, 'data')
    })
  }

  removeChunk(row: ChunkRow): void {
    this.run('removeIndex', row.series, row.startTs)
    this.run('removeChunk', row.chunk)
  }

  /** Takes a damaged chunk out of the index, so that its range can be written again, and keeps its place on record. */
  setAside(row: ChunkRow): void {
    this.run('removeIndex', row.series, row.startTs)
    this.run('addDamaged', row.chunk, row.series, row.startTs, row.endTs)
  }

  damaged(): ChunkRow[] {
    return this.all('damaged').map(chunkRow)
  }

  removeDamaged(chunk: number): void {
    this.run('removeDamaged', chunk)
    this.run('removeChunk', chunk)
  }

  setting(name: string): number {
    const row = this.one('setting', name)
    return row === undefined ? 0 : numberIn(row, 'value')
  }

  setSetting(name: string, value: number): void {
    this.run('setSetting', name, value)
  }

  /** Syncs what is committed to the disk; false where something of it must wait. `truncate` empties SQLite's own log too. */
  checkpoint(truncate = false): boolean {
    return this.guarded(() => {
      const row = this.one(truncate ? 'truncate' : 'checkpoint')
      return row !== undefined && numberIn(row, 'busy') === 0 && row['log'] === row['checkpointed']
    })
  }

  /** Copies to a file that is not there yet, beside what runs here meanwhile: the copy is as of the moment in which it resolves. Not synced. */
  async copyTo(file: string): Promise<void> {
    try {
      await backup(this.database, file, { rate: PAGES_AT_ONCE })
    } catch (error) {
      throw databaseError(file, error)
    }
  }

  get bytes(): number {
    const row = this.one('pages')
    return row === undefined ? 0 : numberIn(row, 'page_count') * PAGE_BYTES
  }

  /** Idempotent. */
  close(): void {
    if (!this.open) return
    this.open = false
    this.prepared.clear()
    this.database.close()
  }

  /** Gives SQLite's own errors their place in the project's table. */
  guarded<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw databaseError(this.path, error)
    }
  }

  private migrate(): void {
    const found = numberIn(this.database.prepare('PRAGMA user_version').get(), 'user_version')
    if (found > FORMAT) throw EmbeddedErrors.FORMAT_UNKNOWN({ file: this.path, found, known: FORMAT })
    if (found < FORMAT) this.database.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${FORMAT}; COMMIT`)
  }

  private statement(name: StatementName): StatementSync {
    let statement = this.prepared.get(name)
    if (statement === undefined) this.prepared.set(name, (statement = this.database.prepare(STATEMENTS[name])))
    return statement
  }

  private run(name: StatementName, ...values: Bound[]): number {
    return Number(this.statement(name).run(...values).lastInsertRowid)
  }

  private one(name: StatementName, ...values: Bound[]): Row | undefined {
    return this.statement(name).get(...values)
  }

  private all(name: StatementName, ...values: Bound[]): Row[] {
    return this.statement(name).all(...values)
  }
}

const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOT_A_DATABASE = 26

function databaseError(file: string, error: unknown): unknown {
  const result =
    error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0
  if (result === SQLITE_CORRUPT || result === SQLITE_NOT_A_DATABASE) {
    return EmbeddedErrors.DATABASE_DAMAGED({ file, reason: errorText(error) }, error)
  }
  return result === SQLITE_FULL ? EmbeddedErrors.DISK_FULL({ file }, error) : error
}

function chunkRow(row: Row): ChunkRow {
  return {
    series: numberIn(row, 'series'),
    startTs: numberIn(row, 'start_ts'),
    endTs: numberIn(row, 'end_ts'),
    chunk: numberIn(row, 'chunk'),
  }
}

function numberIn(row: Row | undefined, column: string): number {
  const value = row?.[column]
  return typeof value === 'number' ? value : 0
}

function textIn(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string' ? value : ''
}

function bytesIn(row: Row, column: string): Uint8Array {
  const value = row[column]
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}
