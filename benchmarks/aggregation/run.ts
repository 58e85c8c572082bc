/**
 * What it takes to make one value of many: at once on the engine's thread, and by way of the worker pool, for 10 to 100,000 entities. Of each
 * job the time until its result is there, and how long the engine's thread was busy with it. Writes `results/aggregation.json`.
 *
 *   node benchmarks/aggregation/run.ts [--seconds 0.4] [--runs 5]
 */
import { parseArgs } from 'node:util'
import { performance } from 'node:perf_hooks'
import { AggregationWorkers, INLINE_US } from '../../engine/workers/aggregation/aggregation-workers.ts'
import { summaryCostUs, type SummaryJob, type SummaryMetric } from '../../model/group-summary.ts'
import { LatestColumnBuilder } from '../../model/latest-column.ts'
import { SeededRandom } from '../../model/manual-clock.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { TypedValue } from '../../model/value.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'

const SIZES = [10, 100, 1_000, 10_000, 100_000] as const

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '0.4' }, runs: { type: 'string', default: '5' } },
})
const seconds = Number(options.seconds)
const runs = Number(options.runs)

interface Kind {
  readonly value: (random: SeededRandom) => TypedValue
  readonly functions: readonly SummaryMetric['function'][]
  readonly top?: number
}

const decimal = (random: SeededRandom): TypedValue => ({
  type: 'DOUBLE',
  value: Math.round(random.next() * 10_000) / 100,
})

const KINDS: Readonly<Record<string, Kind>> = {
  meanOfDecimals: { value: decimal, functions: ['AVG'] },
  meanOfDoublesOf17Digits: { value: (random) => ({ type: 'DOUBLE', value: random.next() }), functions: ['AVG'] },
  leastAndMost: { value: decimal, functions: ['MIN', 'MAX'] },
  deviation: { value: decimal, functions: ['DEVIATION'] },
  percentiles: { value: decimal, functions: ['MEDIAN', 'PERCENTILE'] },
  differentTexts: {
    value: (random) => ({ type: 'STRING', value: `state ${Math.floor(random.next() * 1_000)}` }),
    functions: ['COUNT_UNIQUE'],
  },
  top10: { value: decimal, functions: [], top: 10 },
  allTogether: {
    value: decimal,
    functions: ['MIN', 'MAX', 'AVG', 'COUNT', 'DEVIATION', 'MEDIAN', 'PERCENTILE'],
    top: 10,
  },
}

function jobOf({ value, functions, top }: Kind, size: number): SummaryJob {
  const random = new SeededRandom(size)
  const column = new LatestColumnBuilder(size)
  for (let place = 0; place < size; place++) column.put(place, value(random))
  return {
    ...{ size, columns: [column.build()] },
    metrics: functions.map((of) => ({ column: 0, function: of, percentile: 95 })),
    rankings: top === undefined ? [] : [{ column: 0, count: top, order: 'HIGHEST' }],
  }
}

interface Measured {
  /** Until the result is there, microseconds. */
  readonly microseconds: number
  /** Of these the engine's thread was busy. */
  readonly busyMicroseconds: number
}

async function measured(workers: AggregationWorkers, job: SummaryJob): Promise<Measured> {
  const until = performance.now() + seconds * 1000
  // A turn of the event loop first: utilisation is counted by turns.
  await new Promise((resolve) => setImmediate(resolve))
  const before = performance.eventLoopUtilization()
  const startedAt = performance.now()
  let jobs = 0
  do {
    await workers.summarize(job, 'tenant')
    jobs++
  } while (performance.now() < until)
  const took = performance.now() - startedAt
  const { active } = performance.eventLoopUtilization(before)
  return { microseconds: (took * 1000) / jobs, busyMicroseconds: (active * 1000) / jobs }
}

const round = (value: number): number => Number(value.toPrecision(3))

function told(all: readonly Measured[], of: keyof Measured): Spread {
  return spread(all.map((one) => round(one[of])))
}

const inline = new AggregationWorkers({ clock: systemClock, threads: 1, inlineUs: Infinity })
const pooled = new AggregationWorkers({ clock: systemClock, threads: 1, inlineUs: -1 })
const kinds: Record<string, object> = {}
for (const [name, kind] of Object.entries(KINDS)) {
  const sizes: Record<string, object> = {}
  for (const size of SIZES) {
    const job = jobOf(kind, size)
    const [here, there]: [Measured[], Measured[]] = [[], []]
    for (let run = -1; run < runs; run++) {
      // The first of each is for the compiler.
      const [one, other] = [await measured(inline, job), await measured(pooled, job)]
      if (run < 0) continue
      here.push(one)
      there.push(other)
    }
    sizes[`entities${size}`] = {
      estimatedMicroseconds: round(summaryCostUs(job)),
      isPooled: summaryCostUs(job) > INLINE_US,
      inlineMicroseconds: told(here, 'microseconds'),
      pooledMicroseconds: told(there, 'microseconds'),
      engineThreadBusyWithPooledMicroseconds: told(there, 'busyMicroseconds'),
    }
    const [fast = 0, slow = 0] = [told(here, 'microseconds').median, told(there, 'microseconds').median]
    process.stderr.write(
      `${name} ${size}: inline ${fast} us, pooled ${slow} us, busy ${told(there, 'busyMicroseconds').median} us, estimated ${round(summaryCostUs(job))}\n`,
    )
  }
  kinds[name] = sizes
}
await inline.close()
await pooled.close()
writeResult('aggregation', `node benchmarks/aggregation/run.ts --seconds ${seconds} --runs ${runs}`, {
  inlineBelowEstimatedMicroseconds: INLINE_US,
  kinds,
})
