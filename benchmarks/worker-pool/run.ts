/**
 * How the JavaScript pool answers to its settings: throughput, and p99 at 60 % of it, against threads and against the bound of a
 * batch, for a light and for a heavy script; and what a hostile tenant costs its neighbour. One pool throughout: each point is a
 * change of the running pool. Writes `results/worker-pool.json` and `results/worker-pool.svg`.
 *
 *   node benchmarks/worker-pool/run.ts [--seconds 0.7] [--runs 3]
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJavaScriptWorkers, type JavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import type { CompiledScript } from '../../engine/script/script.ts'
import { systemClock } from '../../model/system-clock.ts'
import {
  FILTER,
  compileFor,
  fullLoad,
  packOf,
  pacedLoad,
  startHostileLoad,
  type LoadResult,
} from '../../test/support/tenant-load.ts'
import { BENCHMARKS, machine, spread, writeResult } from '../lib/report.ts'
import { svgOf, type Curve, type Panel } from './plot.ts'

/** Some 250 µs on the machine of the published figures. */
const HEAVY = 'var sum = 0;\nfor (var i = 0; i < 60000; i++) sum = (sum * 31 + i) % 1000003;\nreturn sum >= 0'
const THREADS: readonly PointSettings[] = [1, 2, 3, 4].map((threads) => ({ threads, batchMessages: 512 }))
const BATCHES: readonly PointSettings[] = [1, 4, 16, 64, 256, 1024].map((batchMessages) => ({
  threads: 2,
  batchMessages,
}))
const LOAD = 0.6
const TIMEOUT_MS = 300

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '0.7' }, runs: { type: 'string', default: '3' } },
})
const milliseconds = Number(values.seconds) * 1000
const runs = Number(values.runs)

interface PointSettings {
  readonly threads: number
  readonly batchMessages: number
}

interface Point extends PointSettings {
  readonly messagesPerSecond: number
  /** At full load, as many packs under way as before: what waits grows the batches. */
  readonly fullLoadP99Ms: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** At full load. */
  readonly meanBatch: number
}

interface Load {
  readonly name: string
  readonly script: CompiledScript<'filter'>
  /** Messages of one pack: some milliseconds of work. */
  readonly pack: number
}

async function measure(workers: JavaScriptWorkers, { script, pack }: Load, settings: PointSettings): Promise<Point> {
  await workers.resize(settings)
  const messages = packOf(pack)
  await fullLoad(script, messages, milliseconds / 2)
  const before = workers.report(0).work.totals
  const full = await fullLoad(script, messages, milliseconds)
  const { messages: ran, batches } = workers.report(0).work.totals
  const paced = await pacedLoad(script, packOf(Math.max(1, pack / 10)), full.rate * LOAD, milliseconds)
  refuseFailures(full, paced)
  return {
    ...settings,
    messagesPerSecond: full.rate,
    fullLoadP99Ms: full.p99Ms,
    p50Ms: paced.p50Ms,
    p99Ms: paced.p99Ms,
    meanBatch: (ran - before.messages) / (batches - before.batches),
  }
}

/** The median of each figure. */
function medians(points: readonly Point[]): Point {
  const [first] = points
  if (first === undefined) throw new Error('a point was measured no time')
  const medianOf = (figure: keyof Point): number => rounded(spread(points.map((point) => point[figure])).median)
  return {
    threads: first.threads,
    batchMessages: first.batchMessages,
    messagesPerSecond: Math.round(medianOf('messagesPerSecond')),
    fullLoadP99Ms: medianOf('fullLoadP99Ms'),
    p50Ms: medianOf('p50Ms'),
    p99Ms: medianOf('p99Ms'),
    meanBatch: medianOf('meanBatch'),
  }
}

function refuseFailures(...loads: readonly LoadResult[]): void {
  for (const { failed } of loads) if (failed > 0) throw new Error(`${failed} messages failed: the run is void`)
}

interface Curves {
  readonly byThreads: readonly Point[]
  readonly byBatch: readonly Point[]
}

/** All points in turns, so that what else the machine does meets each of them. */
async function curvesOf(workers: JavaScriptWorkers, load: Load): Promise<Curves> {
  const measured = new Map<PointSettings, Point[]>([...THREADS, ...BATCHES].map((settings) => [settings, []]))
  for (let run = 0; run < runs; run++)
    for (const [settings, points] of measured) points.push(await measure(workers, load, settings))
  const of = (curve: readonly PointSettings[]): Point[] =>
    curve.map((settings) => medians(measured.get(settings) ?? []))
  return { byThreads: of(THREADS), byBatch: of(BATCHES) }
}

async function besideHostileTenant(
  workers: JavaScriptWorkers,
  { script, pack }: Load,
): Promise<Record<string, unknown>> {
  await workers.resize({ threads: 2, batchMessages: 512, timeoutMs: TIMEOUT_MS })
  const messages = packOf(pack / 5)
  await fullLoad(script, messages, milliseconds)
  const wanted = (await fullLoad(script, messages, milliseconds)).rate * 0.4
  const alone = await pacedLoad(script, messages, wanted, 3 * milliseconds)
  const chains = 4
  const stop = await startHostileLoad(workers, { chains, packsUnderWay: 3 })
  const startedAt = performance.now()
  const before = await pacedLoad(script, messages, wanted, 3 * milliseconds)
  while (workers.figures().breakersOpen < chains) await pacedLoad(script, messages, wanted, 200)
  const openedAfterMs = Math.round(performance.now() - startedAt)
  const after = await pacedLoad(script, messages, wanted, 3 * milliseconds)
  const hostileMessages = await stop()
  refuseFailures(alone, before, after)
  const shown = ({ rate, p99Ms }: LoadResult) => ({ messagesPerSecond: rate, p99Ms: rounded(p99Ms) })
  return {
    hostileScripts: chains,
    hostileMessages,
    wantedMessagesPerSecond: Math.round(wanted),
    alone: shown(alone),
    beforeTheBreakersOpened: shown(before),
    allOpenAfterMs: openedAfterMs,
    afterTheBreakersOpened: shown(after),
    rateKept: rounded(after.rate / alone.rate),
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

function panelsOf(curves: ReadonlyMap<string, Curves>): Panel[] {
  const draw = (
    by: 'byThreads' | 'byBatch',
    x: 'threads' | 'batchMessages',
    y: 'messagesPerSecond' | 'p99Ms',
  ): Curve[] =>
    [...curves].map(([name, points]) => ({ name, points: points[by].map((point) => [point[x], point[y]] as const) }))
  return [
    { title: 'messages/s', xTitle: 'threads', curves: draw('byThreads', 'threads', 'messagesPerSecond') },
    { title: 'p99 at 60 % load, ms', xTitle: 'threads', curves: draw('byThreads', 'threads', 'p99Ms') },
    {
      title: 'messages/s',
      xTitle: 'most messages in a batch',
      curves: draw('byBatch', 'batchMessages', 'messagesPerSecond'),
    },
    {
      title: 'p99 at 60 % load, ms',
      xTitle: 'most messages in a batch',
      curves: draw('byBatch', 'batchMessages', 'p99Ms'),
    },
  ]
}

const workers = createJavaScriptWorkers({
  clock: systemClock,
  threads: 1,
  memoryLimitMb: 64,
  timeoutMs: 1000,
  queueBound: 1_000_000,
})
try {
  const light: Load = { name: 'light', script: await compileFor(workers, 'light', 'chain', FILTER), pack: 1000 }
  const heavy: Load = { name: 'heavy', script: await compileFor(workers, 'heavy', 'chain', HEAVY), pack: 200 }
  const curves = new Map([
    [light.name, await curvesOf(workers, light)],
    [heavy.name, await curvesOf(workers, heavy)],
  ])
  const hostileTenant = await besideHostileTenant(workers, light)
  const { cores, processor, date } = machine()
  const caption = `${String(cores)} cores (${String(processor)}), load generator on the same, ${String(date)}: benchmarks/worker-pool`
  writeFileSync(join(BENCHMARKS, 'results', 'worker-pool.svg'), svgOf(panelsOf(curves), caption))
  writeResult('worker-pool', `node benchmarks/worker-pool/run.ts --seconds ${values.seconds} --runs ${runs}`, {
    curves: Object.fromEntries(curves),
    hostileTenant,
  })
} finally {
  await workers.close()
}
