/**
 * How many messages a second the JavaScript filter of the example chain takes on the pool, batches in and outcomes out.
 *
 *   node benchmarks/script-pool/run.ts [--seconds 2] [--runs 5]
 */
import { parseArgs } from 'node:util'
import { createJavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import type { CompiledScript } from '../../engine/script/script.ts'
import { Message } from '../../model/message.ts'
import { systemClock } from '../../model/system-clock.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'

const FILTER = "return typeof msg.temperature === 'undefined' || (msg.temperature >= -40 && msg.temperature <= 80);"
const PACK = 1000
const PACKS_UNDER_WAY = 8

function pack(): Message[] {
  return Array.from(
    { length: PACK },
    (_, index) =>
      new Message({
        id: '0b1c2d3e-0000-4000-8000-000000000001',
        ts: index,
        type: 'POST_TELEMETRY_REQUEST',
        tenantId: 'tenant',
        originator: { entityType: 'DEVICE', id: '0b1c2d3e-0000-4000-8000-000000000002' },
        metadata: { deviceName: 'Thermometer', deviceType: 'default', ts: '1719915201000' },
        data: JSON.stringify({ temperature: (index % 160) - 50, humidity: 45.5, pressure: 1013 }),
      }),
  )
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '2' }, runs: { type: 'string', default: '5' } },
})
const seconds = Number(values.seconds)
const runs = Number(values.runs)

const messages = pack()
const expected = messages.filter((_, index) => (index % 160) - 50 >= -40 && (index % 160) - 50 <= 80).length

async function feed(script: CompiledScript<'filter'>, until: number): Promise<number> {
  let done = 0
  while (performance.now() < until) {
    let passed = 0
    await script.runBatch(messages, {
      value(_, value) {
        if (value) passed++
      },
      error(_, error) {
        throw error
      },
    })
    if (passed !== expected) throw new Error(`${passed} of ${PACK} passed, expected ${expected}`)
    done += PACK
  }
  return done
}

async function measure(script: CompiledScript<'filter'>, milliseconds: number): Promise<number> {
  const started = performance.now()
  const feeds = Array.from({ length: PACKS_UNDER_WAY }, () => feed(script, started + milliseconds))
  const done = (await Promise.all(feeds)).reduce((sum, count) => sum + count, 0)
  return Math.round((done / (performance.now() - started)) * 1000)
}

async function ratesOn(threads: number): Promise<Spread> {
  const workers = createJavaScriptWorkers({
    clock: systemClock,
    threads,
    memoryLimitMb: 64,
    timeoutMs: 500,
    queueBound: 100_000,
  })
  try {
    const script = await workers.compile({
      language: 'JS',
      kind: 'filter',
      body: FILTER,
      tenantId: 'tenant',
      ownerId: 'benchmark',
    })
    await measure(script, 1500)
    const rates: number[] = []
    for (let run = 0; run < runs; run++) rates.push(await measure(script, seconds * 1000))
    return spread(rates)
  } finally {
    await workers.close()
  }
}

writeResult('script-pool', `node benchmarks/script-pool/run.ts --seconds ${seconds} --runs ${runs}`, {
  messagesPerSecond: { 'one thread': await ratesOn(1), 'two threads': await ratesOn(2) },
})
