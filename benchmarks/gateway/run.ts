/**
 * What does it cost that devices speak through a gateway? A hundred of them behind one MQTT session, and beside it, in the same run, as many
 * sessions: publishes of QoS 1 with three values, a thousand in flight in all.
 *
 *   node benchmarks/gateway/run.ts [--seconds 10] [--runs 5]
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RestClient, login } from '../../test/support/clients.ts'
import { startMillrace } from '../../test/support/start-millrace.ts'
import type { GeneratorOptions, GeneratorResult } from '../ingest/generator.ts'
import { lineOf } from '../lib/child.ts'
import { BENCHMARKS, processorSeconds, spread, writeResult } from '../lib/report.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, runs: { type: 'string', default: '5' } },
})
const SECONDS = Number(values.seconds)
const DEVICES = 100
const IN_FLIGHT = 1000
const WARM_UP_SECONDS = 1

interface Measured {
  readonly messagesPerSecond: number
  readonly processorMicrosecondsPerMessage: number
  readonly p99Ms: number
}

function generate(options: GeneratorOptions): Promise<GeneratorResult> {
  return lineOf<GeneratorResult>(join(BENCHMARKS, 'ingest', 'generator.ts'), options)
}

async function measure(way: 'sessions' | 'gateway'): Promise<Measured> {
  const millrace = await startMillrace()
  try {
    const rest = new RestClient(millrace, await login(millrace))
    const names = Array.from({ length: DEVICES }, (_, index) => `bench ${index}`)
    await Promise.all(names.map((name, index) => rest.createDevice(name, `BENCH_${index}`)))
    const gateway = { name: 'bench gateway', type: 'default', additionalInfo: { gateway: true } }
    const token = 'BENCH_GATEWAY'
    await rest.expect('POST', `/api/device?accessToken=${token}`, gateway)
    const load = {
      ...{ protocol: 'mqtt' as const, port: millrace.ports['mqtt'] ?? 0 },
      ...(way === 'gateway'
        ? { tokens: [token], children: names, window: IN_FLIGHT }
        : { tokens: names.map((_, index) => `BENCH_${index}`), window: IN_FLIGHT / DEVICES }),
    }
    await generate({ ...load, seconds: WARM_UP_SECONDS, firstTime: Date.now() - 2 * 86_400_000 })
    const before = processorSeconds(millrace.pid)
    const { acknowledged, failed, seconds, p99Ms } = await generate({ ...load, seconds: SECONDS })
    if (failed > 0) throw new Error(`void: ${failed} requests failed`)
    return {
      messagesPerSecond: acknowledged / seconds,
      processorMicrosecondsPerMessage: ((processorSeconds(millrace.pid) - before) * 1e6) / acknowledged,
      p99Ms,
    }
  } finally {
    await millrace.stop()
  }
}

const all: Record<'sessions' | 'gateway', Measured[]> = { sessions: [], gateway: [] }
for (let run = 0; run < Number(values.runs); run++)
  for (const way of ['sessions', 'gateway'] as const) all[way].push(await measure(way))

const told = (way: 'sessions' | 'gateway') => ({
  messagesPerSecond: spread(all[way].map(({ messagesPerSecond }) => Math.round(messagesPerSecond))),
  processorMicrosecondsPerMessage: spread(all[way].map((run) => run.processorMicrosecondsPerMessage)),
  p99Ms: spread(all[way].map(({ p99Ms }) => p99Ms)),
})
const [sessions, gateway] = [told('sessions'), told('gateway')]
writeResult('gateway', `node benchmarks/gateway/run.ts --seconds ${SECONDS} --runs ${values.runs}`, {
  devices: DEVICES,
  inFlight: IN_FLIGHT,
  sessions,
  gateway,
  gatewayOverSessions: Number((gateway.messagesPerSecond.median / sessions.messagesPerSecond.median).toFixed(2)),
})
