/**
 * What does one transaction cost QuestDB, by the shape of the table and the settings of the server? The same groups of rows, posted one at a
 * time as the store does, to tables of several shapes in turns; processor time of the server by thread.
 *
 *   node benchmarks/questdb/transactions.ts [--shapes store,noindex,...] [--rows 5000] [--groups 12] [--turns 3] [--late 30] [--set NAME=VALUE]...
 *
 * `--late`: how far, in milliseconds, times lie behind those of rows that were sent before; 0: never. `--defaults`: QuestDB as it comes.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { QuestDbServer } from '../../storage/timeseries/questdb/server.ts'
import { shardOf, SHARDS } from '../../storage/timeseries/questdb/shards.ts'
import { startQuestDb } from '../../test/support/servers/index.ts'
import { QUESTDB_LOAD_SETTINGS } from '../../test/support/servers/questdb.ts'
import { spread } from '../lib/report.ts'

const { values: settings } = parseArgs({
  options: {
    shapes: { type: 'string', default: 'store,noindex,noshard' },
    rows: { type: 'string', default: '5000' },
    groups: { type: 'string', default: '12' },
    turns: { type: 'string', default: '3' },
    late: { type: 'string', default: '30' },
    fill: { type: 'string', default: '400000' },
    defaults: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: [] },
  },
})
const rows = Number(settings.rows)
const late = Number(settings.late)
/** Milliseconds of device time in a group. */
const GROUP_MS = 250
const PAUSE_MS = 50
const FILL_ROWS = 40_000
const devices = Array.from({ length: 100 }, () => randomUUID())

interface Shape {
  readonly columns: string
  readonly end: string
  readonly hasShard: boolean
}

const DEDUP = 'dedup upsert keys(ts, entity, key)'
const VALUES = 'entity uuid, key int, kind byte, long_v long, dbl_v double, text_v varchar, version long, expires long'
const SHARD = `shard symbol capacity ${2 * SHARDS} cache`
const SHAPES: Readonly<Record<string, Shape>> = {
  store: { columns: `${SHARD} index, ${VALUES}`, end: DEDUP, hasShard: true },
  noindex: { columns: `${SHARD}, ${VALUES}`, end: DEDUP, hasShard: true },
  nodedup: { columns: `${SHARD} index, ${VALUES}`, end: '', hasShard: true },
  noshard: { columns: VALUES, end: DEDUP, hasShard: false },
  narrow: { columns: 'entity uuid, key int, kind byte, dbl_v double', end: DEDUP, hasShard: false },
}

type Figures = Map<string, number>

/** Milliseconds of processor time by thread, user and system apart. */
function threadTimes(pid: number): Figures {
  const found: Figures = new Map()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')).replace(/[-_#]?\d+$/, '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    for (const [kind, at] of Object.entries({ user: 11, system: 12 })) {
      const key = `${name} ${kind}`
      found.set(key, (found.get(key) ?? 0) + Number(fields[at]) * 10)
    }
  }
  return found
}

class Table {
  readonly name: string
  private readonly shape: Shape
  private time = Date.now() - 86_400_000
  private next = 0

  constructor(name: string, shape: Shape) {
    this.name = name
    this.shape = shape
  }

  async make(): Promise<void> {
    const { columns, end, hasShard } = this.shape
    await server.execute(
      `create table ${this.name} (ts timestamp, ${columns}) timestamp(ts) partition by day wal ${end}`,
    )
    if (hasShard) {
      const shards = Array.from(
        { length: SHARDS },
        (_, shard) => `${this.name},shard=${shard} key=${shard}i,kind=-1i 0t\n`,
      )
      await server.write(shards.join(''))
    }
    for (let left = Number(settings.fill); left > 0; left -= FILL_ROWS) await server.write(this.group(FILL_ROWS, 0))
  }

  group(count: number, lateMs: number): string {
    let lines = ''
    this.time += GROUP_MS
    for (let row = 0; row < count; row += 3) {
      const device = devices[this.next++ % devices.length] ?? ''
      const ts = Math.floor(this.time + (row / count) * GROUP_MS - Math.random() * lateMs)
      for (let key = 1; key <= 3; key++) {
        const shard = this.shape.hasShard ? `,shard=${shardOf(device)}` : ''
        lines += `${this.name}${shard} entity="${device}",key=${key}i,kind=3i,dbl_v=${20 + (row % 997) / 7} ${ts}000t\n`
      }
    }
    return lines
  }
}

async function applied(): Promise<void> {
  while ((await server.query('select name from wal_tables() where writerTxn < sequencerTxn')).length > 0) {
    await setTimeout(5)
  }
}

/** What a transaction took, by thread. */
async function turn(table: Table): Promise<Figures> {
  const before = threadTimes(questdb.pid)
  for (let group = 0; group < Number(settings.groups); group++) {
    await server.write(table.group(rows, late))
    await setTimeout(PAUSE_MS)
  }
  await applied()
  const spent: Figures = new Map()
  for (const [name, end] of threadTimes(questdb.pid)) {
    // The compilers end.
    if (!/^C[12] /.test(name)) spent.set(name, (end - (before.get(name) ?? 0)) / Number(settings.groups))
  }
  return spent
}

function report(name: string, turns: readonly Figures[]): void {
  const median = (of: (spent: Figures) => number): number => spread(turns.map(of)).median
  const all = median((spent) => [...spent.values()].reduce((sum, each) => sum + each, 0))
  const threads = [...new Set(turns.flatMap((spent) => [...spent.keys()]))]
    .map((thread) => [thread, median((spent) => spent.get(thread) ?? 0)] as const)
    .filter(([, each]) => each >= 1)
    .sort((a, b) => b[1] - a[1])
  const detail = threads.map(([thread, each]) => `${thread} ${each.toFixed(1)}`).join(', ')
  process.stdout.write(`${name}: ${all.toFixed(1)} ms of processor time a transaction (${detail})\n`)
}

/** As QuestDB 9.3 comes, on two cores. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'shared.worker.nap.threshold': '7000',
  'shared.worker.sleep.threshold': '10000',
  'wal.apply.worker.count': '2',
  'wal.apply.worker.yield.threshold': '1000',
  'wal.apply.worker.nap.threshold': '7000',
  'wal.apply.worker.sleep.threshold': '10000',
  'http.worker.nap.threshold': '7000',
  'http.worker.sleep.threshold': '10000',
  'cairo.writer.data.index.key.append.page.size': '524288',
  'cairo.writer.data.index.value.append.page.size': '16777216',
}
const wanted = Object.fromEntries(
  settings.set.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
)
const questdb = await startQuestDb({
  commitMode: 'sync',
  heapMiB: 512,
  settings: { ...(settings.defaults ? DEFAULTS : QUESTDB_LOAD_SETTINGS), ...wanted },
})
const server = new QuestDbServer({ url: questdb.url, timeoutMs: 60_000, maxAnswerBytes: 1e6 })
try {
  const tables: Table[] = []
  for (const name of settings.shapes.split(',')) {
    const shape = SHAPES[name]
    if (shape === undefined) throw new Error(`no shape ${name}: there are ${Object.keys(SHAPES).join(', ')}`)
    const table = new Table(name, shape)
    await table.make()
    tables.push(table)
  }
  await applied()
  const results = new Map<string, Figures[]>()
  // The first turn warms up.
  for (let count = 0; count <= Number(settings.turns); count++) {
    for (const table of tables) {
      const spent = await turn(table)
      if (count > 0) results.set(table.name, [...(results.get(table.name) ?? []), spent])
    }
  }
  for (const [name, turns] of results) report(name, turns)
} finally {
  server.close()
  await questdb.stop()
}
