/**
 * How long do reads over REST take? A million points of one key in each of two devices: the latest value, the newest 100, a raw
 * thousand from the middle, and averages by the hour over all; beside them a request that reads nothing and, where QuestDB stores them, a
 * query of its own language for the same averages.
 *
 *   node benchmarks/query/run.ts [--runs 5] [--points 1000000] [--shape embedded]
 */
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { QuestDbServer } from '../../storage/timeseries/questdb/server.ts'
import { shardOf } from '../../storage/timeseries/questdb/shards.ts'
import { RestClient, login } from '../../test/support/clients.ts'
import { connectLean } from '../lib/lean-client.ts'
import { spread, writeResult } from '../lib/report.ts'
import { startShape } from '../lib/shape.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    points: { type: 'string', default: '1000000' },
    shape: { type: 'string', default: 'embedded' },
  },
})
const runs = Number(values.runs)
const points = Number(values.points)
const STEP_MS = 1000
const BEGIN = 1_700_000_000_000
const END = BEGIN + points * STEP_MS
const ARRAY = 5000
const CALLS = 200
/** Before each question, uncounted: the first 1,500 latest values take half as long again as the next, while V8 compiles. */
const WARM_UP_MS = 2_000

const shape = await startShape(values.shape)
try {
  const token = await login(shape.millrace)
  const rest = new RestClient(shape.millrace, token)
  const devices = await Promise.all(['one', 'other'].map((name) => rest.createDevice(`query ${name}`, `QUERY_${name}`)))
  for (let first = 0; first < points; first += ARRAY) {
    const groups = Array.from({ length: Math.min(ARRAY, points - first) }, (_, index) => ({
      ts: BEGIN + (first + index) * STEP_MS,
      values: { seeded: ((first + index) % 400) / 10 },
    }))
    await Promise.all(
      devices.map((id) => rest.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/timeseries/ANY`, groups)),
    )
    if (first % 100_000 === 0) process.stderr.write(`seeded ${first} of ${points} points a device\n`)
  }
  const path = (query: string): string =>
    `/api/plugins/telemetry/DEVICE/${devices[0] ?? ''}/values/timeseries?keys=seeded${query}`
  const middle = BEGIN + Math.floor(points / 2) * STEP_MS
  const questions: Readonly<Record<string, string>> = {
    'no read at all (/api/system/info)': '/api/system/info',
    'latest value': path(''),
    'newest 100 points': path(`&startTs=${BEGIN}&endTs=${END}&limit=100`),
    '1,000 raw points from the middle': path(`&startTs=${middle}&endTs=${middle + 1000 * STEP_MS}&limit=1000`),
    'average by the hour over one day': path(
      `&startTs=${middle - 86_400_000}&endTs=${middle}&agg=AVG&interval=3600000`,
    ),
    'average by the hour over all points': path(`&startTs=${BEGIN}&endTs=${END}&agg=AVG&interval=3600000`),
  }
  const lean = await connectLean(shape.millrace.url, token)
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    ...Object.fromEntries(Object.entries(questions).map(([name, question]) => [name, () => lean.get(question)])),
    ...(await bareQueries(shape.questDbUrl, devices[0] ?? '')),
  }
  const results: Record<string, unknown> = {}
  for (const [name, ask] of Object.entries(asked)) {
    for (const until = performance.now() + WARM_UP_MS; performance.now() < until;) await ask()
    const medians: number[] = []
    const p99s: number[] = []
    const worst: number[] = []
    for (let run = 0; run < runs; run++) {
      const took: number[] = []
      for (let call = 0; call < CALLS; call++) {
        const began = performance.now()
        await ask()
        took.push(performance.now() - began)
      }
      medians.push(rounded(spread(took).median))
      p99s.push(rounded(took.sort((a, b) => a - b)[Math.ceil(CALLS * 0.99) - 1] ?? 0))
      worst.push(rounded(spread(took).most))
    }
    results[name] = { medianMs: spread(medians), p99Ms: spread(p99s), slowestMs: spread(worst) }
    process.stderr.write(`${name}: ${spread(medians).median} ms, p99 ${spread(p99s).median} ms\n`)
  }
  lean.close()
  writeResult(
    values.shape === 'embedded' ? 'query' : `query-${values.shape}`,
    `node benchmarks/query/run.ts --runs ${runs} --points ${points} --shape ${values.shape}`,
    { shape: values.shape, devices: devices.length, pointsPerDevice: points, callsPerRun: CALLS, results },
  )
} finally {
  await shape.close()
}

/** The average of all points of the device by the hour, asked of QuestDB itself. */
async function bareQueries(
  url: string | undefined,
  device: string,
): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  if (url === undefined) return {}
  const server = new QuestDbServer({ url, timeoutMs: 10_000, maxAnswerBytes: 1e7 })
  const condition = `shard = '${shardOf(device)}' and entity = '${device}'`
  const sql = `select ts, avg(dbl_v), avg(long_v) from millrace_points where ${condition} sample by 1h`
  const held = async (): Promise<number> =>
    Number((await server.query(`select count() from millrace_points where ${condition}`))[0]?.[0])
  // What is committed is counted once its log is applied.
  for (const until = performance.now() + 30_000; (await held()) !== points; await setTimeout(100)) {
    if (performance.now() > until) throw new Error(`QuestDB holds ${await held()} points`)
  }
  return { "QuestDB's own average by the hour over all points": () => server.query(sql) }
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
