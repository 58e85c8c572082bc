/**
 * What does a message cost over each protocol? A hundred devices, one message each under way. CoAP and LwM2M beside a bare echo under the same
 * generator, Protobuf beside JSON over MQTT, in turns in one run.
 *
 *   node benchmarks/protocols/run.ts [--seconds 8] [--runs 3] [--only MQTT]
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RestClient, login } from '../../test/support/clients.ts'
import { createLwm2mDevice, createLwm2mProfile } from '../../test/support/lwm2m-device.ts'
import { startMillrace } from '../../test/support/start-millrace.ts'
import type { GeneratorOptions, GeneratorResult } from '../ingest/generator.ts'
import { KEYS, PROTOBUF_SCHEMA } from '../ingest/payload.ts'
import { firstLine, lineOf } from '../lib/child.ts'
import { BENCHMARKS, processorSeconds, spread, writeResult } from '../lib/report.ts'
import type { DatagramOptions, DatagramResult } from './datagrams.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    runs: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const SECONDS = Number(values.seconds)
const DEVICES = 100
const WARM_UP_SECONDS = 1
const OBSERVED = '/3_1.0/0/9'

const CASES = {
  'MQTT, JSON': { points: KEYS.length, prepare: mqttDevices('JSON') },
  'MQTT, Protobuf': { points: KEYS.length, prepare: mqttDevices('PROTOBUF') },
  'CoAP, confirmable': { points: KEYS.length, prepare: coapDevices },
  'LwM2M, confirmable notifications': { points: 1, prepare: lwm2mClients },
} as const
type Case = keyof typeof CASES

type Result = GeneratorResult | DatagramResult
type Load = (seconds: number) => Promise<Result>
type Ports = Readonly<Record<string, number>>

interface Measured {
  readonly messagesPerSecond: number
  readonly processorMicrosecondsPerMessage: number
  readonly p99Ms: number
}

function mqttDevices(transportPayloadType: 'JSON' | 'PROTOBUF') {
  return async (rest: RestClient, ports: Ports): Promise<Load> => {
    const isProtobuf = transportPayloadType === 'PROTOBUF'
    await rest.expect('POST', '/api/deviceProfile', {
      ...{ name: 'benchmark', type: 'DEFAULT', transportType: 'MQTT', provisionType: 'DISABLED' },
      profileData: {
        configuration: { type: 'DEFAULT' },
        transportConfiguration: {
          type: 'MQTT',
          transportPayloadTypeConfiguration: {
            transportPayloadType,
            ...(isProtobuf ? { deviceTelemetryProtoSchema: PROTOBUF_SCHEMA } : {}),
          },
        },
      },
    })
    const tokens = await accessTokens(rest, 'benchmark')
    const load = { protocol: 'mqtt', port: ports['mqtt'] ?? 0, tokens, window: 1 } as const
    let turn = 0
    return (seconds) =>
      lineOf<GeneratorResult>(join(BENCHMARKS, 'ingest', 'generator.ts'), {
        ...{ ...load, seconds, firstTime: Date.now() - ++turn * 86_400_000 },
        ...(isProtobuf ? { encoding: 'protobuf' } : {}),
      } satisfies GeneratorOptions)
  }
}

async function coapDevices(rest: RestClient, ports: Ports): Promise<Load> {
  const names = await accessTokens(rest, 'default')
  return datagrams({ protocol: 'coap', port: ports['coap'] ?? 0, names, isBare: false })
}

async function lwm2mClients(rest: RestClient, ports: Ports): Promise<Load> {
  const profileId = await createLwm2mProfile(rest, 'benchmark', {
    observeAttr: { keyName: { [OBSERVED]: 'battery' }, observe: [OBSERVED], telemetry: [OBSERVED], attribute: [] },
  })
  const names = Array.from({ length: DEVICES }, (_, index) => `urn:bench:${index}`)
  for (const name of names) await createLwm2mDevice(rest, profileId, name)
  return datagrams({ protocol: 'lwm2m', port: ports['lwm2m'] ?? 0, names, isBare: false })
}

async function accessTokens(rest: RestClient, type: string): Promise<readonly string[]> {
  const tokens = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
  for (const token of tokens) await rest.expect('POST', `/api/device?accessToken=${token}`, { name: token, type })
  return tokens
}

function datagrams(options: Omit<DatagramOptions, 'seconds'>): Load {
  return (seconds) =>
    lineOf<DatagramResult>(join(BENCHMARKS, 'protocols', 'datagrams.ts'), {
      ...options,
      seconds,
    } satisfies DatagramOptions)
}

async function measure(name: Case): Promise<Measured> {
  const millrace = await startMillrace({ environment: { DURABILITY: 'power-cut' } })
  try {
    const load = await CASES[name].prepare(new RestClient(millrace, await login(millrace)), millrace.ports)
    await load(WARM_UP_SECONDS)
    return await measured(load, millrace.pid)
  } finally {
    await millrace.stop()
  }
}

async function measureEcho(protocol: DatagramOptions['protocol']): Promise<Measured> {
  const script = join(BENCHMARKS, 'protocols', 'echo.ts')
  const echo = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const { port } = JSON.parse(await firstLine(echo)) as { port: number }
    const names = Array.from({ length: DEVICES }, (_, index) => `BENCH_${index}`)
    const load = datagrams({ protocol, port, names, isBare: true })
    await load(WARM_UP_SECONDS)
    return await measured(load, echo.pid ?? 0)
  } finally {
    echo.kill()
  }
}

async function measured(load: Load, pid: number): Promise<Measured> {
  const before = processorSeconds(pid)
  const { acknowledged, failed, seconds, p99Ms } = await load(SECONDS)
  if (failed > 0) throw new Error(`void: ${failed} messages failed`)
  return {
    messagesPerSecond: acknowledged / seconds,
    processorMicrosecondsPerMessage: ((processorSeconds(pid) - before) * 1e6) / acknowledged,
    p99Ms,
  }
}

const told = (runs: readonly Measured[], points: number) => ({
  pointsPerSecond: spread(runs.map(({ messagesPerSecond }) => Math.round(messagesPerSecond * points))),
  processorMicrosecondsPerMessage: spread(runs.map((run) => run.processorMicrosecondsPerMessage)),
  p99Ms: spread(runs.map(({ p99Ms }) => p99Ms)),
})

const names = Object.keys(CASES) as Case[]
const all = new Map<string, Measured[]>()
const note = (name: string, one: Measured): void => {
  all.set(name, [...(all.get(name) ?? []), one])
  process.stderr.write(`${name}: ${Math.round(one.messagesPerSecond)} messages/s\n`)
}
for (let run = 0; run < Number(values.runs); run++) {
  for (const name of names) if (name.includes(values.only)) note(name, await measure(name))
  if (values.only !== '') continue
  note('bare echo, CoAP', await measureEcho('coap'))
  note('bare echo, LwM2M', await measureEcho('lwm2m'))
}
if (values.only !== '') process.exit()

const rate = (name: string): number => spread((all.get(name) ?? []).map((run) => run.messagesPerSecond)).median
const ratio = (name: Case, beside: string): number => Number((rate(name) / rate(beside)).toFixed(2))
writeResult('protocols', `node benchmarks/protocols/run.ts --seconds ${SECONDS} --runs ${values.runs}`, {
  devices: DEVICES,
  results: Object.fromEntries(
    [...all].map(([name, runs]) => [name, told(runs, name in CASES ? CASES[name as Case].points : 1)]),
  ),
  protobufOverJson: ratio('MQTT, Protobuf', 'MQTT, JSON'),
  coapOverEcho: ratio('CoAP, confirmable', 'bare echo, CoAP'),
  lwm2mOverEcho: ratio('LwM2M, confirmable notifications', 'bare echo, LwM2M'),
})
