/**
 * How many points a second does one process take over real sockets, stored and read back? 3-key payloads, 100 devices, explicit times, the
 * load generator on the same cores. The rate is stored points over the time until the last of them can be read; every key is counted
 * and summed up afterwards, and a run in which anything is missing or wrong is void. Beside it, in turns: the same server answering without doing
 * anything, mosquitto (MQTT; it stores nothing), and a second generator that counts for itself, where these are here.
 *
 *   node benchmarks/ingest/run.ts [--shape embedded|production|three-copies] [--runs 3] [--seconds 20] [--only '10 in flight'] [--profile]
 *
 * `production` runs JetStream with synced frames, QuestDB with synced commits and PostgreSQL on the same cores too; `three-copies` the same
 * with three NATS servers.
 */
import { parseArgs } from 'node:util'
import { spread, writeResult } from '../lib/report.ts'
import { shapeOf } from '../lib/shape.ts'
import {
  CASES,
  DEVICES,
  measure,
  measureLimit,
  measureMosquitto,
  type Measured,
  type MosquittoMeasured,
} from './measure.ts'
import { KEYS } from './payload.ts'
import { buildSecondGenerator } from './second-generator.ts'

const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: 'embedded' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    durability: { type: 'string', default: 'power-cut' },
    /** Cases whose name holds this; the result is printed, not written. */
    only: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
})
const shape = shapeOf(values.shape)
const runs = Number(values.runs)
const seconds = Number(values.seconds)
const secondGenerator = buildSecondGenerator()
const environment = {
  DURABILITY: values.durability,
  ...(values.profile ? { NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=.cache/profiles' } : {}),
}

const results: Record<string, unknown> = {}
for (const testCase of CASES.filter(({ name }) => name.includes(values.only ?? ''))) {
  const measured: Measured[] = []
  const limits: number[] = []
  const mosquitto: MosquittoMeasured[] = []
  for (let run = 0; run < runs; run++) {
    const one = await measure(testCase, { shape, seconds, environment, secondGenerator })
    measured.push(one)
    limits.push(await measureLimit(testCase, seconds))
    const bare = await measureMosquitto(testCase, seconds, secondGenerator)
    if (bare !== undefined) mosquitto.push(bare)
    process.stderr.write(`${testCase.name}: ${one.pointsPerSecond} points/s, bare server ${limits.at(-1)}\n`)
  }
  const figure = (name: Exclude<keyof Measured, 'second'>) => spread(measured.map((run) => run[name]))
  const second = measured.flatMap((run) => run.second ?? [])
  const toSecond = mosquitto.flatMap((run) => run.toSecond ?? [])
  const pointsPerSecond = figure('pointsPerSecond')
  const limit = spread(limits)
  results[testCase.name] = {
    pointsPerSecond,
    messagesPerSecond: spread(measured.map((run) => Math.round(run.pointsPerSecond / KEYS.length))),
    acknowledgedMessagesPerSecond: figure('acknowledgedPerSecond'),
    bareServerPointsPerSecond: limit,
    ...(mosquitto.length === 0
      ? {}
      : { mosquittoMessagesPerSecond: spread(mosquitto.map((run) => run.messagesPerSecond)) }),
    ...(toSecond.length === 0 ? {} : { mosquittoMessagesPerSecondToSecondGenerator: spread(toSecond) }),
    ...(second.length === 0
      ? {}
      : {
          secondGenerator: {
            pointsPerSecond: spread(second.map((run) => run.pointsPerSecond)),
            acknowledgementP50Ms: spread(second.map((run) => run.p50Ms)),
            acknowledgementP99Ms: spread(second.map((run) => run.p99Ms)),
          },
        }),
    shareOfBareServer: Number((pointsPerSecond.median / limit.median).toFixed(2)),
    readableAfterSeconds: figure('readableAfterSeconds'),
    acknowledgementP50Ms: figure('p50Ms'),
    acknowledgementP99Ms: figure('p99Ms'),
    processorMicrosecondsPerMessage: figure('processorMicrosecondsPerMessage'),
    residentMiB: figure('residentMiB'),
  }
}
const result = { shape, devices: DEVICES, keysPerPayload: KEYS.length, durability: values.durability, results }
if (values.only !== undefined) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
else
  writeResult(
    shape === 'embedded' ? 'ingest' : `ingest-${shape}`,
    `node benchmarks/ingest/run.ts --shape ${shape} --runs ${runs} --seconds ${seconds} --durability ${values.durability}`,
    result,
  )
