/** `npm start -- workers`: the worker pools of a running Millrace as a table, and how they are changed while they run. */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { errorText } from '../model/errors.ts'
import { POOL_SETTINGS, POOL_SETTING_RANGES, type PoolSetting } from '../model/worker-pool.ts'
import { CommandErrors, DEFAULT_SERVER, RestSession, SYSTEM_LOGIN, type ServerOptions } from './rest-session.ts'
import { poolText, poolSchema, type Pool } from './worker-table.ts'

const USAGE = `npm start -- workers [--watch] [--set NAME=VALUE,...] [--pool NAME] [--rows N] [--interval SECONDS]
                     [--url URL] [--user EMAIL] [--password TEXT]

  --watch      show them again and again, until stopped
  --interval   seconds between two looks (default 2)
  --set        change a pool while it runs; no message is lost:
${POOL_SETTINGS.map((name) => `                 ${name.padEnd(16)} ${rangeText(name)}`).join('\n')}
  --pool       the pool to change (default javascript)
  --rows       the busiest so many tenants and scripts (default 10)
  --json       the answer of the server as it is
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

interface Options extends ServerOptions {
  readonly watch: boolean
  readonly intervalMs: number
  readonly change: Readonly<Partial<Record<PoolSetting, number>>> | undefined
  readonly pool: string
  readonly rows: number
  readonly json: boolean
}

/** Resolves with the exit code. */
export async function workers(argv: readonly string[]): Promise<number> {
  try {
    const options = optionsOf(argv)
    if (options === undefined) {
      process.stdout.write(USAGE)
      return 0
    }
    const session = await RestSession.open(options)
    if (options.change !== undefined) await changePool(session, options, options.change)
    else await showPools(session, options)
    return 0
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`)
    return 1
  }
}

/** Undefined where help is asked for. Throws USAGE. */
function optionsOf(argv: readonly string[]): Options | undefined {
  const { values } = parsed(argv)
  if (values.help) return undefined
  return {
    url: values.url,
    user: values.user,
    password: values.password,
    watch: values.watch,
    intervalMs: Math.max(200, 1000 * numberOf('--interval', values.interval)),
    change: values.set === undefined ? undefined : changeOf(values.set),
    pool: values.pool,
    rows: numberOf('--rows', values.rows),
    json: values.json,
  }
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        watch: { type: 'boolean', default: false },
        interval: { type: 'string', default: '2' },
        set: { type: 'string' },
        pool: { type: 'string', default: 'javascript' },
        rows: { type: 'string', default: '10' },
        json: { type: 'boolean', default: false },
        url: { type: 'string', default: DEFAULT_SERVER.url },
        user: { type: 'string', default: SYSTEM_LOGIN.user },
        password: { type: 'string', default: SYSTEM_LOGIN.password },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw CommandErrors.USAGE({ reason: `${errorText(error)}\n\n${USAGE}` }, error)
  }
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
  { pool, json }: Options,
  change: NonNullable<Options['change']>,
): Promise<void> {
  const answer = await session.request('POST', `/api/admin/workers/${encodeURIComponent(pool)}`, change)
  const changed = changedSchema.parse(answer)
  print(json ? JSON.stringify(answer, null, 2) : `changed on ${changed.member}\n\n${poolText(changed)}`)
}

async function showPools(session: RestSession, { rows, watch, intervalMs, json }: Options): Promise<void> {
  for (;;) {
    const answer = await session.request('GET', `/api/admin/workers?rows=${rows}`)
    if (json) print(JSON.stringify(answer, null, 2))
    else print((watch ? CLEAR : '') + pageText(answerSchema.parse(answer)))
    if (!watch) return
    await pause(intervalMs)
  }
}

/** Top of a cleared screen; nothing where the output is no terminal. */
const CLEAR = process.stdout.isTTY ? '\u001b[H\u001b[2J' : ''

function pageText({ member, pools }: { readonly member: string; readonly pools: readonly Pool[] }): string {
  const title = `worker pools of ${member}, ${new Date().toISOString()}`
  if (pools.length === 0) return `${title}\n\nnone: this process has not the role engine`
  return [title, ...pools.map(poolText)].join('\n\n')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
