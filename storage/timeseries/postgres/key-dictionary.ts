/**
 * Numbers for keys (`rule-engine.md` 10.1): rows hold four bytes instead of a text. A key is found by its SHA-256, as an index
 * takes no long text. A key's number is committed before any row names it and never changes, so it may be kept in memory.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { byteaArray, textArray } from '../../postgres/binary-array.ts'
import { resultOf, type PostgresConnection, type PostgresQuery } from '../../postgres/connection.ts'
import type { Component } from '../../postgres/migrations.ts'

export const KEY_DICTIONARY: Component = {
  name: 'key-dictionary',
  migrations: [
    {
      version: 1,
      statements: [
        `create table key_dictionary (key_id integer generated always as identity primary key,
          hash bytea not null unique, key text not null)`,
      ],
    },
  ],
}

/** Of the keys in memory; those not used for longest go first. */
const MAX_BYTES = 16 * 2 ** 20
/** Of a key beside its characters. */
const ENTRY_BYTES = 100

export interface KeysInMemory {
  has(key: string): boolean
  get(key: string): number | undefined
}

interface KeyRow {
  readonly key_id: number
  readonly key: string
}

export class KeyDictionary {
  private readonly connection: PostgresConnection
  private readonly kept: LRUCache<string, number>

  constructor(connection: PostgresConnection, maxBytes = MAX_BYTES) {
    this.connection = connection
    this.kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (_number, key) => ENTRY_BYTES + 2 * key.length,
    })
  }

  /** Of the keys in memory. */
  get bytes(): number {
    return this.kept.calculatedSize
  }

  /** Numbers of these keys; those without one get one. Rejects with one of `PostgresErrors`. */
  async numbersOf(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    return this.resolve(keys, true)
  }

  /** Numbers of those keys that have one: the others have no points. */
  async find(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    return this.resolve(keys, false)
  }

  /**
   * The same where all are in memory. A key that is not may get its number while it is looked for: who says up to which commit a read speaks
   * asks for that commit before {@link find}.
   */
  known(keys: readonly string[]): ReadonlyMap<string, number> | undefined {
    const found = new Map<string, number>()
    for (const key of keys) {
      const number = this.kept.get(key)
      if (number === undefined) return undefined
      found.set(key, number)
    }
    return found
  }

  get inMemory(): KeysInMemory {
    return this.kept
  }

  private async resolve(keys: ReadonlySet<string>, create: boolean): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>()
    const unknown: string[] = []
    for (const key of keys) {
      const number = this.kept.get(key)
      if (number === undefined) unknown.push(key)
      else found.set(key, number)
    }
    if (unknown.length > 0) for (const row of await this.rows(unknown, create)) found.set(row.key, this.keep(row))
    return found
  }

  private async rows(keys: readonly string[], create: boolean): Promise<readonly KeyRow[]> {
    const stored = await this.ask(selectOf(keys))
    if (!create || stored.length === keys.length) return stored
    const seen = new Set(stored.map((row) => row.key))
    const absent = keys.filter((key) => !seen.has(key))
    const [inserted, others] = await this.connection.queries<KeyRow>([insertOf(absent), selectOf(absent)])
    resultOf(inserted)
    return [...stored, ...resultOf(others).rows]
  }

  private async ask(query: PostgresQuery): Promise<readonly KeyRow[]> {
    return (await this.connection.query<KeyRow>(query)).rows
  }

  private keep({ key, key_id }: KeyRow): number {
    this.kept.set(key, key_id)
    return key_id
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf16le').digest()
}

function selectOf(keys: readonly string[]): PostgresQuery {
  return {
    name: 'keys-select',
    text: 'select key_id, key from key_dictionary where hash = any($1::bytea[])',
    parameters: [byteaArray(keys.map(hashOf))],
  }
}

/** Sorted, so that two who insert the same keys do not wait for each other in a circle. */
function insertOf(keys: readonly string[]): PostgresQuery {
  const rows = keys.map((key) => ({ key, hash: hashOf(key) })).sort((a, b) => Buffer.compare(a.hash, b.hash))
  return {
    name: 'keys-insert',
    text: `insert into key_dictionary (hash, key) select * from unnest($1::bytea[], $2::text[])
      on conflict (hash) do nothing`,
    parameters: [byteaArray(rows.map(({ hash }) => hash)), textArray(rows.map(({ key }) => key))],
  }
}
