/**
 * How many points a second does the QuestDB store take through its whole path (rows in QuestDB with synced commits, latest values and the
 * commit's number in PostgreSQL), beside QuestDB's own client with the same rows, batches and server, and how soon is a write
 * read back? All servers on this machine; 100 devices, messages of three keys, explicit times.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Sender } from '@questdb/nodejs-client'
import { systemClock as clock } from '../../model/system-clock.ts'
import type { DataPoint } from '../../model/value.ts'
import { openPostgresLatestValues } from '../../storage/timeseries/postgres/latest-values.ts'
import { QuestDbServer } from '../../storage/timeseries/questdb/server.ts'
import { shardOf } from '../../storage/timeseries/questdb/shards.ts'
import { openQuestDbTimeSeries, type QuestDbTimeSeries } from '../../storage/timeseries/questdb/store.ts'
import type { PointsWrite } from '../../storage/timeseries/store.ts'
import { startPostgres, startQuestDb } from '../../test/support/servers/index.ts'
import { processorSeconds, spread, writeResult } from '../lib/report.ts'

const { values: settings } = parseArgs({
  options: {
    messages: { type: 'string', default: '200000' },
    runs: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '6000' },
    'per-call': { type: 'string', default: '10' },
  },
})
const messages = Number(settings.messages)
const runs = Number(settings.runs)
const inFlight = Number(settings['in-flight'])
const perCall = Number(settings['per-call'])
const KEYS = ['temperature', 'humidity', 'pressure']
const START = Date.UTC(2026, 0, 1)
const devices = Array.from({ length: 100 }, () => randomUUID())

/** Message `number`: all devices in turn, a second later each round. */
function message(number: number): PointsWrite {
  const entityId = devices[number % devices.length] ?? ''
  const ts = START + Math.floor(number / devices.length) * 1000
  const points = KEYS.map((key, index): DataPoint => ({
    key,
    ts,
    type: 'DOUBLE',
    value: 20 + ((number + index) % 997) / 7,
  }))
  return { entityId, points, sequence: number + 1, ttlSeconds: 0, history: true, latest: true }
}

interface Run {
  readonly pointsPerSecond: number
  /** Processor time of each process, in microseconds a point. */
  readonly microseconds: Readonly<Record<string, number>>
}

const [questdb, postgres] = await Promise.all([startQuestDb({ commitMode: 'sync', heapMiB: 512 }), startPostgres()])
const pids = { node: process.pid, questdb: questdb.pid, postgres: postgres.pid }

async function measured(points: number, run: () => Promise<void>): Promise<Run> {
  const before = Object.entries(pids).map(([name, pid]) => [name, familySeconds(pid)] as const)
  const start = performance.now()
  await run()
  const seconds = (performance.now() - start) / 1000
  const microseconds = Object.fromEntries(
    before.map(([name, used]) => [name, ((familySeconds(pids[name as keyof typeof pids]) - used) * 1e6) / points]),
  )
  return { pointsPerSecond: points / seconds, microseconds }
}

/** PostgreSQL works in children that come and go with their connections. */
function familySeconds(pid: number): number {
  if (pid === process.pid) return processorSeconds(pid)
  return processorSeconds(pid) + childrenOf(pid).reduce((sum, child) => sum + processorSeconds(child), 0)
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

async function ours(store: QuestDbTimeSeries, from: number): Promise<Run> {
  return measured(messages * KEYS.length, async () => {
    let next = from
    const sender = async () => {
      while (next < from + messages) {
        const call: PointsWrite[] = []
        for (let count = 0; count < perCall && next < from + messages; count++) call.push(message(next++))
        await store.write(call)
      }
    }
    await Promise.all(Array.from({ length: Math.ceil(inFlight / perCall) }, sender))
  })
}

/** The client as its makers show it, one flush of as many rows as one of our groups. */
async function bare(table: string, from: number): Promise<Run> {
  const sender = await Sender.fromConfig(`http::addr=${new URL(questdb.url).host};auto_flush=off;init_buf_size=4194304`)
  const result = await measured(messages * KEYS.length, async () => {
    for (let next = from; next < from + messages;) {
      const end = Math.min(next + inFlight, from + messages)
      for (; next < end; next++) {
        const { entityId, points } = message(next)
        for (const { key, ts, value } of points) {
          sender
            .table(table)
            .symbol('shard', String(shardOf(entityId)))
            .stringColumn('entity', entityId)
          sender.intColumn('key', KEYS.indexOf(key))
          await sender.intColumn('kind', 3).floatColumn('dbl_v', Number(value)).at(ts, 'ms')
        }
      }
      await sender.flush()
    }
  })
  await sender.close()
  return result
}

/** Milliseconds until everything that was acknowledged is in the tables: what an ingest left to do. */
async function allApplied(): Promise<number> {
  const start = performance.now()
  for (;;) {
    const behind = await other.query('select name from wal_tables() where writerTxn < sequencerTxn')
    if (behind.length === 0) return performance.now() - start
    await setTimeout(20)
  }
}

/** Milliseconds from an acknowledged write to the read that holds it. */
async function readBack(store: QuestDbTimeSeries, rounds: number): Promise<{ write: number[]; history: number[] }> {
  const taken = { write: [] as number[], history: [] as number[] }
  const entityId = randomUUID()
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    // As live devices do: later than all before.
    await store.write([{ ...message((runs + 1) * messages + round * devices.length), entityId }])
    const stored = performance.now()
    const query = { keys: ['temperature'], startTs: 0, endTs: 1e14, agg: 'NONE', limit: 1, order: 'DESC' } as const
    await store.history(entityId, query)
    taken.write.push(stored - start)
    taken.history.push(performance.now() - stored)
  }
  return taken
}

function summary(results: readonly Run[]) {
  const names = Object.keys(results[0]?.microseconds ?? {})
  return {
    pointsPerSecond: spread(results.map(({ pointsPerSecond }) => Math.round(pointsPerSecond))),
    processorMicrosecondsPerPoint: Object.fromEntries(
      names.map((name) => [name, spread(results.map(({ microseconds }) => microseconds[name] ?? 0)).median.toFixed(2)]),
    ),
  }
}

const latest = await openPostgresLatestValues({ url: postgres.url, applicationName: 'benchmark', clock })
const store = await openQuestDbTimeSeries({
  url: questdb.url,
  postgres: { url: postgres.url, applicationName: 'benchmark' },
  latest,
  clock,
  durability: 'power-cut',
  table: 'ours',
})
const other = new QuestDbServer({ url: questdb.url, timeoutMs: 10_000, maxAnswerBytes: 1e6 })
await other.execute(
  `create table bare (ts timestamp, shard symbol index, entity uuid, key int, kind byte, long_v long, dbl_v double, text_v varchar,
    version long, expires long) timestamp(ts) partition by day wal dedup upsert keys(ts, entity, key)`,
)
try {
  const drains: number[] = []
  const found: { ours: Run[]; bare: Run[] } = { ours: [], bare: [] }
  // In turns, so that a noisy neighbour meets both; the first turn warms up.
  for (let run = 0; run <= runs; run++) {
    const one = await ours(store, run * messages)
    const drain = await allApplied()
    // Nobody works off the other's log while one is measured.
    const two = await bare('bare', run * messages)
    await allApplied()
    process.stderr.write(`ours ${Math.round(one.pointsPerSecond)}, bare ${Math.round(two.pointsPerSecond)} points/s\n`)
    if (run > 0) {
      found.ours.push(one)
      found.bare.push(two)
      drains.push(drain)
    }
  }
  await allApplied()
  const times = await readBack(store, 200)
  writeResult('questdb', 'npm run bench -- questdb', {
    messages,
    inFlight,
    perCall,
    ours: summary(found.ours),
    bareClient: summary(found.bare),
    pointsInAGroup: Math.round((messages * KEYS.length * (runs + 1)) / store.figures().groupsWritten),
    appliedAfterMs: spread(drains.map(Math.round)),
    aloneMs: { write: spread(times.write), history: spread(times.history) },
  })
} finally {
  await store.close()
  other.close()
  await Promise.all([questdb.stop(), postgres.stop()])
}
