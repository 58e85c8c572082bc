/** `npm start -- workers`: the worker pools of a running Millrace as a table, and how they are changed while they run. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { POOL_SETTINGS, POOL_SETTING_RANGES, type PoolSetting } from '../model/worker-pool.ts'
import { runRestCommand, type CommandOutput, type RestCall } from './rest-command.ts'
import { CommandErrors, DEFAULT_SERVER, SYSTEM_LOGIN, type RestSession } from './rest-session.ts'
import { poolText, poolSchema, type Pool } from './worker-table.ts'

const USAGE = `npm start -- workers [--watch] [--set NAME=VALUE,...] [--pool NAME] [--rows N] [--interval SECONDS]
                     [--url URL] [--user EMAIL] [--password TEXT]

  --watch      repeat until stopped
  --interval   seconds between two looks (default 2)
  --set        change a running pool; no message is lost:
${POOL_SETTINGS.map((name) => `                 ${name.padEnd(16)} ${rangeText(name)}`).join('\n')}
  --pool       the pool to change (default javascript)
  --rows       the busiest so many tenants and scripts (default 10)
  --json       the server's answer as it is
  --url, --user, --password   where and as which system administrator (default ${DEFAULT_SERVER.url}, ${SYSTEM_LOGIN.user};
               environment: MILLRACE_URL, MILLRACE_SYSTEM_USER, MILLRACE_SYSTEM_PASSWORD)

In a cluster each process is asked by its own address.
`

function rangeText(name: PoolSetting): string {
  const { least, most, unit } = POOL_SETTING_RANGES[name]
  return `${least} to ${most} ${unit}`
}

const answerSchema = z.object({ member: z.string(), pools: z.array(poolSchema) })
const changedSchema = poolSchema.extend({ member: z.string() })

function number(name: string) {
  return z.string().transform((text) => numberOf(name, text))
}

const flagsSchema = z.object({
  watch: z.boolean().default(false),
  interval: number('--interval').default(2),
  set: z.string().transform(changeOf).optional(),
  pool: z.string().default('javascript'),
  rows: number('--rows').default(10),
  json: z.boolean().default(false),
})
type Flags = z.infer<typeof flagsSchema>

/** Resolves with the exit code. */
export function workers(argv: readonly string[], output?: CommandOutput): Promise<number> {
  const run = async ({ flags, open, output: to }: RestCall<Flags>): Promise<void> => {
    const session = await open()
    if (flags.set !== undefined) await changePool(session, flags, flags.set, to)
    else await showPools(session, flags, to)
  }
  return runRestCommand({ usage: USAGE, flags: flagsSchema, login: SYSTEM_LOGIN, run }, argv, output)
}

function numberOf(name: string, text: string): number {
  if (!/^\d{1,15}(\.\d+)?$/.test(text)) throw CommandErrors.USAGE({ reason: `${name} ${text}: a number is expected` })
  return Number(text)
}

function changeOf(text: string): Partial<Record<PoolSetting, number>> {
  const change: Partial<Record<PoolSetting, number>> = {}
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=').map((side) => side.trim())
    const setting = POOL_SETTINGS.find((known) => known === name)
    if (setting === undefined)
      throw CommandErrors.USAGE({ reason: `--set ${part}: there is no setting '${name}': ${POOL_SETTINGS.join(', ')}` })
    change[setting] = numberOf(`--set ${name}`, value)
  }
  return change
}

async function changePool(
  session: RestSession,
  { pool, json }: Flags,
  change: NonNullable<Flags['set']>,
  output: CommandOutput,
): Promise<void> {
  const answer = await session.request('POST', `/api/admin/workers/${encodeURIComponent(pool)}`, change)
  const changed = changedSchema.parse(answer)
  output.out(json ? JSON.stringify(answer, null, 2) : `changed on ${changed.member}\n\n${poolText(changed)}`)
}

async function showPools(
  session: RestSession,
  { rows, watch, interval, json }: Flags,
  output: CommandOutput,
): Promise<void> {
  for (;;) {
    const answer = await session.request('GET', `/api/admin/workers?rows=${rows}`)
    if (json) output.out(JSON.stringify(answer, null, 2))
    else output.out((watch ? CLEAR : '') + pageText(answerSchema.parse(answer)))
    if (!watch) return
    await pause(Math.max(200, 1000 * interval))
  }
}

/** Top of a cleared screen; nothing where the output is no terminal. */
const CLEAR = process.stdout.isTTY ? '\u001b[H\u001b[2J' : ''

function pageText({ member, pools }: { readonly member: string; readonly pools: readonly Pool[] }): string {
  const title = `worker pools of ${member}, ${new Date().toISOString()}`
  if (pools.length === 0) return `${title}\n\nnone: this process has not the role engine`
  return [title, ...pools.map(poolText)].join('\n\n')
}
