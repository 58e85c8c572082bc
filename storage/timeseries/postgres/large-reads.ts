/**
 * Reads of many rows or long texts, batch by batch through a cursor: what is in memory is the answer so far and one batch. Each takes
 * its turn on one of few connections, so that any number of them at once hold no more than these.
 */
import {
  resultOf,
  type PostgresConnection,
  type PostgresQuery,
  type PostgresResult,
} from '../../postgres/connection.ts'
import { SNAPSHOT, sequenceOf } from '../../postgres/snapshot-reads.ts'
import type { CommitSequence } from '../store.ts'

const ROWS_OF_A_BATCH = 1_000
const FETCH: PostgresQuery = { text: `fetch forward ${ROWS_OF_A_BATCH} from batches` }

export class LargeReads {
  private readonly connections: readonly PostgresConnection[]
  private readonly free: PostgresConnection[]
  private readonly waiting: ((connection: PostgresConnection) => void)[] = []

  /** Takes the connections over: they are closed with it. */
  constructor(connections: readonly PostgresConnection[]) {
    this.connections = connections
    this.free = [...connections]
  }

  /**
   * Resolves with the commit up to which the rows speak. What `take` throws ends the read. Rejects with that, or one of
   * `PostgresErrors`.
   */
  async read<Row>(query: PostgresQuery, take: (rows: readonly Row[]) => void): Promise<CommitSequence> {
    const connection = this.free.pop() ?? (await new Promise<PostgresConnection>((turn) => this.waiting.push(turn)))
    try {
      return await readAll(connection, query, take)
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free.push(connection)
      else next(connection)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()))
  }
}

async function readAll<Row>(
  connection: PostgresConnection,
  { text, parameters = [] }: PostgresQuery,
  take: (rows: readonly Row[]) => void,
): Promise<CommitSequence> {
  const cursor: PostgresQuery = { text: `declare batches no scroll cursor for ${text}`, parameters }
  try {
    const outcomes = await connection.queries<unknown>([{ text: 'begin read only' }, SNAPSHOT, cursor, FETCH])
    const [, snapshot, , first] = outcomes.map(resultOf)
    const sequence = sequenceOf(snapshot?.rows)
    let batch = first as PostgresResult<Row> | undefined
    while (batch !== undefined && batch.rows.length > 0) {
      take(batch.rows)
      if (batch.rows.length < ROWS_OF_A_BATCH) break
      batch = await connection.query<Row>(FETCH)
    }
    await connection.query({ text: 'commit' })
    return sequence
  } catch (error) {
    // Where the connection is lost, so is the transaction.
    await connection.query({ text: 'rollback' }).catch(() => undefined)
    throw error
  }
}
