/**
 * Stores one group: rows to QuestDB and latest values to PostgreSQL at the same time, acknowledged when both are durable. Where QuestDB
 * refuses the lines, the group is halved until only the culprit is left: it is its writer's error and nobody else's.
 */
import type { Clock } from '../../../model/clock.ts'
import { isMillraceError, type MillraceError } from '../../../model/errors.ts'
import type { LatestValues } from '../latest-values.ts'
import type { CommitSequence, PointsWrite } from '../store.ts'
import type { AppliedWrites } from './applied.ts'
import { LineWriter } from './line-writer.ts'
import type { PostgresCompanion } from './postgres-companion.ts'
import { isInRange, RowEncoder, type LineSettings } from './rows.ts'
import type { QuestDbServer } from './server.ts'

export interface GroupWriterOptions {
  readonly server: QuestDbServer
  readonly companion: PostgresCompanion
  readonly applied: AppliedWrites
  readonly latest: LatestValues
  readonly clock: Clock
  readonly table: string
}

export interface Group {
  readonly sequence: CommitSequence
  /** Calls whose points were refused; absent where none was. */
  readonly refused: ReadonlyMap<Call, MillraceError> | undefined
}

type Writes = readonly PointsWrite[]

/** One call of the store's `write`. */
export interface Call {
  readonly writes: Writes
  /** Made when it came, so that a group costs no long turn; absent where a key was not known then. */
  readonly lines: Uint8Array | undefined
  /** The version that the lines carry. */
  readonly version: number
}

export class GroupWriter {
  private readonly options: GroupWriterOptions
  private readonly encoder: RowEncoder
  private readonly lines = new LineWriter()
  /** The version that the last group found: rarely another, so lines are made while it is asked for. */
  private version = 0
  private rowCount = 0
  private refusedCount = 0

  constructor(options: GroupWriterOptions) {
    this.options = options
    this.encoder = new RowEncoder(options.table)
  }

  get rows(): number {
    return this.rowCount
  }

  get refused(): number {
    return this.refusedCount
  }

  /** What is to be given to {@link write}. */
  prepare(writes: Writes): Call {
    const { companion, clock } = this.options
    const { version } = this
    const keys = companion.keysInMemory
    const isKnown = writes.every(({ history, points }) => !history || points.every(({ key }) => keys.has(key)))
    const lines = isKnown ? this.encode(writes, { keys, version, now: clock.now() }) : undefined
    return { writes, lines, version }
  }

  async write(calls: readonly Call[]): Promise<Group> {
    const { applied, companion, latest, clock } = this.options
    applied.assertWritable()
    const now = clock.now()
    const writes = calls.flatMap((call) => call.writes)
    // Known to this process after their first use: no question is asked then.
    const keys = await companion.numbersOf(keysOf(writes))
    const begun = companion.begin(writes, now)
    // While that is under way.
    const assumed = { keys, version: this.version, now }
    const stored = latest.write(writes)
    const early = this.linesOf(calls, assumed)
    const outcome = await Promise.allSettled([this.send(calls, early, begun, assumed), stored])
    for (const part of outcome) if (part.status === 'rejected') throw part.reason
    const [sent] = outcome
    const refused = sent.status === 'fulfilled' ? sent.value : undefined
    return { sequence: await companion.commit(), refused }
  }

  private async send(
    calls: readonly Call[],
    early: Uint8Array,
    begun: Promise<number>,
    assumed: LineSettings,
  ): Promise<Group['refused']> {
    this.version = await begun
    const settings = { ...assumed, version: this.version }
    const lines = this.version === assumed.version ? early : this.linesOf(calls, settings)
    if (lines.length === 0) return undefined
    try {
      await this.options.server.write(lines)
      this.rowCount += countRows(calls)
      return undefined
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) throw error
      const refused = new Map<Call, MillraceError>()
      await this.isolate(calls, settings, refusal, refused)
      this.refusedCount += refused.size
      return refused
    }
  }

  /** `calls` were refused together: finds out which of them are why, and stores the others. */
  private async isolate(
    calls: readonly Call[],
    settings: LineSettings,
    refusal: MillraceError,
    refused: Map<Call, MillraceError>,
  ): Promise<void> {
    const [only] = calls
    if (only === undefined) return
    if (calls.length === 1) {
      refused.set(only, refusal)
      return
    }
    const middle = calls.length >>> 1
    // One after the other: of two points of one identity the later must be stored last.
    for (const half of [calls.slice(0, middle), calls.slice(middle)]) {
      const lines = this.linesOf(half, settings)
      if (lines.length === 0) continue
      try {
        await this.options.server.write(lines)
        this.rowCount += countRows(half)
      } catch (error) {
        const again = refusalOf(error)
        if (again === undefined) throw error
        await this.isolate(half, settings, again, refused)
      }
    }
  }

  private linesOf(calls: readonly Call[], settings: LineSettings): Uint8Array {
    const pieces = calls.map(({ lines, version, writes }) =>
      lines !== undefined && version === settings.version ? lines : this.encode(writes, settings),
    )
    const [only] = pieces
    return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
  }

  private encode(writes: Writes, settings: LineSettings): Uint8Array {
    this.lines.reset()
    for (const write of writes) if (write.history) this.encoder.append(this.lines, write, settings)
    return this.lines.copy()
  }
}

function keysOf(writes: Writes): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const { history, points } of writes) if (history) for (const { key } of points) keys.add(key)
  return keys
}

function countRows(calls: readonly Call[]): number {
  let count = 0
  for (const call of calls) {
    for (const { history, points } of call.writes) {
      if (history) for (const { ts } of points) if (isInRange(ts)) count++
    }
  }
  return count
}

function refusalOf(error: unknown): MillraceError | undefined {
  return isMillraceError(error) && error.kind === 'invalid' ? error : undefined
}
