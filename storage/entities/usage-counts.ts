/** What tenants used in the present month and hour. Processes add what each of them counted, so that a row is the sum over all. */
import { sql } from 'kysely'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'
import { ATTRIBUTE_SCOPE_NUMBERS } from './attribute-columns.ts'
import type { EntityTable } from './tables/entity-table.ts'

const integer = { type: 'integer', isNullable: false } as const

export const USAGE_COUNT_TABLE: EntityTable = {
  name: 'api_usage_count',
  version: 1,
  columns: [
    { name: 'counter', ...integer },
    { name: 'cycle_ts', ...integer },
    { name: 'cycle_count', ...integer },
    { name: 'hour_ts', ...integer },
    { name: 'hour_count', ...integer },
  ],
  unique: [],
  indexes: [],
}

/** Days for which points are kept add up beyond what a number holds: one tenant's sum must not fail those that are stored with it. */
const MOST = Number.MAX_SAFE_INTEGER

export interface UsageIncrement {
  readonly tenantId: string
  readonly counter: number
  readonly count: number
}

/** Unix ms: when the month and the hour began. */
export interface UsagePeriod {
  readonly cycleTs: number
  readonly hourTs: number
}

export interface UsageTotal {
  readonly tenantId: string
  readonly counter: number
  readonly cycleTs: number
  readonly cycleCount: number
  readonly hourTs: number
  readonly hourCount: number
}

interface TotalRow {
  readonly tenant_id: string
  readonly counter: number
  readonly cycle_ts: number
  readonly cycle_count: number
  readonly hour_ts: number
  readonly hour_count: number
}

export class UsageCountRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Commits the increments together. What was counted for a period that is over counts for the present one. */
  async add(increments: readonly UsageIncrement[], { cycleTs, hourTs }: UsagePeriod): Promise<readonly UsageTotal[]> {
    if (increments.length === 0) return []
    // In one order: two processes that add to the same rows do not wait for each other.
    const rows = increments
      .map((increment) => ({ ...increment, id: `${increment.tenantId}/${increment.counter}` }))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map(
        ({ id, tenantId, counter, count }) =>
          sql`(${id}, ${cycleTs}, 1, ${tenantId}, ${counter}, ${cycleTs}, ${Math.min(count, MOST)}, ${hourTs}, ${Math.min(count, MOST)})`,
      )
    const cycleSum = sql`excluded.cycle_count + case when excluded.cycle_ts > c.cycle_ts then 0 else c.cycle_count end`
    const hourSum = sql`excluded.hour_count + case when excluded.hour_ts > c.hour_ts then 0 else c.hour_count end`
    const query = sql`insert into api_usage_count as c
      (id, created_time, version, tenant_id, counter, cycle_ts, cycle_count, hour_ts, hour_count) values ${sql.join(rows)}
      on conflict (id) do update set
        cycle_count = case when ${cycleSum} > ${MOST} then ${MOST} else ${cycleSum} end,
        cycle_ts = case when excluded.cycle_ts > c.cycle_ts then excluded.cycle_ts else c.cycle_ts end,
        hour_count = case when ${hourSum} > ${MOST} then ${MOST} else ${hourSum} end,
        hour_ts = case when excluded.hour_ts > c.hour_ts then excluded.hour_ts else c.hour_ts end
      returning tenant_id, counter, cycle_ts, cycle_count, hour_ts, hour_count`.compile(this.database.builder)
    const statement: Statement = {
      ...{ sql: query.sql, parameters: query.parameters.map(sqlValue), returnsRows: true },
    }
    const { results } = await this.database.write([statement])
    return ((results[0]?.rows ?? []) as readonly TotalRow[]).map(totalOf)
  }

  async of(tenantIds: readonly string[]): Promise<readonly UsageTotal[]> {
    if (tenantIds.length === 0) return []
    const query = sql<TotalRow>`select tenant_id, counter, cycle_ts, cycle_count, hour_ts, hour_count
      from api_usage_count where tenant_id in (${sql.join(tenantIds)})`
    const { rows } = await this.database.read(query.compile(this.database.builder))
    return rows.map(totalOf)
  }

  /** Devices of each tenant that has some, and how many of them are active. */
  async devices(): Promise<readonly { readonly tenantId: string; readonly all: number; readonly active: number }[]> {
    const query = sql<{ tenant_id: string; total: number; active: number | null }>`
      select d.tenant_id, count(*) as total, sum(case when a.long_value = 1 then 1 else 0 end) as active
      from device as d left join attribute as a on a.entity_id = d.id and a.scope = ${ATTRIBUTE_SCOPE_NUMBERS.SERVER_SCOPE} and a.key = 'active'
      group by d.tenant_id`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map((row) => ({
      tenantId: row.tenant_id,
      all: Number(row.total),
      active: Number(row.active ?? 0),
    }))
  }
}

function totalOf(row: TotalRow): UsageTotal {
  return {
    tenantId: row.tenant_id,
    counter: Number(row.counter),
    cycleTs: Number(row.cycle_ts),
    cycleCount: Number(row.cycle_count),
    hourTs: Number(row.hour_ts),
    hourCount: Number(row.hour_count),
  }
}
