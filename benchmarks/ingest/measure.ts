/** One measurement of a run against one shape, and of what stands beside it: the bare server and mosquitto. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { RestClient, login } from '../../test/support/clients.ts'
import { firstLine, lineOf } from '../lib/child.ts'
import { BENCHMARKS, processorSeconds, residentBytes } from '../lib/report.ts'
import { startShape, type Shape } from '../lib/shape.ts'
import type { GeneratorOptions, GeneratorResult } from './generator.ts'
import { startMosquitto } from './mosquitto.ts'
import { KEYS } from './payload.ts'
import { acknowledgedToSecond, measureWithSecond, type SecondMeasured } from './second-generator.ts'
import { compareStored, untilReadable } from './stored.ts'

export const DEVICES = 100

export interface Case {
  readonly name: string
  readonly protocol: 'http' | 'mqtt'
  readonly window: number
}

export const CASES: readonly Case[] = [
  { name: 'HTTP, 1 in flight a device', protocol: 'http', window: 1 },
  { name: 'MQTT QoS 1, 1 in flight a device', protocol: 'mqtt', window: 1 },
  { name: 'MQTT QoS 1, 10 in flight a device', protocol: 'mqtt', window: 10 },
]

export interface RunSettings {
  readonly shape: Shape
  readonly seconds: number
  readonly environment: Readonly<Record<string, string>>
  /** The second generator, where it is here. */
  readonly secondGenerator?: string | undefined
}

export interface Measured {
  /** Stored points over the time from the first message until the last point can be read. */
  readonly pointsPerSecond: number
  readonly acknowledgedPerSecond: number
  readonly readableAfterSeconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly processorMicrosecondsPerMessage: number
  readonly residentMiB: number
  readonly second: SecondMeasured | undefined
}

const WARM_UP_SECONDS = 1
const DAY_MS = 86_400_000

export async function measure(testCase: Case, settings: RunSettings): Promise<Measured> {
  const { shape, seconds, environment, secondGenerator } = settings
  const running = await startShape(shape, environment)
  const { millrace, pids } = running
  const processor = (): number => pids.reduce((sum, pid) => sum + processorSeconds(pid), 0)
  try {
    const rest = new RestClient(millrace, await login(millrace))
    const tokens = deviceTokens()
    const ids = await Promise.all(tokens.map((token, index) => rest.createDevice(`bench ${index}`, token)))
    const { protocol, window } = testCase
    const port = millrace.ports[protocol] ?? 0
    const today = Date.now()
    await generate({ protocol, port, tokens, window, seconds: WARM_UP_SECONDS, firstTime: today - 3 * DAY_MS })
    const processorBefore = processor()
    const firstTime = today - 2 * DAY_MS
    const result = await generate({ protocol, port, tokens, window, seconds, firstTime })
    if (result.failed > 0) throw new Error(`void: ${result.failed} requests failed`)
    const acknowledgedAt = performance.now()
    const sent = ids.map((deviceId, index) => ({ deviceId, firstTime, messages: result.acknowledgedOf[index] ?? 0 }))
    const readableAfterSeconds = ((await untilReadable(rest, sent)) - acknowledgedAt) / 1000
    const processorMicrosecondsPerMessage = ((processor() - processorBefore) * 1e6) / result.acknowledged
    await compareStored(rest, sent)
    const points = result.acknowledged * KEYS.length
    return {
      pointsPerSecond: Math.round(points / (result.seconds + readableAfterSeconds)),
      acknowledgedPerSecond: Math.round(result.acknowledged / result.seconds),
      readableAfterSeconds,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      processorMicrosecondsPerMessage,
      residentMiB: residentBytes(millrace.pid) / 2 ** 20,
      second:
        secondGenerator === undefined
          ? undefined
          : await measureWithSecond(secondGenerator, millrace, testCase, seconds),
    }
  } finally {
    await running.close()
  }
}

/** Points a second of a server that only answers. */
export async function measureLimit({ protocol, window }: Case, seconds: number): Promise<number> {
  const child = spawn(process.execPath, [join(BENCHMARKS, 'ingest', 'bare-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const ports = JSON.parse(await firstLine(child)) as Record<string, number>
    const port = ports[protocol] ?? 0
    const result = await generate({ protocol, port, tokens: deviceTokens(), window, seconds, firstTime: Date.now() })
    return Math.round((result.acknowledged * KEYS.length) / result.seconds)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

export interface MosquittoMeasured {
  /** Messages a second that it acknowledges to our generator, and to the second one where that is here. */
  readonly messagesPerSecond: number
  readonly toSecond: number | undefined
}

/** Undefined where mosquitto is not installed or not asked. */
export async function measureMosquitto(
  testCase: Case,
  seconds: number,
  secondGenerator: string | undefined,
): Promise<MosquittoMeasured | undefined> {
  const { protocol, window } = testCase
  const broker = protocol === 'mqtt' ? await startMosquitto() : undefined
  if (broker === undefined) return undefined
  try {
    const { port } = broker
    const result = await generate({ protocol, port, tokens: deviceTokens(), window, seconds, firstTime: Date.now() })
    return {
      messagesPerSecond: Math.round(result.acknowledged / result.seconds),
      toSecond:
        secondGenerator === undefined ? undefined : acknowledgedToSecond(secondGenerator, port, testCase, seconds),
    }
  } finally {
    await broker.close()
  }
}

function deviceTokens(): readonly string[] {
  return Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
}

function generate(options: GeneratorOptions): Promise<GeneratorResult> {
  return lineOf<GeneratorResult>(join(BENCHMARKS, 'ingest', 'generator.ts'), options)
}
