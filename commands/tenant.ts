/** `npm start -- tenant export FILE` and `tenant import FILE`: all that a tenant has, taken along and brought in again. */
import { z } from 'zod'
import { defineErrors } from '../model/errors.ts'
import { SECRET_MASK } from '../model/secret-members.ts'
import { Progress } from './progress.ts'
import { runRestCommand, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER, SYSTEM_LOGIN, type RestSession } from './rest-session.ts'
import { readTenantHeader, readTenantRows, TenantFileWriter, type TenantHeader } from './tenant-file.ts'

const SERVER = `  --url URL --user EMAIL --password TEXT   where and as which system administrator (default ${DEFAULT_SERVER.url}, ${SYSTEM_LOGIN.user};
                                           environment: MILLRACE_URL, MILLRACE_SYSTEM_USER, MILLRACE_SYSTEM_PASSWORD)`
const EXPORT_USAGE = `npm start -- tenant export FILE --tenant ID [--series]

  FILE      is written whole or not at all
  --tenant  the tenant's id or its title
  --series  with all time series and latest values
${SERVER}

In it: every entity, relation, rule chain, dashboard and attribute, with devices' credentials and hashes of passwords: protect it.
Not in it: secrets of rule nodes (masked), the audit log, what is under way, and time series without --series. The tenant may go on meanwhile.
`
const IMPORT_USAGE = `npm start -- tenant import FILE [--into ID] [--apply]

  FILE     from \`tenant export\`
  --into   id or title of the target (default: the tenant with the same id, else with the same title, made if missing)
  --apply  do it; without it the plan is shown and nothing is changed
${SERVER}

Ids are kept where they are free. Things with the same name are changed; things that are not in the file stay. After an import that was cut
off begin again. A masked secret stays if the same rule node is there; else fill it in: the node does not run before.
`

const TenantErrors = defineErrors('tenant-command', {
  COMMAND: { kind: 'invalid', status: 400, text: 'tenant export FILE or tenant import FILE is expected' },
  UNKNOWN: { kind: 'invalid', status: 404, text: 'there is no tenant {tenant}' },
})

const tablesSchema = z.array(z.string())
const pageSchema = z.object({
  rows: z.array(z.string()),
  next: z.string().nullable(),
  passed: z.number().default(0),
  entities: z.number().optional(),
})
/** No table, and asked for only when wanted. */
const SERIES = 'series'
const tenantSchema = z.looseObject({ id: z.object({ id: z.string() }), title: z.string() })
const tenantsSchema = z.object({ data: z.array(tenantSchema) })
const pieceSchema = z.object({
  created: z.number(),
  changed: z.number(),
  same: z.number(),
  toFillIn: z.array(z.string()).default([]),
  ids: z.array(z.tuple([z.string(), z.string()])),
  refused: z.array(z.object({ place: z.number(), why: z.string() })),
})
type Tenant = z.infer<typeof tenantSchema>

/** Resolves with the exit code. */
export function tenant([what = '', ...argv]: readonly string[], output?: CommandOutput): Promise<number> {
  if (what === 'export') {
    const flags = z.object({ tenant: z.string(), series: z.boolean().default(false) })
    const command = { usage: EXPORT_USAGE, flags, argument: 'one FILE', login: SYSTEM_LOGIN, run: exportTenant }
    return runRestCommand(command, argv, output)
  }
  const flags = z.object({ into: z.string().optional(), apply: z.boolean().default(false) })
  const command = { usage: IMPORT_USAGE, flags, argument: 'one FILE', login: SYSTEM_LOGIN, run: importTenant }
  if (what === 'import') return runRestCommand(command, argv, output)
  const usage = `${EXPORT_USAGE}\n${IMPORT_USAGE}`
  const run = () => Promise.reject(TenantErrors.COMMAND())
  return runRestCommand({ usage, flags: z.object({}), run }, what === '' ? [] : [what], output)
}

interface ExportFlags {
  readonly tenant: string
  readonly series: boolean
}

async function exportTenant({ argument: file, flags, open, output }: RestCall<ExportFlags>): Promise<void> {
  const progress = new Progress()
  try {
    const session = await open()
    const found = await findTenant(session, flags.tenant)
    if (found === undefined) throw TenantErrors.UNKNOWN({ tenant: flags.tenant })
    const path = `/api/tenant/${found.id.id}/rows`
    const tables = tablesSchema.parse(await session.request('GET', `${path}/tables`))
    const writer = await TenantFileWriter.begin(file, { tenant: found, time: Date.now() })
    let hasMasks = false
    for (const [index, table] of tables.entries()) {
      progress.show('exporting', index, tables.length, 'tables')
      hasMasks = (await exportTable(session, path, table, writer)) || hasMasks
    }
    if (flags.series) await exportTable(session, path, SERIES, writer, progress)
    await writer.finish()
    progress.end()
    output.out(`${writer.rows} rows of ${found.title} in ${file}`)
    if (hasMasks) output.out('secrets of rule nodes are masked in it: the import says which to fill in')
  } finally {
    progress.end()
  }
}

/** Whether secrets in it are masked. */
async function exportTable(
  session: RestSession,
  path: string,
  table: string,
  writer: TenantFileWriter,
  progress?: Progress,
): Promise<boolean> {
  let [done, total] = [0, 0]
  let hasMasks = false
  for (let after: string | null = ''; after !== null;) {
    const query = new URLSearchParams({ table, ...(after === '' ? {} : { after }) })
    const page: z.infer<typeof pageSchema> = pageSchema.parse(
      await session.request('GET', `${path}?${query.toString()}`),
    )
    for (const row of page.rows) {
      await writer.add({ table, row })
      hasMasks ||= table === 'rule_chain' && row.includes(SECRET_MASK)
    }
    total = page.entities ?? total
    progress?.show('exporting series', (done += page.passed), total, 'entities')
    after = page.next
  }
  return hasMasks
}

interface ImportFlags {
  readonly into?: string | undefined
  readonly apply: boolean
}

async function importTenant({ argument: file, flags, open, output }: RestCall<ImportFlags>): Promise<void> {
  const progress = new Progress()
  try {
    const header = await readTenantHeader(file)
    const session = await open()
    const there = await targetOf(session, header, flags.into)
    if (there === undefined && !flags.apply) {
      const rows = await countRows(file)
      output.out(`a new tenant ${header.tenant.title} with ${rows} rows\nnothing was changed: add --apply to do it`)
      return
    }
    const target = there ?? (await newTenant(session, header.tenant))
    const bringing = new Bringing(session, file, header.tenant.id.id, target.id.id, progress)
    await bringing.findIds()
    output.out(`into ${target.title} (${target.id.id}):`)
    for (const line of await bringing.send(flags.apply ? 'apply' : 'plan')) output.out(line)
    progress.end()
    if (!flags.apply) output.out('nothing was changed: add --apply to do it')
  } finally {
    progress.end()
  }
}

const FIRST_UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
const UUID = new RegExp(FIRST_UUID, 'g')

/** A file on its way into a tenant. */
class Bringing {
  private readonly ids: Map<string, string>
  /** Rows that name these are left out with them. */
  private readonly refused = new Map<string, string>()
  private readonly session: RestSession
  private readonly file: string
  private readonly targetId: string
  private readonly progress: Progress
  private rows = 0

  constructor(session: RestSession, file: string, sourceId: string, targetId: string, progress: Progress) {
    this.session = session
    this.file = file
    this.targetId = targetId
    this.progress = progress
    this.ids = new Map([[sourceId, targetId]])
  }

  /** Which ids are others there: what a row names stands before it in the file. */
  async findIds(): Promise<void> {
    for await (const { table, rows } of readTenantRows(this.file)) {
      this.rows += rows.length
      // They have no ids of their own.
      if (table === SERIES) continue
      const sent = this.sentRows(table, rows)
      const { ids, refused } = await this.post(table, 'ids', sent)
      for (const [before, after] of ids) this.ids.set(before, after)
      for (const { place, why } of refused) this.refuse(table, sent[place] ?? '{}', why)
    }
  }

  /** A line for each table, and one for each row that is left out. */
  async send(step: 'plan' | 'apply'): Promise<readonly string[]> {
    const counts = new Map<string, { created: number; changed: number; same: number; leftOut: number }>()
    const toFillIn: string[] = []
    let done = 0
    for await (const { table, rows } of readTenantRows(this.file)) {
      const sent = this.sentRows(table, rows)
      const { created, changed, same, toFillIn: masked } = await this.post(table, step, sent)
      toFillIn.push(...masked)
      const sum = counts.get(table) ?? { created: 0, changed: 0, same: 0, leftOut: 0 }
      sum.created += created
      sum.changed += changed
      sum.same += same
      sum.leftOut += rows.length - sent.length
      counts.set(table, sum)
      this.progress.show(step === 'plan' ? 'planning' : 'importing', (done += rows.length), this.rows, 'rows')
    }
    this.progress.end()
    const others = this.ids.size - 1
    return [
      ...[...counts].map(
        ([table, { created, changed, same, leftOut }]) =>
          `  ${table === SERIES ? 'points of series' : table}: ${created} new, ${changed} changed, ${same} as they are${leftOut === 0 ? '' : `, ${leftOut} left out`}`,
      ),
      ...(others === 0 ? [] : [`  ${others} ids are others there`]),
      ...[...this.refused.values()].map((why) => `  left out: ${why}`),
      ...toFillIn.map((secret) => `  fill in, before the rule node runs: ${secret}`),
    ]
  }

  /** With the ids that they have there, without those that name what is left out. */
  private sentRows(table: string, rows: readonly string[]): readonly string[] {
    // A series names its entity before its points, whose values stay as they were measured.
    const ids = table === SERIES ? FIRST_UUID : UUID
    const isLeftOut = (row: string) =>
      this.refused.size > 0 && (row.match(ids) ?? []).some((id) => this.refused.has(id))
    return rows.filter((row) => !isLeftOut(row)).map((row) => row.replace(ids, (id) => this.ids.get(id) ?? id))
  }

  private refuse(table: string, row: string, why: string): void {
    const id = /"id":"([^"]+)"/.exec(row)?.[1]
    if (id !== undefined) this.refused.set(id, `${table} ${id}: ${why}`)
  }

  private async post(table: string, step: 'ids' | 'plan' | 'apply', rows: readonly string[]) {
    const answer = await this.session.request('POST', `/api/tenant/${this.targetId}/rows`, { table, step, rows })
    return pieceSchema.parse(answer)
  }
}

async function targetOf(
  session: RestSession,
  header: TenantHeader,
  into: string | undefined,
): Promise<Tenant | undefined> {
  const found = (await findTenant(session, into ?? header.tenant.id.id)) ?? undefined
  if (found === undefined && into !== undefined) throw TenantErrors.UNKNOWN({ tenant: into })
  // A tenant that was made for it before, and whose import was cut off.
  return found ?? (await findTenant(session, header.tenant.title))
}

/** By id or title. */
async function findTenant(session: RestSession, wanted: string): Promise<Tenant | undefined> {
  const query = new URLSearchParams({ pageSize: '1000', page: '0' })
  for (let page = 0; ; page++) {
    query.set('page', String(page))
    const { data } = tenantsSchema.parse(await session.request('GET', `/api/tenants?${query.toString()}`))
    const found = data.find(({ id, title }) => id.id === wanted.toLowerCase() || title === wanted)
    if (found !== undefined || data.length < 1000) return found
  }
}

/** With what the file says of it, but for its id and what belongs to the system. */
async function newTenant(session: RestSession, source: TenantHeader['tenant']): Promise<Tenant> {
  const { id: _id, tenantProfileId: _profile, version: _version, ...members } = source
  try {
    return tenantSchema.parse(await session.request('POST', '/api/tenant', members))
  } catch (error) {
    // Another import of the same file may have made it meanwhile.
    const made = await findTenant(session, source.title)
    if (made === undefined) throw error
    return made
  }
}

async function countRows(file: string): Promise<number> {
  let count = 0
  for await (const { rows } of readTenantRows(file)) count += rows.length
  return count
}
