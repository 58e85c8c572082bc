/**
 * How many messages a second does the embedded link take, from `publish` to `stored`, delivered and settled on the way? Closed
 * loop with so many outstanding. Beside it, interleaved, the limits: the same bytes a block appended and synced (or not) in a bare loop,
 * and protobufjs' writer in place of the hand-written one. Usage: node benchmarks/link/run.ts [--messages 500000] [--runs 3]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import protobuf from 'protobufjs/minimal.js'
import type { Durability } from '../../disk/disk.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { openSegmentLog } from '../../engine/link/segments/segment-log.ts'
import { BlockWriter } from '../../engine/link/block-writer.ts'
import { decodeBlock } from '../../engine/link/wire.ts'
import type { Message } from '../../model/message.ts'
import { systemClock } from '../../model/system-clock.ts'
import { spread, writeResult } from '../lib/report.ts'
import { messageOf } from '../lib/thermometer-message.ts'

const { values } = parseArgs({
  options: { messages: { type: 'string', default: '500000' }, runs: { type: 'string', default: '3' } },
})
const total = Number(values.messages)
const runs = Number(values.runs)

interface Road {
  readonly rate: number
  readonly bytesAMessage: number
  readonly writes: number
  readonly count: number
}

/** One run in a fresh folder. A run that lost or doubled a message is void. */
async function publishAll(durability: Durability, outstanding: number): Promise<Road> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-link-'))
  const log = await openSegmentLog({ directory, disk: nodeDisk, clock: systemClock, durability, partitions: 16 })
  const count = outstanding === 1 ? Math.min(total, 3000) : total
  let delivered = 0
  const { promise: allDelivered, resolve: whenDelivered } = Promise.withResolvers<void>()
  log.consume({
    room: () => 20_000,
    deliver: (batch) => {
      delivered += batch.length
      log.settle(batch)
      if (delivered === count) whenDelivered()
    },
  })
  const startedAt = performance.now()
  await new Promise<void>((resolve, reject) => {
    let sent = 0
    let stored = 0
    const send = (): void => log.publish(messageOf(sent++), receipt)
    const receipt = {
      stored: () => {
        if (++stored === count) resolve()
        else if (sent < count) send()
      },
      refused: reject,
    }
    while (sent < Math.min(outstanding, count)) send()
  })
  await allDelivered
  const milliseconds = performance.now() - startedAt
  const { bytesWritten, writes, settled } = log.figures()
  await log.close()
  rmSync(directory, { recursive: true })
  if (delivered !== count || settled !== count)
    throw new Error(`void: ${delivered} of ${count} delivered, ${settled} settled`)
  return { rate: (count / milliseconds) * 1000, bytesAMessage: bytesWritten / count, writes, count }
}

/** The limit: blocks of the same size written one after the other by the same calls, with nothing else done. */
async function bareAppend(durability: Durability, road: Road): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bare-'))
  const file = await nodeDisk.create(join(directory, 'bare'))
  const block = Buffer.alloc(Math.round((road.bytesAMessage * road.count) / road.writes), 1)
  const startedAt = performance.now()
  for (let write = 0; write < road.writes; write++) {
    await file.write(block, write * block.length)
    if (durability === 'power-cut') await file.sync()
  }
  const milliseconds = performance.now() - startedAt
  await file.close()
  rmSync(directory, { recursive: true })
  return (road.count / milliseconds) * 1000
}

/** Nanoseconds a message of each codec, in blocks of 256. */
function codecs(): Readonly<Record<string, number>> {
  const block = Array.from({ length: 256 }, (_, index) => messageOf(index))
  const writer = new BlockWriter(16)
  const encode = (): Buffer => {
    writer.reset()
    for (const message of block) writer.message(message)
    return writer.finish()
  }
  const body = Buffer.from(encode().subarray(12))
  return {
    encode: nanosecondsEach(256, encode),
    decode: nanosecondsEach(256, () => decodeBlock(body, { entries: true })),
    encodeWithProtobufjs: nanosecondsEach(256, () => encodeWithProtobufjs(block)),
  }
}

/** The same fields with the library's writer. */
function encodeWithProtobufjs(block: readonly Message[]): Uint8Array {
  const writer = protobuf.Writer.create()
  const texts = new Map<string, number>()
  const text = (value: string): number => {
    const known = texts.get(value)
    if (known !== undefined) return known
    texts.set(value, texts.size + 1)
    writer.uint32(0x12).string(value)
    return texts.size
  }
  for (const message of block) {
    const type = text(message.type)
    const tenant = text(message.tenantId)
    const originatorType = text(message.originator.entityType)
    const originator = text(message.originator.id)
    const metadata = Object.entries(message.metadata).map(([key, value]) => [
      text(key),
      key === 'ts' ? value : text(value),
    ])
    writer.uint32(0x1a).fork().uint32(0x0a).string(message.id).uint32(0x10).sint64(message.ts)
    writer.uint32(0x18).uint32(type).uint32(0x20).uint32(tenant).uint32(0x28).uint32(originatorType)
    writer.uint32(0x30).uint32(originator)
    for (const [key, value] of metadata) {
      writer.uint32(0x40).uint32(Number(key)).uint32(0x40)
      if (typeof value === 'string') writer.uint32(0).uint32(0x4a).string(value)
      else writer.uint32(Number(value))
    }
    writer.uint32(0x5a).string(message.data).ldelim()
  }
  return writer.finish()
}

/** Of processor time, the best of many rounds: what neighbours on the machine do is not asked here. */
function nanosecondsEach(size: number, run: () => unknown): number {
  const rounds: number[] = []
  for (let round = 0; round < 30; round++) {
    const before = process.cpuUsage()
    for (let repeat = 0; repeat < 200; repeat++) run()
    const { user, system } = process.cpuUsage(before)
    rounds.push(((user + system) * 1000) / (200 * size))
  }
  return Math.round(spread(rounds).least)
}

const nanosecondsAMessage = codecs()
const results: Record<string, unknown> = {}
for (const durability of ['process-death', 'power-cut'] as const) {
  for (const outstanding of [1, 256, 4096]) {
    const rates: number[] = []
    const limits: number[] = []
    let last: Road | undefined
    await publishAll(durability, outstanding)
    for (let run = 0; run < runs; run++) {
      last = await publishAll(durability, outstanding)
      rates.push(last.rate)
      limits.push(await bareAppend(durability, last))
    }
    const rate = spread(rates.map(Math.round))
    const limit = spread(limits.map(Math.round))
    results[`${durability}, ${outstanding} outstanding`] = {
      messagesASecond: rate,
      bareAppendMessagesASecond: limit,
      ratio: Number((rate.median / limit.median).toFixed(2)),
      bytesAMessage: Math.round(last?.bytesAMessage ?? 0),
      messagesAWrite: Math.round((last?.count ?? 0) / (last?.writes ?? 1)),
    }
  }
}
writeResult('link', `node benchmarks/link/run.ts --messages ${total} --runs ${runs}`, {
  results,
  nanosecondsAMessage,
  peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
})
