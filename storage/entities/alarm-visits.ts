/**
 * What came of the visits in which rule nodes raised or cleared alarms: a row is committed with its alarm, so that a message that comes again is
 * told the same. It goes when its message can not come again.
 */
import { sql, type RawBuilder } from 'kysely'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'
import type { EntityTable } from './tables/entity-table.ts'

export const ALARM_VISIT_TABLE: EntityTable = {
  name: 'alarm_visit',
  version: 2,
  columns: [
    /** Tells the partitions of one log from those of another. */
    { name: 'partition_name', type: 'text', isNullable: false },
    /** Of the message in its partition; null where it was no message but a time that came. */
    { name: 'sequence', type: 'integer', isNullable: true },
    /** It came again: its message may be parked, and settled by that. */
    { name: 'kept', type: 'integer', isNullable: false },
    { name: 'told', type: 'text', isNullable: false },
    /** The id of the alarm where the visit made it. */
    { name: 'created_alarm', type: 'text', isNullable: true, since: 2 },
  ],
  unique: [],
  indexes: [
    { columns: ['partition_name', 'sequence'] },
    { columns: ['created_alarm'], where: 'created_alarm is not null', since: 2 },
  ],
}

export interface AlarmVisitRow {
  readonly id: string
  readonly tenantId: string
  readonly partition: string
  readonly sequence: number | null
  /** JSON text. */
  readonly told: string
  readonly createdAlarm: string | null
}

export class AlarmVisitRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Undoes the transaction with this error where the visit has a row already. */
  insert(row: AlarmVisitRow, now: number, otherwise: () => Error): Statement {
    const { id, tenantId, partition, sequence, told, createdAlarm } = row
    const query = sql`insert into alarm_visit
      (id, created_time, version, tenant_id, partition_name, sequence, kept, told, created_alarm)
      values (${id}, ${now}, 1, ${tenantId}, ${partition}, ${sequence}, 0, ${told}, ${createdAlarm})
      on conflict (id) do nothing`
    return { ...this.statement(query), expect: { changes: 1, otherwise } }
  }

  async find(id: string): Promise<{ readonly told: string; readonly isKept: boolean } | undefined> {
    const query = sql<{ told: string; kept: number }>`select told, kept from alarm_visit where id = ${id}`
    const [row] = await this.read(query)
    return row && { told: row.told, isKept: Number(row.kept) === 1 }
  }

  /** Whether the alarm was made in a visit of a message behind that one. */
  async hasLaterCreation(partition: string, sequence: number, alarmId: string): Promise<boolean> {
    const query = sql`select 1 as one from alarm_visit
      where created_alarm = ${alarmId} and partition_name = ${partition} and sequence > ${sequence}`
    return (await this.read(query)).length > 0
  }

  keep(id: string): Statement {
    return this.statement(sql`update alarm_visit set kept = 1 where id = ${id}`)
  }

  /** Undefined where the partition has none. */
  async highestSequence(partition: string): Promise<number | undefined> {
    const query = sql<{ highest: number | null }>`select max(sequence) as highest from alarm_visit
      where partition_name = ${partition}`
    const highest = (await this.read(query))[0]?.highest ?? null
    return highest === null ? undefined : Number(highest)
  }

  /** Those of messages that can not come again; not those that came again. */
  removeBelow(partition: string, sequence: number, limit: number): Statement {
    return this.statement(sql`delete from alarm_visit where id in (select id from alarm_visit
      where partition_name = ${partition} and sequence < ${sequence} and kept = 0 order by sequence limit ${limit})`)
  }

  /** All that were noted before `time`, Unix ms. */
  removeOlder(time: number, limit: number): Statement {
    return this.statement(sql`delete from alarm_visit where id in (select id from alarm_visit
      where created_time < ${time} limit ${limit})`)
  }

  private async read<Row>(query: RawBuilder<Row>): Promise<readonly Row[]> {
    return (await this.database.read(query.compile(this.database.builder))).rows
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: words, parameters } = query.compile(this.database.builder)
    return { sql: words, parameters: parameters.map(sqlValue) }
  }
}
