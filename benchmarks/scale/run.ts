/**
 * How does the cost of a message grow with the number of devices, and what does a device cost that has no socket? The same number
 * of messages from 100 to 100,000 devices in turns over the same 64 HTTP connections; processor time of the server a message, and
 * its resident memory once every device was heard. And the heap that as many device actors take by themselves, without stores.
 *
 *   node benchmarks/scale/run.ts [--runs 3] [--messages 200000] [--devices 100,1000,10000,100000]
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { RestClient, login } from '../../test/support/clients.ts'
import { startMillrace } from '../../test/support/start-millrace.ts'
import { lineOf } from '../lib/child.ts'
import { BENCHMARKS, processorSeconds, residentBytes, spread, writeResult } from '../lib/report.ts'
import type { ActorsResult } from './actors.ts'
import type { SpreadOptions, SpreadResult } from './generator.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    messages: { type: 'string', default: '200000' },
    devices: { type: 'string', default: '100,1000,10000,100000' },
  },
})
const runs = Number(values.runs)
const messages = Number(values.messages)
const counts = values.devices.split(',').map(Number)
const SOCKETS = 64
const SETTLE_MS = 3000
const PREFIX = 'SCALE_'

const millrace = await startMillrace()
const results: Record<string, unknown> = {}
try {
  const rest = new RestClient(millrace, await login(millrace))
  let made = 0
  for (const devices of counts) {
    const before = await settled()
    for (; made < devices; made += 50) {
      const some = Math.min(50, devices - made)
      await Promise.all(
        Array.from({ length: some }, (_, index) =>
          rest.createDevice(`scale ${made + index}`, `${PREFIX}${made + index}`),
        ),
      )
    }
    const created = await settled()
    // Every device is heard once, so that its actor and its place in the caches are there before the measurement.
    await generate(devices, devices)
    const heard = await settled()
    const cost: number[] = []
    const rate: number[] = []
    let heldUp = 0
    for (let run = 0; run < runs; run++) {
      const processor = processorSeconds(millrace.pid)
      const result = await generate(devices, messages)
      await settled()
      cost.push(((processorSeconds(millrace.pid) - processor) * 1e6) / messages)
      rate.push(result.acknowledged / result.seconds)
      heldUp += result.heldUp
    }
    results[String(devices)] = {
      processorMicrosecondsPerMessage: spread(cost),
      messagesPerSecond: spread(rate.map(Math.round)),
      // Answered 503 and sent again: the generator is faster than the engine.
      heldUp,
      residentMiB: { before: mebibytes(before), created: mebibytes(created), heard: mebibytes(heard) },
      heardBytesPerDevice: Math.round((heard - created) / devices),
    }
    process.stderr.write(
      `${devices} devices: ${spread(cost).median.toFixed(1)} µs a message, ${mebibytes(heard)} MiB\n`,
    )
  }
} finally {
  await millrace.stop()
}
const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning']
const most = Math.max(...counts)
const actors = await lineOf<ActorsResult>(join(BENCHMARKS, 'scale', 'actors.ts'), { devices: most }, flags)
writeResult('scale', `node benchmarks/scale/run.ts --runs ${runs} --messages ${messages} --devices ${values.devices}`, {
  connections: SOCKETS,
  messages,
  byDevices: results,
  deviceActors: actors,
})

async function generate(devices: number, count: number): Promise<SpreadResult> {
  const options: SpreadOptions = {
    port: millrace.ports['http'] ?? 0,
    prefix: PREFIX,
    devices,
    sockets: SOCKETS,
    messages: count,
  }
  const result = await lineOf<SpreadResult>(join(BENCHMARKS, 'scale', 'generator.ts'), options)
  if (result.failed > 0) throw new Error(`void: ${result.failed} requests failed`)
  return result
}

/** Resident bytes once the queue is empty and the collector has had its time. */
async function settled(): Promise<number> {
  for (;;) {
    const figures = await (await fetch(`${millrace.url}/metrics`)).text()
    if (/^millrace_link_unsettled_messages 0$/m.test(figures)) break
    await delay(100)
  }
  await delay(SETTLE_MS)
  return residentBytes(millrace.pid)
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}
