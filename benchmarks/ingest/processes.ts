/**
 * What does a stored message cost in each process of the production shape? Processor time by process and thread, and how often each
 * server commits and syncs, under the load of `run.ts`.
 *
 *   node benchmarks/ingest/processes.ts [--cases http,mqtt1,mqtt10] [--seconds 8] [--syncs] [--set NAME=VALUE]...
 *
 * Before each case the embedded shape runs the same load, for the ratio. `--syncs` counts syncs with strace in a second run of two seconds, which slows what it looks at. `--set` is a setting of Millrace.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PostgresConnection } from '../../storage/postgres/connection.ts'
import { RestClient, login } from '../../test/support/clients.ts'
import { startProductionServers, type ProductionServers } from '../../test/support/start-cluster.ts'
import { startMillrace, type RunningMillrace } from '../../test/support/start-millrace.ts'
import { lineOf } from '../lib/child.ts'
import { BENCHMARKS } from '../lib/report.ts'
import type { GeneratorOptions, GeneratorResult } from './generator.ts'

const DEVICES = 100
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: 'http,mqtt1,mqtt10' },
    seconds: { type: 'string', default: '8' },
    syncs: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: [] },
    questdb: { type: 'string', multiple: true, default: [] },
  },
})
const CASES: Readonly<Record<string, Pick<GeneratorOptions, 'protocol' | 'window'>>> = {
  http: { protocol: 'http', window: 1 },
  mqtt1: { protocol: 'mqtt', window: 1 },
  mqtt10: { protocol: 'mqtt', window: 10 },
}

type Figures = Map<string, number>

/** Seconds of processor time by thread name, of these processes. */
function threadSeconds(pids: readonly number[]): Figures {
  const found: Figures = new Map()
  for (const pid of pids) {
    for (const thread of listed(`/proc/${pid}/task`)) {
      const stat = text(`/proc/${pid}/task/${thread}/stat`)
      const ofThread = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')).replace(/[-_#]?\d+$/, '')
      const name = thread === String(pid) ? 'main thread' : ofThread
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const seconds = (Number(fields[11]) + Number(fields[12])) / 100
      if (Number.isFinite(seconds)) found.set(name, (found.get(name) ?? 0) + seconds)
    }
  }
  return found
}

function childrenOf(pid: number): number[] {
  return listed(`/proc/${pid}/task`).flatMap((thread) =>
    text(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )
}

function listed(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

interface Look {
  readonly processor: ReadonlyMap<string, Figures>
  readonly counts: Figures
}

async function look(servers: ProductionServers, millrace: number, database: PostgresConnection): Promise<Look> {
  const postgres = [servers.postgres.pid, ...childrenOf(servers.postgres.pid)]
  const processor = new Map([
    ['millrace', threadSeconds([millrace])],
    ['nats', threadSeconds([servers.nats.pid])],
    ['questdb', threadSeconds([servers.questdb.pid])],
    ['postgres', threadSeconds(postgres)],
  ])
  const counts: Figures = new Map()
  const { rows } = await database.query<{ commits: number; syncs: number }>({
    text: `select (select sum(xact_commit)::bigint from pg_stat_database) as commits, wal_sync::bigint as syncs from pg_stat_wal`,
  })
  counts.set('postgres commits', rows[0]?.commits ?? 0)
  counts.set('postgres syncs of its log', rows[0]?.syncs ?? 0)
  const sql = "select sequencerTxn from wal_tables() where name = 'millrace_points'"
  const answer = await fetch(`${servers.questdb.url}/exec?query=${encodeURIComponent(sql)}`)
  const { dataset } = (await answer.json()) as { dataset?: number[][] }
  counts.set('questdb transactions', dataset?.[0]?.[0] ?? 0)
  return { processor, counts }
}

function report(name: string, result: GeneratorResult, before: Look, after: Look, limit: number): void {
  const { acknowledged, seconds } = result
  const rate = Math.round((acknowledged * 3) / seconds)
  const share = (rate / limit).toFixed(2)
  const lines = [
    `${name}: ${rate} points/s, ${share} of embedded, p50 ${result.p50Ms.toFixed(1)} ms, p99 ${result.p99Ms.toFixed(1)} ms`,
  ]
  let total = 0
  for (const [process, threads] of after.processor) {
    const spent = [...threads].map(([thread, end]) => {
      return [thread, ((end - (before.processor.get(process)?.get(thread) ?? 0)) * 1e6) / acknowledged] as const
    })
    const sum = spent.reduce((all, [, each]) => all + each, 0)
    total += sum
    const most = spent.filter(([, each]) => each >= 0.02 * sum).sort((a, b) => b[1] - a[1])
    const detail = most.map(([thread, each]) => `${thread} ${each.toFixed(1)}`).join(', ')
    lines.push(`  ${process.padEnd(9)} ${sum.toFixed(1)} µs a message (${detail})`)
  }
  lines.push(`  all       ${total.toFixed(1)} µs a message`)
  for (const [count, end] of after.counts) {
    const grown = end - (before.counts.get(count) ?? 0)
    lines.push(`  ${count}: ${(grown / seconds).toFixed(0)}/s, ${(acknowledged / grown).toFixed(1)} messages each`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function countSyncs(pids: readonly number[], name: string, load: Promise<GeneratorResult>): Promise<void> {
  const children = pids.map((pid) =>
    spawn('strace', ['-c', '-f', '-e', 'trace=fsync,fdatasync,msync,sync_file_range,pwritev2', '-p', String(pid)]),
  )
  const outputs = children.map(async (child) => {
    let output = ''
    child.stderr.on('data', (data: Buffer) => (output += data.toString()))
    await new Promise((resolve) => child.once('exit', resolve))
    return output
  })
  const { acknowledged } = await load
  for (const child of children) child.kill('SIGINT')
  for (const line of (await Promise.all(outputs)).join('\n').split('\n')) {
    if (/sync/.test(line)) process.stdout.write(`  ${name}, ${acknowledged} messages: ${line.trim()}\n`)
  }
}

async function embedded(load: Pick<GeneratorOptions, 'protocol' | 'window'>): Promise<number> {
  const millrace = await startMillrace({ environment: { DURABILITY: 'power-cut', ...settingsOf(values.set) } })
  try {
    const generate = await generator(millrace, load)
    await generate(2)
    const before = threadSeconds([millrace.pid])
    const result = await generate(Number(values.seconds))
    const spent = [...threadSeconds([millrace.pid])].reduce(
      (sum, [name, end]) => sum + end - (before.get(name) ?? 0),
      0,
    )
    const rate = (result.acknowledged * 3) / result.seconds
    const cost = (spent * 1e6) / result.acknowledged
    process.stdout.write(
      `embedded: ${Math.round(rate)} points/s, p99 ${result.p99Ms.toFixed(1)} ms, ${cost.toFixed(1)} µs a message\n`,
    )
    return rate
  } finally {
    await millrace.stop()
  }
}

/** Runs the load for so many seconds. */
async function generator(millrace: RunningMillrace, load: Pick<GeneratorOptions, 'protocol' | 'window'>) {
  const rest = new RestClient(millrace, await login(millrace))
  const tokens = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
  for (const [index, token] of tokens.entries()) await rest.createDevice(`bench ${index}`, token)
  const port = millrace.ports[load.protocol] ?? 0
  return (seconds: number) =>
    lineOf<GeneratorResult>(join(BENCHMARKS, 'ingest', 'generator.ts'), { ...load, port, tokens, seconds })
}

async function measure(
  name: string,
  load: Pick<GeneratorOptions, 'protocol' | 'window'>,
  limit: number,
): Promise<void> {
  const questdb = { commitMode: 'sync' as const, settings: settingsOf(values.questdb) }
  const servers = await startProductionServers({ nats: { syncInterval: 'always' }, questdb })
  const millrace = await startMillrace({
    environment: { ...servers.environment, DURABILITY: 'power-cut', ...settingsOf(values.set) },
  })
  const database = new PostgresConnection({ url: servers.postgres.url, applicationName: 'look' })
  try {
    const generate = await generator(millrace, load)
    await generate(5)
    const before = await look(servers, millrace.pid, database)
    const result = await generate(Number(values.seconds))
    report(name, result, before, await look(servers, millrace.pid, database), limit)
    if (values.syncs) {
      await countSyncs([servers.nats.pid], 'nats', generate(2))
      await countSyncs([servers.questdb.pid], 'questdb', generate(2))
    }
  } finally {
    await database.close()
    await millrace.stop()
    await servers.stop()
  }
}

function settingsOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

for (const name of values.cases.split(',')) {
  const load = CASES[name]
  if (load === undefined) throw new Error(`no case ${name}: there are ${Object.keys(CASES).join(', ')}`)
  const limit = await embedded(load)
  await measure(name, load, limit)
}
