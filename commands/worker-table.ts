/** A worker pool as text: its settings, its work, and a line for each busy tenant and script. */
import { z } from 'zod'
import { POOL_SETTINGS } from '../model/worker-pool.ts'

const distribution = z.object({ mean: z.number(), p50: z.number(), p99: z.number(), most: z.number() })
const work = z.object({
  windowMs: z.number(),
  messagesPerSecond: z.number(),
  utilisation: z.number(),
  queueWaitMs: distribution,
  runMs: distribution,
  batchMessages: distribution,
  totals: z.object({
    messages: z.number(),
    batches: z.number(),
    errors: z.number(),
    timeouts: z.number(),
    memoryErrors: z.number(),
    blocked: z.number(),
    refused: z.number(),
    deaths: z.number(),
  }),
})

export const poolSchema = z.object({
  name: z.string(),
  settings: z.partialRecord(z.enum(POOL_SETTINGS), z.number()),
  threads: z.number(),
  scripts: z.number(),
  tenants: z.number(),
  waiting: z.number(),
  running: z.number(),
  breakersOpen: z.number(),
  work,
  busiestTenants: z.array(
    z.object({ tenantId: z.string(), tenantName: z.string(), scripts: z.number(), waiting: z.number(), work }),
  ),
  busiestScripts: z.array(
    z.object({
      tenantId: z.string(),
      tenantName: z.string(),
      ruleChainName: z.string(),
      ruleNodeId: z.string(),
      ruleNodeName: z.string(),
      waiting: z.number(),
      breaker: z.object({ state: z.enum(['closed', 'open', 'half-open']), retryInMs: z.number(), trips: z.number() }),
      work,
    }),
  ),
})

export type Pool = z.infer<typeof poolSchema>
type Work = z.infer<typeof work>

export function poolText(pool: Pool): string {
  const settings = POOL_SETTINGS.flatMap((name) =>
    pool.settings[name] === undefined ? [] : `${name}=${pool.settings[name]}`,
  )
  return [
    `pool ${pool.name}: ${pool.threads} of ${pool.settings.threads} threads up, ${percent(pool.work.utilisation)} used, ` +
      `${pool.scripts} scripts of ${pool.tenants} tenants, ${pool.waiting} messages wait, ${pool.running} tasks under way`,
    `  settings  ${settings.join(' ')}`,
    `  since the start  ${totalsText(pool.work)}`,
    `  figures of the last ${Math.round(pool.work.windowMs / 1000)} s; wait and run in ms, mean/p99`,
    '',
    table([
      ['', ...WORK_TITLES, 'waiting', 'breaker'],
      [
        'all',
        ...workCells(pool.work),
        String(pool.waiting),
        pool.breakersOpen === 0 ? '' : `${pool.breakersOpen} open`,
      ],
      ...pool.busiestTenants.map((tenant) => [
        `tenant ${tenant.tenantName || tenant.tenantId}`,
        ...workCells(tenant.work),
        String(tenant.waiting),
        '',
      ]),
      ...pool.busiestScripts.map((script) => [
        `script ${script.tenantName || script.tenantId} / ${script.ruleChainName} / ${script.ruleNodeName || script.ruleNodeId}`,
        ...workCells(script.work),
        String(script.waiting),
        breakerText(script.breaker),
      ]),
    ]),
  ].join('\n')
}

const WORK_TITLES = ['used', 'messages/s', 'wait', 'run', 'batch', 'timeouts', 'errors', 'blocked', 'refused']

function workCells({ utilisation, messagesPerSecond, queueWaitMs, runMs, batchMessages, totals }: Work): string[] {
  return [
    percent(utilisation),
    short(messagesPerSecond),
    `${short(queueWaitMs.mean)}/${short(queueWaitMs.p99)}`,
    `${short(runMs.mean)}/${short(runMs.p99)}`,
    `${short(batchMessages.mean)}/${short(batchMessages.p99)}`,
    String(totals.timeouts),
    String(totals.errors),
    String(totals.blocked),
    String(totals.refused),
  ]
}

function totalsText({ totals }: Work): string {
  return (
    `${totals.messages} messages in ${totals.batches} batches, ${totals.errors} failed (${totals.timeouts} stopped by time, ` +
    `${totals.memoryErrors} by memory, ${totals.blocked} blocked), ${totals.refused} refused, ${totals.deaths} sandboxes died`
  )
}

function breakerText({ state, retryInMs, trips }: Pool['busiestScripts'][number]['breaker']): string {
  if (state === 'closed') return trips === 0 ? '' : `closed, opened ${trips} times`
  return state === 'open' ? `open, trial in ${Math.ceil(retryInMs / 1000)} s` : state
}

function percent(part: number): string {
  return `${Math.round(part * 100)}%`
}

/** Three digits that count. */
function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

/** The first column flush left, the others flush right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
