/**
 * How many messages a second does the link take on NATS JetStream, from `publish` to `stored`, delivered and settled on the way? Beside it,
 * interleaved: bare publishes of 100-record messages to one stream of the same server (the limit of who batches by hand), and the embedded link.
 * Usage: node benchmarks/link-jetstream/run.ts [--messages 200000] [--runs 3] [--partitions 10] [--streams 3]
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connectNats } from '../../engine/cluster/nats-connection.ts'
import { soleMember } from '../../engine/cluster/membership.ts'
import { openJetStreamLink } from '../../engine/link/jetstream/jetstream-link.ts'
import { BlockWriter } from '../../engine/link/block-writer.ts'
import type { Link } from '../../engine/link/link.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { openSegmentLog } from '../../engine/link/segments/segment-log.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { startNats } from '../../test/support/servers/index.ts'
import { processorSeconds, spread, writeResult } from '../lib/report.ts'
import { messageOf } from '../lib/thermometer-message.ts'

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '200000' },
    runs: { type: 'string', default: '3' },
    partitions: { type: 'string', default: '10' },
    streams: { type: 'string', default: '3' },
  },
})
const total = Number(values.messages)
const runs = Number(values.runs)
const partitions = Number(values.partitions)
const streams = Number(values.streams)
const RECORDS = 100
const OUTSTANDING = [1, 256, 4096]

interface Run {
  readonly rate: number
  readonly frames: number
  readonly count: number
  readonly clientCpuShare: number
  readonly serverCpuShare: number
}

/** Publishes, has everything delivered and settled. A run that lost or doubled a message is void. */
async function through(link: Link, count: number, outstanding: number): Promise<number> {
  let delivered = 0
  let whenDelivered: () => void = () => undefined
  const allDelivered = new Promise<void>((resolve) => (whenDelivered = resolve))
  const stop = link.consume({
    room: () => 20_000,
    deliver: (batch) => {
      delivered += batch.length
      link.settle(batch)
      if (delivered >= count) whenDelivered()
    },
  })
  const startedAt = performance.now()
  await new Promise<void>((resolve, reject) => {
    let sent = 0
    let stored = 0
    const send = (): void => link.publish(messageOf(sent++), receipt)
    const receipt = {
      stored: () => {
        if (++stored === count) resolve()
        else if (sent < count) send()
      },
      refused: reject,
    }
    while (sent < outstanding) send()
  })
  await allDelivered
  const milliseconds = performance.now() - startedAt
  if (delivered !== count) throw new Error(`void: ${delivered} delivered of ${count}`)
  stop()
  return milliseconds
}

async function onJetStream(servers: string, pid: number, outstanding: number): Promise<Run> {
  const count = outstanding === 1 ? Math.min(total, 2000) : total
  const line = await connectNats({ servers, name: 'benchmark', clock: systemClock })
  const prefix = `b${randomUUID().slice(0, 8)}`
  const link = await openJetStreamLink({
    line,
    prefix,
    partitions,
    streams,
    replicas: 1,
    maxBytesPerPartition: 64 << 20,
    maxLetters: 1000,
    maxLetterBytes: 1 << 24,
    membership: soleMember({ id: randomUUID(), roles: ['engine'], startedAt: 0 }),
    clock: systemClock,
    random: systemRandom,
  })
  const client = processorSeconds(process.pid)
  const server = processorSeconds(pid)
  const milliseconds = await through(link, count, outstanding)
  const share = (used: number): number => Number(((used * 1000) / milliseconds).toFixed(2))
  const [clientCpuShare, serverCpuShare] = [
    share(processorSeconds(process.pid) - client),
    share(processorSeconds(pid) - server),
  ]
  const { writes } = link.figures()
  await link.close()
  const manager = await jetstreamManager(line.connection)
  for (let stream = 0; stream < streams; stream++) await manager.streams.delete(`${prefix}_S${stream}`)
  await line.close()
  return { rate: (count / milliseconds) * 1000, frames: writes, count, clientCpuShare, serverCpuShare }
}

async function embedded(outstanding: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-link-'))
  const count = outstanding === 1 ? Math.min(total, 2000) : total
  const log = await openSegmentLog({
    directory,
    disk: nodeDisk,
    clock: systemClock,
    durability: 'power-cut',
    partitions,
  })
  const milliseconds = await through(log, count, outstanding)
  await log.close()
  rmSync(directory, { recursive: true })
  return (count / milliseconds) * 1000
}

/** Messages of 100 records, so many in flight, to one stream. */
async function bare(servers: string, inFlight: number): Promise<number> {
  const line = await connectNats({ servers, name: 'bare', clock: systemClock })
  const manager = await jetstreamManager(line.connection)
  const stream = `bare${randomUUID().slice(0, 8)}`
  await manager.streams.add({ name: stream, subjects: [stream] })
  const writer = new BlockWriter(1)
  for (let index = 0; index < RECORDS; index++) writer.message(messageOf(index))
  const body = writer.finish()
  const client = jetstream(line.connection)
  const publishes = Math.ceil(Math.min(total, 100_000) / RECORDS)
  const startedAt = performance.now()
  let sent = 0
  const lane = async (): Promise<void> => {
    while (sent++ < publishes) await client.publish(stream, body)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const milliseconds = performance.now() - startedAt
  await manager.streams.delete(stream)
  await line.close()
  return (publishes * RECORDS * 1000) / milliseconds
}

const results: Record<string, unknown> = {}
for (const sync of ['always', '2m'] as const) {
  const server = await startNats({ syncInterval: sync })
  for (const outstanding of OUTSTANDING) {
    const rates: number[] = []
    const limits: number[] = []
    const logs: number[] = []
    let last: Run | undefined
    await onJetStream(server.url, server.pid, outstanding)
    for (let run = 0; run < runs; run++) {
      last = await onJetStream(server.url, server.pid, outstanding)
      rates.push(Math.round(last.rate))
      limits.push(Math.round(await bare(server.url, 32)))
      logs.push(Math.round(await embedded(outstanding)))
    }
    results[`sync ${sync}, ${outstanding} outstanding`] = {
      messagesASecond: spread(rates),
      messagesAFrame: Number(((last?.count ?? 0) / (last?.frames ?? 1)).toFixed(1)),
      clientCpuShare: last?.clientCpuShare,
      serverCpuShare: last?.serverCpuShare,
      bare100RecordsASecond: spread(limits),
      embeddedPowerCutMessagesASecond: spread(logs),
    }
  }
  await server.stop()
}
writeResult(
  'link-jetstream',
  `node benchmarks/link-jetstream/run.ts --messages ${total} --runs ${runs} --partitions ${partitions} --streams ${streams}`,
  { results, peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024) },
)
