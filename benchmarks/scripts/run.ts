/**
 * The same scripts as expression (inline), as JavaScript on the pool and as a plain function of this process: messages a second, and what
 * the expression costs beside the function.
 *
 *   node benchmarks/scripts/run.ts [--seconds 1] [--runs 5]
 */
import { parseArgs } from 'node:util'
import { createScriptHost } from '../../engine/script/host.ts'
import { createJavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import type { CompiledScript, ScriptLanguage } from '../../engine/script/script.ts'
import { isJsonObject, stringifyJson, type JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'

const PACK = 1000
const PACKS_UNDER_WAY = 8

interface Example {
  readonly kind: 'filter' | 'transform'
  /** In both languages. */
  readonly body: string
  readonly plain: (message: Message) => unknown
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  filter: {
    kind: 'filter',
    body: 'return msg.temperature == null || (msg.temperature >= -40 && msg.temperature <= 80);',
    plain: (message) => {
      const { temperature } = bodyOf(message)
      return temperature === undefined || (Number(temperature) >= -40 && Number(temperature) <= 80)
    },
  },
  transformation: {
    kind: 'transform',
    body: "msg.fahrenheit = msg.temperature * 1.8 + 32; metadata.unit = 'F'; return {msg: msg, metadata: metadata, msgType: msgType};",
    plain: (message) => {
      const body = bodyOf(message)
      const data = stringifyJson({ ...body, fahrenheit: Number(body['temperature']) * 1.8 + 32 })
      return { data, metadata: { ...message.metadata, unit: 'F' }, type: message.type }
    },
  },
  'loop of 100': {
    kind: 'filter',
    body: 'var sum = 0; for (var i = 0; i < 100; i++) { if (i % 3 == 0) { sum = sum + msg.temperature; } } return sum > 0;',
    plain: (message) => {
      const temperature = Number(bodyOf(message)['temperature'])
      let sum = 0
      for (let index = 0; index < 100; index++) if (index % 3 === 0) sum += temperature
      return sum > 0
    },
  },
}

function bodyOf(message: Message): JsonObject {
  const json = message.json()
  if (!isJsonObject(json)) throw new Error('the body is no object')
  return json
}

function pack(): Message[] {
  return Array.from(
    { length: PACK },
    (_, index) =>
      new Message({
        id: '0b1c2d3e-0000-4000-8000-000000000001',
        ...{ ts: index, type: 'POST_TELEMETRY_REQUEST', tenantId: 'tenant' },
        originator: { entityType: 'DEVICE', id: '0b1c2d3e-0000-4000-8000-000000000002' },
        metadata: { deviceName: 'Thermometer', deviceType: 'default', ts: '1719915201000' },
        data: JSON.stringify({ temperature: (index % 160) - 50.5, humidity: 45.5, pressure: 1013 }),
      }),
  )
}

type Feed = (messages: readonly Message[]) => void | Promise<void>

function feedOf(script: CompiledScript<'filter' | 'transform'>): Feed {
  const sink = {
    value: () => {},
    error: (_index: number, error: Error) => {
      throw error
    },
  }
  return (messages) => script.runBatch(messages, sink)
}

/** Fresh messages each time: what a message keeps of its parsed body is part of the cost. */
async function rate(feed: Feed, milliseconds: number, underWay: number): Promise<number> {
  const started = performance.now()
  let preparing = 0
  const one = async (): Promise<number> => {
    for (let done = 0; ; done += PACK) {
      const before = performance.now()
      if (before - started > milliseconds) return done
      const messages = pack()
      // Beside packs under way it costs the pool nothing.
      if (underWay === 1) preparing += performance.now() - before
      await feed(messages)
    }
  }
  const counts = await Promise.all(Array.from({ length: underWay }, one))
  const done = counts.reduce((sum, count) => sum + count, 0)
  return Math.round((done / (performance.now() - started - preparing)) * 1000)
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '1' }, runs: { type: 'string', default: '5' } },
})
const seconds = Number(values.seconds)
const runs = Number(values.runs)

const workers = createJavaScriptWorkers({
  ...{ clock: systemClock, threads: 2, memoryLimitMb: 64, timeoutMs: 500, queueBound: 100_000 },
})
const host = createScriptHost({
  clock: systemClock,
  random: systemRandom,
  javaScript: (source) => workers.compile(source),
})

async function measured(feed: Feed, underWay: number): Promise<Spread> {
  await rate(feed, 500, underWay)
  const rates: number[] = []
  for (let run = 0; run < runs; run++) rates.push(await rate(feed, seconds * 1000, underWay))
  return spread(rates)
}

async function compiled({ kind, body }: Example, language: ScriptLanguage): Promise<Feed> {
  return feedOf(await host.compile({ language, kind, body, tenantId: 'tenant', ownerId: 'benchmark' }))
}

try {
  const table: Record<string, Record<string, Spread>> = {}
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const plain: Feed = (messages) => {
      let kept: unknown
      for (const message of messages) kept = example.plain(message)
      if (kept === undefined) throw new Error('the function made nothing')
    }
    table[name] = {
      expression: await measured(await compiled(example, 'TBEL'), 1),
      'JavaScript on the pool, two threads': await measured(await compiled(example, 'JS'), PACKS_UNDER_WAY),
      'plain function': await measured(plain, 1),
    }
  }
  writeResult('scripts', `node benchmarks/scripts/run.ts --seconds ${seconds} --runs ${runs}`, {
    messagesPerSecond: table,
  })
} finally {
  await workers.close()
}
