/**
 * Group commit in lanes: each has a connection, and an entity always the same lane, so that its points are stored in the order
 * of the calls. What arrives while a lane's transaction is in flight is its next one; a transaction is one round trip.
 */
import {
  resultOf,
  type PostgresConnection,
  type PostgresQuery,
  type PostgresResult,
} from '../../postgres/connection.ts'
import { PostgresErrors, postgresError } from '../../postgres/errors.ts'
import { TRANSACTION_ID } from '../../postgres/snapshot-reads.ts'
import { GroupCommit } from '../../group-commit.ts'
import type { CommitSequence, PointsWrite } from '../store.ts'
import { historyRows, upsertHistory, type HistoryRow } from './history-rows.ts'
import type { KeyDictionary } from './key-dictionary.ts'
import { latestRows, upsertLatest, type LatestRow } from './latest-rows.ts'
import type { Partitions } from './partitions.ts'

export interface WriterLimits {
  /** Points of a lane that wait; more is refused as retryable. */
  readonly maxPendingPoints: number
  readonly maxGroupPoints: number
}

/** A change that is not a write of points takes its turn among them. */
type Item =
  | { readonly kind: 'points'; readonly writes: readonly PointsWrite[] }
  | { readonly kind: 'change'; run(connection: PostgresConnection): Promise<CommitSequence> }

/** A text counts for as many points as its kibibytes, so that what waits is bounded in bytes too. */
const CHARACTERS_OF_A_POINT = 1024
const MAX_ATTEMPTS = 5

export class LaneWriter {
  private readonly lanes: readonly Lane[]

  constructor(
    connections: readonly PostgresConnection[],
    keys: KeyDictionary,
    partitions: Partitions,
    clock: { now(): number },
    limits: WriterLimits,
  ) {
    this.lanes = connections.map((connection) => new Lane(connection, keys, partitions, clock, limits))
  }

  /** Resolves with the highest of the commits' numbers; 0 where there was nothing to write. */
  async write(writes: readonly PointsWrite[]): Promise<CommitSequence> {
    const byLane = new Map<Lane, PointsWrite[]>()
    for (const write of writes) {
      if (write.points.length === 0 || !(write.history || write.latest)) continue
      const lane = this.laneOf(write.entityId)
      const ofLane = byLane.get(lane)
      if (ofLane === undefined) byLane.set(lane, [write])
      else ofLane.push(write)
    }
    const commits = await Promise.all([...byLane].map(([lane, ofLane]) => lane.write(ofLane)))
    return Math.max(0, ...commits)
  }

  /** Runs after everything that was written of the entity, before everything that will be. */
  change(entityId: string, run: (connection: PostgresConnection) => Promise<CommitSequence>): Promise<CommitSequence> {
    return this.laneOf(entityId).change(run)
  }

  /** Points that wait for their transaction. */
  get pendingPoints(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.pendingPoints, 0)
  }

  /** Transactions of points so far, refused ones too. */
  get groupsWritten(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.groupsWritten, 0)
  }

  async close(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.close()))
  }

  private laneOf(entityId: string): Lane {
    const lane = this.lanes[Number.parseInt(entityId.slice(-4), 16) % this.lanes.length]
    if (lane === undefined) throw new RangeError('There is no lane')
    return lane
  }
}

class Lane {
  private readonly connection: PostgresConnection
  private readonly keys: KeyDictionary
  private readonly partitions: Partitions
  private readonly clock: { now(): number }
  private readonly group: GroupCommit<Item, CommitSequence>

  constructor(
    connection: PostgresConnection,
    keys: KeyDictionary,
    partitions: Partitions,
    clock: { now(): number },
    limits: WriterLimits,
  ) {
    this.connection = connection
    this.keys = keys
    this.partitions = partitions
    this.clock = clock
    this.group = new GroupCommit({
      name: 'The time-series store',
      maxPending: limits.maxPendingPoints,
      maxGroup: limits.maxGroupPoints,
      write: (items) => this.writeGroup(items),
    })
  }

  get pendingPoints(): number {
    return this.group.pending
  }

  get groupsWritten(): number {
    return this.group.groupsWritten
  }

  write(writes: readonly PointsWrite[]): Promise<CommitSequence> {
    return this.group.add({ kind: 'points', writes }, weightOf(writes))
  }

  change(run: (connection: PostgresConnection) => Promise<CommitSequence>): Promise<CommitSequence> {
    return this.group.add({ kind: 'change', run })
  }

  async close(): Promise<void> {
    await this.group.close()
    await this.connection.close()
  }

  private async writeGroup(items: readonly Item[]): Promise<CommitSequence> {
    let commit = 0
    let writes: PointsWrite[] = []
    for (const item of items) {
      if (item.kind === 'points') {
        for (const write of item.writes) writes.push(write)
        continue
      }
      if (writes.length > 0) await this.store(writes)
      writes = []
      commit = await item.run(this.connection)
    }
    return writes.length > 0 ? this.store(writes) : commit
  }

  private async store(writes: readonly PointsWrite[]): Promise<CommitSequence> {
    const keys = new Set<string>()
    for (const { points } of writes) for (const { key } of points) keys.add(key)
    const numbers = await this.keys.numbersOf(keys)
    const history = historyRows(writes, numbers, this.clock.now())
    const latest = latestRows(writes, numbers)
    await this.partitions.ensure(timesOf(history))
    return transaction(this.connection, queriesOf(history, latest))
  }
}

function* timesOf(rows: readonly HistoryRow[]): Generator<number> {
  for (const row of rows) yield row.point.ts
}

function queriesOf(history: readonly HistoryRow[], latest: readonly LatestRow[]): PostgresQuery[] {
  return [...(history.length > 0 ? [upsertHistory(history)] : []), ...(latest.length > 0 ? [upsertLatest(latest)] : [])]
}

function weightOf(writes: readonly PointsWrite[]): number {
  let weight = 0
  for (const { points } of writes) {
    weight += points.length
    for (const { type, value } of points) {
      if ((type === 'STRING' || type === 'JSON') && value.length > CHARACTERS_OF_A_POINT) {
        weight += Math.floor(value.length / CHARACTERS_OF_A_POINT)
      }
    }
  }
  return weight
}

/**
 * All queries in one transaction and one round trip; tried again where it met another one. Where the connection breaks, nobody
 * knows whether it was committed: rejects as retryable, and the same again leaves what it would have left.
 */
export async function transaction(
  connection: PostgresConnection,
  queries: readonly PostgresQuery[],
): Promise<CommitSequence> {
  for (let attempt = 1; ; attempt++) {
    try {
      const outcomes = await connection.queries<{ id: number }>([
        { text: 'begin' },
        TRANSACTION_ID,
        ...queries,
        { text: 'commit' },
      ])
      return commitNumber(outcomes.map(resultOf))
    } catch (error) {
      const failure = postgresError(error)
      if (failure.code !== 'postgres.CONFLICT' || attempt === MAX_ATTEMPTS) throw failure
    }
  }
}

function commitNumber(results: readonly PostgresResult<{ id: number }>[]): CommitSequence {
  const id = results[1]?.rows[0]?.id
  if (results.at(-1)?.command !== 'COMMIT' || id === undefined) {
    throw PostgresErrors.FAILED({ reason: 'the transaction was not committed' })
  }
  return id
}
