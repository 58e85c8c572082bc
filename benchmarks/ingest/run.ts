/**
 * How many points a second does one process take over real sockets, stored and read back? 3-key payloads, 100 devices, explicit
 * times, the load generator on the same cores. Beside it, interleaved: the same server answering without doing anything.
 *
 *   node benchmarks/ingest/run.ts [--runs 3] [--seconds 5] [--profile]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { RestClient, login } from '../../test/support/clients.ts'
import { startMillrace, type RunningMillrace } from '../../test/support/start-millrace.ts'
import { BENCHMARKS, processorSeconds, residentBytes, spread, writeResult } from '../lib/report.ts'
import type { GeneratorOptions, GeneratorResult } from './generator.ts'

const DEVICES = 100
const KEYS = 3
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    durability: { type: 'string', default: 'power-cut' },
    profile: { type: 'boolean', default: false },
  },
})
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

async function generate(options: GeneratorOptions): Promise<GeneratorResult> {
  const child = spawn(process.execPath, [join(BENCHMARKS, 'ingest', 'generator.ts'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await firstLine(child)) as GeneratorResult
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('the process ended without a line')
}

async function measure(testCase: Case): Promise<Measured> {
  const millrace = await startMillrace({
    environment: {
      DURABILITY: values.durability,
      ...(values.profile ? { NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=.cache/profiles' } : {}),
    },
  })
  try {
    const rest = new RestClient(millrace, await login(millrace))
    const tokens = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
    const ids = await Promise.all(tokens.map((token, index) => rest.createDevice(`bench ${index}`, token)))
    const port = millrace.ports[testCase.protocol] ?? 0
    await generate({ protocol: testCase.protocol, port, tokens, window: testCase.window, seconds: 1 })
    const before = await stored(rest, ids)
    const processorBefore = processorSeconds(millrace.pid)
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
      processorMicrosecondsPerMessage: ((processorSeconds(millrace.pid) - processorBefore) * 1e6) / result.acknowledged,
      residentMiB: residentBytes(millrace.pid) / 2 ** 20,
    }
  } finally {
    await end(millrace)
  }
}

/** With a profile wanted, the process must end by itself, or it writes none. */
async function end(millrace: RunningMillrace): Promise<void> {
  const code = await millrace.stop()
  if (code !== 0) throw new Error(`Millrace ended with ${code}:\n${millrace.log()}`)
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

const results: Record<string, unknown> = {}
for (const testCase of CASES) {
  const measured: Measured[] = []
  const limits: number[] = []
  for (let run = 0; run < runs; run++) {
    measured.push(await measure(testCase))
    limits.push(await measureLimit(testCase))
    process.stderr.write(
      `${testCase.name}: ${measured.at(-1)?.pointsPerSecond} points/s, bare server ${limits.at(-1)}\n`,
    )
  }
  const pointsPerSecond = spread(measured.map((run) => run.pointsPerSecond))
  const limit = spread(limits)
  results[testCase.name] = {
    pointsPerSecond,
    bareServerPointsPerSecond: limit,
    shareOfBareServer: Number((pointsPerSecond.median / limit.median).toFixed(2)),
    drainedAfterSeconds: spread(measured.map((run) => run.drainedAfterSeconds)),
    acknowledgementP50Ms: spread(measured.map((run) => run.p50Ms)),
    acknowledgementP99Ms: spread(measured.map((run) => run.p99Ms)),
    processorMicrosecondsPerMessage: spread(measured.map((run) => run.processorMicrosecondsPerMessage)),
    residentMiB: spread(measured.map((run) => run.residentMiB)),
  }
}
writeResult(
  'ingest',
  `node benchmarks/ingest/run.ts --runs ${runs} --seconds ${seconds} --durability ${values.durability}`,
  {
    devices: DEVICES,
    keysPerPayload: KEYS,
    durability: values.durability,
    results,
  },
)
