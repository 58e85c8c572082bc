/**
 * Reads that say up to which commit they speak, for every process on the same server alike. Commits are numbered by their transaction
 * ids. A transaction that still runs may commit later under a number that was given before: so a read speaks up to the one
 * below the oldest that ran just before the rows were read. They may hold newer commits too; none that is missing is claimed.
 */
import { resultOf, type PostgresConnection, type PostgresQuery } from './connection.ts'
import { postgresError } from './errors.ts'

export interface SnapshotRead<Row> {
  readonly rows: readonly Row[]
  /** Every transaction up to this id has ended, and is in the rows where it was committed. */
  readonly sequence: number
}

interface WaitingRead {
  readonly query: PostgresQuery
  answer(read: SnapshotRead<unknown>): void
  reject(error: Error): void
}

/** Reads behind one snapshot: the rows of one must not keep the others waiting for long. */
const MAX_TOGETHER = 20

/**
 * The first number that a read behind this one does not speak for. Usually nothing else runs, and the snapshot alone tells. Else the
 * sessions are looked at, after the snapshot: what it saw running has ended, and is in the rows, or is still there. The snapshot's
 * own `xmin` would do but for the server's housekeeping, whose transactions change nothing of ours and may run for long. Ids of
 * sessions are the low 32 bits.
 */
export const SNAPSHOT: PostgresQuery = {
  name: 'snapshot',
  text: `with snapshot as materialized (
      select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin,
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xmax
    )
    select case when xmin = xmax then xmax else xmax - coalesce((
      select max(distance) from (
        select (xmax - backend_xid::text::bigint) & 4294967295 as distance from pg_stat_get_activity(null)
        where backend_xid is not null and backend_type = 'client backend'
          and datid = (select oid from pg_database where datname = current_database())
      ) running where distance < 2147483648
    ), 0) end as next from snapshot`,
}

/** The commit up to which what is read behind {@link SNAPSHOT} speaks; `rows` are its answer. */
export function sequenceOf(rows: readonly unknown[] | undefined): number {
  const [found] = (rows ?? []) as readonly { readonly next: number }[]
  return (found?.next ?? 1) - 1
}

/** The id of the running transaction, as a step of it: the number of its commit. */
export const TRANSACTION_ID: PostgresQuery = {
  name: 'transaction-id',
  text: 'select pg_current_xact_id()::text::bigint as id',
}

export class SnapshotReads {
  private readonly connections: readonly PostgresConnection[]
  private readonly scanning: readonly PostgresConnection[]
  /** Scans under way, by connection. */
  private readonly scans = new Map<PostgresConnection, number>()
  private waiting: WaitingRead[] = []

  /** Takes the connections over: they are closed with it. */
  constructor(connections: readonly PostgresConnection[]) {
    this.connections = connections
    this.scanning = connections.length > 1 ? connections.slice(1) : connections
  }

  /** Rejects with one of `PostgresErrors`. */
  read<Row>(query: PostgresQuery): Promise<SnapshotRead<Row>> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ query, answer: (read) => resolve(read as SnapshotRead<Row>), reject })
      if (this.waiting.length === 1) queueMicrotask(() => this.send())
    })
  }

  /**
   * A read that may be long, on its own: those of one turn run beside each other, and where there are several connections one is left to
   * other reads. Rejects with one of `PostgresErrors`.
   */
  async scan<Row>(query: PostgresQuery): Promise<readonly Row[]> {
    const connection = idlest(this.scanning)
    this.scans.set(connection, (this.scans.get(connection) ?? 0) + 1)
    try {
      return (await connection.query<Row>(query)).rows
    } catch (error) {
      throw postgresError(error)
    } finally {
      const left = (this.scans.get(connection) ?? 1) - 1
      if (left === 0) this.scans.delete(connection)
      else this.scans.set(connection, left)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()))
  }

  private send(): void {
    const reads = this.waiting
    this.waiting = []
    for (let start = 0; start < reads.length; start += MAX_TOGETHER) {
      void this.ask(reads.slice(start, start + MAX_TOGETHER))
    }
  }

  /** One scan takes longer than many reads: where it runs nothing queues, however few are before it there. */
  private idlestForReads(): PostgresConnection {
    const others = this.connections.filter((connection) => !this.scans.has(connection))
    return idlest(others.length > 0 ? others : this.connections)
  }

  private async ask(reads: readonly WaitingRead[]): Promise<void> {
    try {
      const queries = [SNAPSHOT, ...reads.map(({ query }) => query)]
      const [snapshot, ...outcomes] = await this.idlestForReads().queries<unknown>(queries)
      const sequence = sequenceOf(resultOf(snapshot).rows)
      for (const [index, read] of reads.entries()) {
        const outcome = outcomes[index]
        if (outcome === undefined || 'error' in outcome) read.reject(postgresError(outcome?.error))
        else read.answer({ rows: outcome.rows, sequence })
      }
    } catch (error) {
      for (const read of reads) read.reject(postgresError(error))
    }
  }
}

/** The connection with the fewest queries in front of the next one. */
export function idlest(connections: readonly PostgresConnection[]): PostgresConnection {
  let [best] = connections
  for (const connection of connections) {
    if (best === undefined || connection.unanswered < best.unanswered) best = connection
  }
  if (best === undefined) throw new RangeError('There is no connection')
  return best
}
