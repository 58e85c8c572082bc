/**
 * How many points a second does one process take over real sockets, stored and read back? 3-key payloads, 100 devices, explicit
 * times, the load generator on the same cores. Beside it, interleaved: the same server answering without doing anything.
 *
 *   node benchmarks/ingest/run.ts [--shape embedded|production] [--runs 3] [--seconds 5] [--profile]
 *
 * `production` runs JetStream with synced frames, QuestDB with synced commits and PostgreSQL on the same cores too. MQTT has the bare
 * acknowledgement rate of mosquitto beside it, where that is installed: it stores nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RestClient, login } from '../../test/support/clients.ts'
import { firstLine, lineOf } from '../lib/child.ts'
import { BENCHMARKS, processorSeconds, residentBytes, spread, writeResult } from '../lib/report.ts'
import { shapeOf, startShape } from '../lib/shape.ts'
import type { GeneratorOptions, GeneratorResult } from './generator.ts'
import { startMosquitto } from './mosquitto.ts'

const DEVICES = 100
const KEYS = 3
const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: 'embedded' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    durability: { type: 'string', default: 'power-cut' },
    profile: { type: 'boolean', default: false },
  },
})
const shape = shapeOf(values.shape)
const runs = Number(values.runs)
const seconds = Number(values.seconds)

interface Case {
  readonly name: string
  readonly protocol: 'http' | 'mqtt'
  readonly window: number
}

const CASES: readonly Case[] = [
  { name: 'HTTP, 1 in flight a device', protocol: 'http', window: 1 },
  { name: 'MQTT QoS 1, 1 in flight a device', protocol: 'mqtt', window: 1 },
  { name: 'MQTT QoS 1, 10 in flight a device', protocol: 'mqtt', window: 10 },
]

interface Measured {
  readonly pointsPerSecond: number
  readonly drainedAfterSeconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly processorMicrosecondsPerMessage: number
  readonly residentMiB: number
}

function generate(options: GeneratorOptions): Promise<GeneratorResult> {
  return lineOf<GeneratorResult>(join(BENCHMARKS, 'ingest', 'generator.ts'), options)
}

async function measure(testCase: Case): Promise<Measured> {
  const running = await startShape(shape, {
    DURABILITY: values.durability,
    ...(values.profile ? { NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=.cache/profiles' } : {}),
  })
  const { millrace, pids } = running
  const processor = (): number => pids.reduce((sum, pid) => sum + processorSeconds(pid), 0)
  try {
    const rest = new RestClient(millrace, await login(millrace))
    const tokens = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
    const ids = await Promise.all(tokens.map((token, index) => rest.createDevice(`bench ${index}`, token)))
    const port = millrace.ports[testCase.protocol] ?? 0
    await generate({ protocol: testCase.protocol, port, tokens, window: testCase.window, seconds: 1 })
    const before = await stored(rest, ids)
    const processorBefore = processor()
    const result = await generate({ protocol: testCase.protocol, port, tokens, window: testCase.window, seconds })
    if (result.failed > 0) throw new Error(`void: ${result.failed} requests failed`)
    const ended = performance.now()
    await allStored(rest, ids, before, result.acknowledged)
    const drainedAfterSeconds = (performance.now() - ended) / 1000
    return {
      pointsPerSecond: Math.round((result.acknowledged * KEYS) / result.seconds),
      drainedAfterSeconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      processorMicrosecondsPerMessage: ((processor() - processorBefore) * 1e6) / result.acknowledged,
      residentMiB: residentBytes(millrace.pid) / 2 ** 20,
    }
  } finally {
    await running.close()
  }
}

/** Points of one key that the store holds over all devices: each message has one. */
async function stored(rest: RestClient, ids: readonly string[]): Promise<number> {
  let count = 0
  for (const id of ids) {
    const path = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries?keys=humidity&startTs=0&endTs=9999999999999&agg=COUNT&interval=9999999999999&useStrictDataTypes=true`
    const answer = await rest.expect<{ humidity?: { value: number }[] }>('GET', path)
    count += answer.humidity?.[0]?.value ?? 0
  }
  return count
}

/** A run whose values are not all there is void. Times repeat between warm-up and run, so the count may only be held from below by the run itself. */
async function allStored(
  rest: RestClient,
  ids: readonly string[],
  before: number,
  acknowledged: number,
): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const now = await stored(rest, ids)
    if (now >= Math.max(before, acknowledged)) return
    if (performance.now() > deadline) throw new Error(`void: ${acknowledged} messages acknowledged, ${now} stored`)
  }
}

async function measureLimit(testCase: Case): Promise<number> {
  const child = spawn(process.execPath, [join(BENCHMARKS, 'ingest', 'bare-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const ports = JSON.parse(await firstLine(child)) as Record<string, number>
    const tokens = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
    const result = await generate({
      protocol: testCase.protocol,
      port: ports[testCase.protocol] ?? 0,
      tokens,
      window: testCase.window,
      seconds,
    })
    return Math.round((result.acknowledged * KEYS) / result.seconds)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

/** Messages a second that mosquitto acknowledges; undefined where it is not installed or not asked. */
async function measureMosquitto(testCase: Case): Promise<number | undefined> {
  const broker = testCase.protocol === 'mqtt' ? await startMosquitto() : undefined
  if (broker === undefined) return undefined
  try {
    const tokens = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
    const result = await generate({ protocol: 'mqtt', port: broker.port, tokens, window: testCase.window, seconds })
    return Math.round(result.acknowledged / result.seconds)
  } finally {
    await broker.close()
  }
}

const results: Record<string, unknown> = {}
for (const testCase of CASES) {
  const measured: Measured[] = []
  const limits: number[] = []
  const mosquitto: number[] = []
  for (let run = 0; run < runs; run++) {
    measured.push(await measure(testCase))
    limits.push(await measureLimit(testCase))
    const bare = await measureMosquitto(testCase)
    if (bare !== undefined) mosquitto.push(bare)
    process.stderr.write(
      `${testCase.name}: ${measured.at(-1)?.pointsPerSecond} points/s, bare server ${limits.at(-1)}\n`,
    )
  }
  const pointsPerSecond = spread(measured.map((run) => run.pointsPerSecond))
  const limit = spread(limits)
  results[testCase.name] = {
    pointsPerSecond,
    messagesPerSecond: spread(measured.map((run) => Math.round(run.pointsPerSecond / KEYS))),
    bareServerPointsPerSecond: limit,
    ...(mosquitto.length === 0 ? {} : { mosquittoMessagesPerSecond: spread(mosquitto) }),
    shareOfBareServer: Number((pointsPerSecond.median / limit.median).toFixed(2)),
    drainedAfterSeconds: spread(measured.map((run) => run.drainedAfterSeconds)),
    acknowledgementP50Ms: spread(measured.map((run) => run.p50Ms)),
    acknowledgementP99Ms: spread(measured.map((run) => run.p99Ms)),
    processorMicrosecondsPerMessage: spread(measured.map((run) => run.processorMicrosecondsPerMessage)),
    residentMiB: spread(measured.map((run) => run.residentMiB)),
  }
}
writeResult(
  shape === 'embedded' ? 'ingest' : `ingest-${shape}`,
  `node benchmarks/ingest/run.ts --shape ${shape} --runs ${runs} --seconds ${seconds} --durability ${values.durability}`,
  {
    shape,
    devices: DEVICES,
    keysPerPayload: KEYS,
    durability: values.durability,
    results,
  },
)
