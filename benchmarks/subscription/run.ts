/**
 * How long from a device's publish to the WebSocket update in the hands of a subscriber? MQTT QoS 1, one message at a time on an
 * idle server; beside it the acknowledgement of the same message, which is the sync to the disk.
 *
 *   node benchmarks/subscription/run.ts [--runs 5] [--messages 200] [--shape embedded]
 */
import { connect } from 'mqtt'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import WebSocket from 'ws'
import { RestClient, login } from '../../test/support/clients.ts'
import { spread, writeResult } from '../lib/report.ts'
import { startShape } from '../lib/shape.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    messages: { type: 'string', default: '200' },
    shape: { type: 'string', default: 'embedded' },
  },
})
const runs = Number(values.runs)
const messages = Number(values.messages)

interface Update {
  readonly subscriptionId?: number
  readonly data?: Readonly<Record<string, readonly (readonly [number, string])[]>>
}

const shape = await startShape(values.shape)
try {
  const { millrace } = shape
  const token = await login(millrace)
  const device = await new RestClient(millrace, token).createDevice('watched', 'WATCHED')
  const socket = new WebSocket(`${millrace.url.replace('http', 'ws')}/api/ws`)
  await once(socket, 'open')
  const waiting = new Map<string, () => void>()
  socket.on('message', (text) => {
    if (!Buffer.isBuffer(text)) throw new Error('a text frame is one buffer')
    const { data } = JSON.parse(text.toString()) as Update
    for (const [, value] of data?.['n'] ?? []) waiting.get(value)?.()
  })
  socket.send(
    JSON.stringify({
      authCmd: { cmdId: 0, token },
      cmds: [{ type: 'TIMESERIES', entityType: 'DEVICE', entityId: device, scope: 'LATEST_TELEMETRY', cmdId: 1 }],
    }),
  )
  await once(socket, 'message')
  const client = connect({
    host: '127.0.0.1',
    port: millrace.ports['mqtt'] ?? 0,
    username: 'WATCHED',
    protocolVersion: 4,
  })
  await new Promise<void>((resolve) => client.once('connect', () => resolve()))

  const updates: { median: number[]; p99: number[] } = { median: [], p99: [] }
  const acknowledgements: { median: number[]; p99: number[] } = { median: [], p99: [] }
  let n = 0
  for (let run = 0; run < runs; run++) {
    const updated: number[] = []
    const acknowledged: number[] = []
    for (let message = 0; message < messages; message++) {
      const value = String(++n)
      const began = performance.now()
      const seen = new Promise<void>((resolve) => waiting.set(value, resolve))
      const stored = client.publishAsync('v1/devices/me/telemetry', `{"n":${value}}`, { qos: 1 })
      await Promise.all([
        stored.then(() => acknowledged.push(performance.now() - began)),
        seen.then(() => updated.push(performance.now() - began)),
      ])
      waiting.delete(value)
    }
    note(updates, updated)
    note(acknowledgements, acknowledged)
    process.stderr.write(`update ${updates.median.at(-1)} ms, acknowledgement ${acknowledgements.median.at(-1)} ms\n`)
  }
  await client.endAsync()
  socket.close()
  writeResult(
    values.shape === 'embedded' ? 'subscription' : `subscription-${values.shape}`,
    `node benchmarks/subscription/run.ts --runs ${runs} --messages ${messages} --shape ${values.shape}`,
    {
      shape: values.shape,
      messagesPerRun: messages,
      results: {
        'WebSocket update after the publish': { medianMs: spread(updates.median), p99Ms: spread(updates.p99) },
        'acknowledgement (PUBACK)': { medianMs: spread(acknowledgements.median), p99Ms: spread(acknowledgements.p99) },
      },
    },
  )
} finally {
  await shape.close()
}

function note(into: { median: number[]; p99: number[] }, took: readonly number[]): void {
  const sorted = [...took].sort((a, b) => a - b)
  const at = (share: number): number => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 100) / 100
  into.median.push(at(0.5))
  into.p99.push(at(0.99))
}
