/**
 * How many points a second does the embedded time-series store take durably when every batch holds one row of each of 1,000
 * devices, against the obvious table, DuckDB and the disk itself? Settings: see README.md.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import type { Candidate } from './candidate.ts'
import { embedded, naiveTable, rawLog } from './candidates.ts'
import { duckDb } from './duckdb.ts'
import { measureLarge } from './large.ts'
import { median, rounded, runOnce, type RunResult } from './measure.ts'

const { values: settings } = parseArgs({
  options: {
    points: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '5' },
    large: { type: 'string', default: '0' },
  },
})
const points = Number(settings.points)
const runs = Number(settings.runs)
const large = Number(settings.large)
const RESULT = new URL('../results/timeseries-store.json', import.meta.url)

async function candidates(): Promise<{ all: Candidate[]; duckDbRun: string }> {
  const all = [rawLog, embedded('power-cut', 1), embedded('power-cut', 4), embedded('process-death', 4), naiveTable]
  const entry = process.env['DUCKDB_MODULE']
  if (entry === undefined) return { all, duckDbRun: 'not run: DUCKDB_MODULE is not set' }
  return { all: [...all, await duckDb(entry)], duckDbRun: 'run' }
}

function summary(candidate: Candidate, results: readonly RunResult[]) {
  const rates = results.map((result) => result.pointsPerSecond)
  const of = (pick: (result: RunResult) => number | undefined) => {
    const found = results.flatMap((result) => pick(result) ?? [])
    return found.length === 0 ? undefined : rounded(median(found))
  }
  return {
    name: candidate.name,
    survives: candidate.survives,
    runs: results.length,
    pointsPerSecond: {
      median: rounded(median(rates)),
      lowest: rounded(Math.min(...rates)),
      highest: rounded(Math.max(...rates)),
    },
    cpuMicrosecondsPerPoint: of((r) => r.cpuMicrosecondsPerPoint),
    batchMs: {
      p50: of((r) => r.batch.p50),
      p99: of((r) => r.batch.p99),
      p999: of((r) => r.batch.p999),
      max: of((r) => r.batch.max),
    },
    newest100Ms: { p50: of((r) => r.newest100?.p50), p99: of((r) => r.newest100?.p99) },
    average24BucketsMs: { p50: of((r) => r.averages?.p50), p99: of((r) => r.averages?.p99) },
    bytesPerPoint: of((r) => r.bytesPerPoint),
  }
}

function machine() {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    sqlite: process.versions['sqlite'] ?? 'unknown',
    commit,
    loadAverage: loadavg().map((load) => Math.round(load * 100) / 100),
  }
}

/** What an earlier run wrote: a part that is not measured now (`--runs=0`, `--large=0`) is kept, with its own machine. */
function previous(): { candidates?: unknown; large?: unknown } {
  return existsSync(RESULT)
    ? (JSON.parse(readFileSync(RESULT, 'utf8')) as { candidates?: unknown; large?: unknown })
    : {}
}

async function compare() {
  const { all, duckDbRun } = await candidates()
  const results = new Map<Candidate, RunResult[]>(all.map((candidate) => [candidate, []]))
  // Interleaved, so that a noisy neighbour hits all alike; the first round warms up and is not counted.
  for (let run = 0; run <= runs; run++) {
    for (const candidate of all) {
      const result = await runOnce(candidate, run === 0 ? Math.min(points, 200_000) : points)
      if (run > 0) results.get(candidate)?.push(result)
      console.log(
        run === 0 ? 'warm-up' : `run ${run}`,
        candidate.name,
        candidate.survives,
        Math.round(result.pointsPerSecond),
      )
    }
  }
  const table = [...results].map(([candidate, measured]) => summary(candidate, measured))
  console.table(
    table.map(({ name, survives, pointsPerSecond, cpuMicrosecondsPerPoint, batchMs, newest100Ms, bytesPerPoint }) => ({
      name,
      survives,
      'points/s': pointsPerSecond.median,
      'CPU µs/point': cpuMicrosecondsPerPoint,
      'batch p50': batchMs.p50,
      'batch p99': batchMs.p99,
      'newest 100': newest100Ms.p50,
      'bytes/point': bytesPerPoint,
    })),
  )
  return { machine: about, points, duckDb: duckDbRun, stores: table }
}

const about = machine()
console.log(about, { points, runs, large })
const kept = previous()
const comparison = runs > 0 ? await compare() : kept.candidates
const largeResult = large > 0 ? { machine: about, ...(await measureLarge(large)) } : kept.large
console.log('large', largeResult)
mkdirSync(new URL('.', RESULT), { recursive: true })
writeFileSync(
  RESULT,
  `${JSON.stringify({ benchmark: 'timeseries-store', candidates: comparison, large: largeResult })}\n`,
)
