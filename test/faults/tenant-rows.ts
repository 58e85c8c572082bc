/** What a file of a tenant says, as it must stand in the tenant that it was brought into, and what stands there. */
import { z } from 'zod'
import { readTenantHeader, readTenantRows } from '../../commands/tenant-file.ts'
import type { RestClient } from '../support/clients.ts'

const SERIES = 'series'
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const EACH_UUID = new RegExp(UUID, 'g')

/** By table. A row is told once, however often it is there. */
export type Rows = ReadonlyMap<string, ReadonlySet<string>>

const placedSchema = z.object({
  ids: z.array(z.tuple([z.string(), z.string()])),
  refused: z.array(z.object({ place: z.number() })),
})
const namedSchema = z.object({ id: z.string() })
const rowSchema = z.record(z.string(), z.json())
type Row = z.infer<typeof rowSchema>
const seriesSchema = z.object({
  ...{ entity_id: z.string(), key: z.string(), points: z.array(z.json()), latest: z.json().optional() },
})

/** Without what counts changes there, and without the tokens of devices where others have them. */
const OWN_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  rule_chain: ['version'],
  attribute: ['sequence', 'writer'],
}

export interface TakenAlong {
  readonly rows: Rows
  /** How many rows were left out, by table. */
  readonly leftOut: ReadonlyMap<string, number>
}

/** Of a file that was brought in. `system`: a system administrator of where it is now. */
export async function wantedRows(system: RestClient, file: string, tenantId: string): Promise<TakenAlong> {
  const { tenant } = await readTenantHeader(file)
  const ids = new Map([[tenant.id.id, tenantId]])
  const refused = new Set<string>()
  const collected = new Collected()
  const leftOut = new Map<string, number>()
  for await (const { table, rows } of readTenantRows(file)) {
    const pattern = table === SERIES ? UUID : EACH_UUID
    const named = (row: string): readonly string[] => row.match(EACH_UUID) ?? []
    const sent = rows
      .filter((row) => !named(row).some((id) => refused.has(id)))
      .map((row) => row.replace(pattern, (id) => ids.get(id) ?? id))
    if (table !== SERIES) {
      const answer = await system.expect('POST', `/api/tenant/${tenantId}/rows`, { table, step: 'ids', rows: sent })
      const placed = placedSchema.parse(answer)
      for (const [before, after] of placed.ids) ids.set(before, after)
      for (const { place } of placed.refused) refused.add(namedSchema.parse(JSON.parse(sent[place] ?? '{}')).id)
    }
    // Of the piece in which one is refused, too.
    const left = sent.filter((row) => !named(row).some((id) => refused.has(id)))
    leftOut.set(table, (leftOut.get(table) ?? 0) + rows.length - left.length)
    for (const row of left)
      collected.add(
        table,
        row.replace(pattern, (id) => ids.get(id) ?? id),
      )
  }
  return { rows: collected.rows(), leftOut }
}

export async function rowsIn(file: string): Promise<Rows> {
  const collected = new Collected()
  for await (const { table, rows } of readTenantRows(file)) for (const row of rows) collected.add(table, row)
  return collected.rows()
}

/** Those of the first that the second has not, by table. */
export function missing(from: Rows, others: Rows): Readonly<Record<string, readonly string[]>> {
  const found = [...from].map(
    ([table, rows]) => [table, [...rows].filter((row) => !others.get(table)?.has(row))] as const,
  )
  return Object.fromEntries(found.filter(([, rows]) => rows.length > 0))
}

class Collected {
  private readonly tables = new Map<string, Set<string>>()
  /** Cut into rows elsewhere in each export. */
  private readonly series = new Map<string, { points: unknown[]; latest: unknown }>()

  add(table: string, text: string): void {
    if (table === SERIES) return this.addSeries(text)
    const rows = this.tables.get(table) ?? new Set()
    const row = rowSchema.parse(JSON.parse(text))
    rows.add(
      JSON.stringify(
        Object.entries(row)
          .filter(([name]) => !isOwn(table, name, row))
          .sort()
          .map(sorted),
      ),
    )
    this.tables.set(table, rows)
  }

  rows(): Rows {
    const series = [...this.series].map(([name, { points, latest }]) => JSON.stringify({ name, points, latest }))
    return new Map([...this.tables, [SERIES, new Set(series)]])
  }

  private addSeries(text: string): void {
    const { entity_id: id, key, points, latest } = seriesSchema.parse(JSON.parse(text))
    const whole = this.series.get(`${id} ${key}`) ?? { points: [], latest: undefined }
    whole.points.push(...points)
    whole.latest = latest
    this.series.set(`${id} ${key}`, whole)
  }
}

function isOwn(table: string, column: string, row: Row): boolean {
  if (table === 'device_credentials' && column === 'credentials_id') return row['credentials_type'] === 'ACCESS_TOKEN'
  return OWN_COLUMNS[table]?.includes(column) === true
}

/** Parts come in the order of their ids. */
function sorted([name, value]: [string, Row[string]]): readonly [string, unknown] {
  return [name, Array.isArray(value) ? value.map((part) => JSON.stringify(part)).sort() : value]
}
