/**
 * The entity database that all processes of a cluster share, SQLite in memory: slow by seed; a commit may fail, may be made though its
 * answer is lost, or may be made only a while after that.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { CompiledQuery, Kysely } from 'kysely'
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import {
  sqlValue,
  type EntityDatabase,
  type Read,
  type Statement,
  type Written,
} from '../../storage/entities/database.ts'
import { queryBuilder, SQLITE } from '../../storage/entities/dialect.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { Schema } from '../../storage/entities/schema.ts'
import { GroupCommit } from '../../storage/group-commit.ts'
import type { RunClock } from './run-clock.ts'

const LATE_MS = 3000
const CLAIM_MS = 10_000

export class SimulatedDatabase {
  /** Probabilities: nothing is done, the answer is lost, the answer is lost and the commit comes late. */
  readonly faults = { fails: 0, losesAnswer: 0, isLate: 0, maxLatencyMs: 3 }
  /** Told of each commit before anything else happens. */
  onCommit: (statements: readonly Statement[]) => void = () => undefined
  private readonly database = new DatabaseSync(':memory:')
  private readonly clock: Clock
  private readonly random: SeededRandom

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
    this.database.exec('pragma foreign_keys = on')
  }

  /** PostgreSQL's table has it: whose an entry of the outbox is, until then. */
  addClaims(): void {
    this.database.exec('alter table outbox add column claimed_until integer not null default 0')
    this.database.function('claim_start', () => this.clock.now() + CLAIM_MS)
    this.database.exec(`create trigger claim after insert on outbox begin
      update outbox set claimed_until = claim_start() where id = new.id; end`)
  }

  /** As a process with this clock sees it. */
  connect(clock: RunClock): EntityDatabase {
    return new Connection(this, clock)
  }

  rows(sql: string, parameters: readonly SQLInputValue[]): readonly unknown[] {
    return this.database.prepare(sql).all(...parameters)
  }

  commit(statements: readonly Statement[]): Written['results'] {
    this.database.exec('begin')
    try {
      const results = statements.map((statement) => this.run(statement))
      this.database.exec('commit')
      this.onCommit(statements)
      return results
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('rollback')
      throw error
    }
  }

  ask<Answer>(clock: RunClock, apply: () => Answer, isWrite: boolean): Promise<Answer> {
    const { random, faults } = this
    const delay = (): number => random.next() * faults.maxLatencyMs
    return new Promise((resolve, reject) => {
      const refuse = (reason: string): void => clock.arrive(() => reject(EntityStoreErrors.UNAVAILABLE({ reason })))
      this.clock.after(delay(), () => {
        if (random.chance(faults.fails)) return refuse('away')
        if (isWrite && random.chance(faults.isLate)) {
          this.clock.after(random.below(LATE_MS), () => void apply())
          return refuse('the commit is late')
        }
        const answer = apply()
        const isLost = isWrite && random.chance(faults.losesAnswer)
        this.clock.after(delay(), () => (isLost ? refuse('no answer') : clock.arrive(() => resolve(answer))))
      })
    })
  }

  private run({ sql, parameters, parameterRows, returnsRows }: Statement): Written['results'][number] {
    const prepared = this.database.prepare(this.translated(sql))
    if (returnsRows === true) {
      const rows = prepared.all(...parameters)
      return { changes: rows.length, rows, untouched: [] }
    }
    const untouched: number[] = []
    let changes = 0
    for (const [index, row] of (parameterRows ?? [parameters]).entries()) {
      const touched = Number(prepared.run(...row).changes)
      if (touched === 0) untouched.push(index)
      changes += touched
    }
    return { changes, rows: [], untouched }
  }

  /** What the outbox asks of PostgreSQL. */
  private translated(sql: string): string {
    return sql
      .replaceAll('(extract(epoch from clock_timestamp()) * 1000)::bigint', String(Math.floor(this.clock.now())))
      .replace('for update skip locked', '')
      .replace(/any\(string_to_array\((\$\d), ','\)::bigint\[\]\)/, "(select value from json_each('[' || $1 || ']'))")
      .replace('id = (select value', 'id in (select value')
      .replaceAll('$1', '?1')
      .replaceAll('$2', '?2')
  }
}

class Connection implements EntityDatabase {
  readonly builder: Kysely<Schema>
  readonly isShared = true
  readonly foldFunction = 'lower'
  private readonly database: SimulatedDatabase
  private readonly clock: RunClock
  private readonly group: GroupCommit<readonly Statement[], ReadonlyMap<readonly Statement[], Written>>
  private sequence = 0

  constructor(database: SimulatedDatabase, clock: RunClock) {
    this.database = database
    this.clock = clock
    this.builder = queryBuilder(this, SQLITE)
    this.group = new GroupCommit({
      name: 'the database',
      maxPending: 1000,
      maxGroup: 100,
      write: (group) => this.commit(group),
    })
  }

  read<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<Read<Row>> {
    const apply = (): Read<Row> => ({
      rows: this.database.rows(sql, parameters.map(sqlValue)) as readonly Row[],
      sequence: this.sequence,
    })
    return this.database.ask(this.clock, apply, false)
  }

  async scan<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]> {
    return (await this.read(query)).rows
  }

  async write(statements: readonly Statement[]): Promise<Written> {
    const transaction = [...statements]
    const written = (await this.group.add(transaction)).get(transaction)
    if (written === undefined) throw EntityStoreErrors.LOST({ reason: 'a transaction without an outcome' })
    return written
  }

  close(): Promise<void> {
    return this.group.close()
  }

  private commit(group: readonly (readonly Statement[])[]): Promise<ReadonlyMap<readonly Statement[], Written>> {
    const apply = () => {
      const sequence = ++this.sequence
      return new Map(group.map((steps) => [steps, { results: this.database.commit(steps), sequence }]))
    }
    return this.database.ask(this.clock, apply, true)
  }
}
