import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import { Collector, publishAll, testLink, type LinkUnderTest } from '../contract.ts'
import type { Durability } from '../../../disk/disk.ts'
import { nodeDisk } from '../../../disk/node-disk.ts'
import { openSegmentLog, type SegmentLog } from './segment-log.ts'
import type { SimulatedDisk } from '../testkit.ts'
import { message } from '../testkit.ts'
import { outcome, simulated, type Simulated } from './testkit.ts'

/** `abandoned`: of the runs before, which crashed. Their timers would keep this process. */
async function underTest(
  durability: Durability,
  directory?: string,
  abandoned: readonly SegmentLog[] = [],
): Promise<LinkUnderTest> {
  const path = directory ?? (await mkdtemp(join(tmpdir(), 'millrace-log-')))
  const log = await openSegmentLog({ directory: path, disk: nodeDisk, clock: systemClock, durability, partitions: 4 })
  return {
    link: log,
    reopen: async () => {
      await log.close()
      return underTest(durability, path, abandoned)
    },
    crash: () => underTest(durability, path, [...abandoned, log]),
    buried: () => log.deadLetters.list({ limit: 100 }),
    close: async () => {
      for (const each of [log, ...abandoned]) await each.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}

testLink('segment log, power-cut', () => underTest('power-cut'))
testLink('segment log, process-death', () => underTest('process-death'))

test('what piled up while a frame was stored is one write and one sync', async () => {
  const { disk, open, run } = simulated()
  const log = await open()
  const before = disk.syncs
  const first = publishAll(log, [message()])
  await run(first)
  assert.equal(disk.syncs - before, 1)
  await run(
    publishAll(
      log,
      Array.from({ length: 300 }, () => message()),
    ),
  )
  assert.equal(disk.syncs - before, 2)
  assert.equal(log.figures().writes, 2)
})

test('a failed sync refuses the whole frame, and nothing is stored until a new segment can be written', async () => {
  const { clock, disk, events, open, run } = simulated()
  const log = await open()
  disk.faults.failedSync = 1
  assert.equal(await run(outcome(log)), 'link.DISK_REFUSED')
  assert.equal(log.writable, false)
  assert.equal(await run(outcome(log)), 'link.DISK_REFUSED')
  let told = 0
  log.onWritable(() => told++)
  await clock.advance(10_000)
  assert.equal(log.writable, false)
  disk.faults.failedSync = 0
  await clock.advance(10_000)
  assert.equal(log.writable, true)
  assert.equal(told, 1)
  assert.equal(await run(outcome(log)), 'stored')
  assert.ok(events.some(({ kind }) => kind === 'disk-failed') && events.some(({ kind }) => kind === 'disk-recovered'))
})

test('a failed sync of what was settled alone refuses what waits behind it, and holds senders back', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open()
  const collector = new Collector()
  log.consume(collector)
  await run(publishAll(log, [message()]))
  await run(collector.got(1))
  disk.faults.failedSync = 1
  log.settle(collector.deliveries)
  const settling = clock.untilNextTimerMs
  await clock.advance(settling ?? 0)
  const waiting = outcome(log)
  await clock.advance(50)
  assert.deepEqual(await Promise.race([waiting, Promise.resolve('waits')]), 'link.DISK_REFUSED')
  assert.equal(log.writable, false)
  disk.faults.failedSync = 0
  await clock.advance(10_000)
  assert.equal(log.writable, true)
  assert.equal(await run(outcome(log)), 'stored')
})

test('what a failed sync refused does not come back after the restart', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open()
  assert.equal(await run(outcome(log, 'kept 1')), 'stored')
  disk.faults.failedSync = 1
  assert.equal(await run(outcome(log, 'refused')), 'link.DISK_REFUSED')
  disk.faults.failedSync = 0
  await clock.advance(1000)
  assert.equal(await run(outcome(log, 'kept 2')), 'stored')
  disk.crash('power-cut')
  const collector = new Collector()
  const again = await open()
  again.consume(collector)
  await run(collector.got(2))
  assert.deepEqual(
    collector.messages.map(({ data }) => data),
    ['kept 1', 'kept 2'],
  )
})

test('a full disk refuses, and the log goes on by itself once there is space', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open()
  assert.equal(await run(outcome(log, 'before')), 'stored')
  disk.faults.capacity = disk.usedBytes + 100
  assert.equal(await run(outcome(log, 'x'.repeat(500))), 'link.DISK_REFUSED')
  disk.faults.capacity = Infinity
  await clock.advance(10_000)
  assert.equal(await run(outcome(log, 'after')), 'stored')
})

test('a torn tail is cut and told, and everything before it is there', async () => {
  let torn = 0
  for (let seed = 1; seed <= 20; seed++) {
    const { disk, events, open, run, clock } = simulated(seed)
    const log = await open()
    assert.equal(await run(outcome(log, 'stored')), 'stored')
    const lost = outcome(log, 'in flight '.repeat(50))
    await clock.settle()
    disk.crash('power-cut')
    void lost
    const collector = new Collector()
    const again = await open()
    again.consume(collector)
    await run(collector.got(1))
    assert.equal(collector.messages[0]?.data, 'stored')
    torn += events.filter(({ kind }) => kind === 'torn-tail-cut').length
  }
  assert.ok(torn > 5, `${torn} torn tails in 20 crashes`)
})

test('a damaged block in the middle is named with file, range and count, and its neighbours are delivered', async () => {
  const { disk, events, open, run } = simulated()
  const log = await open()
  for (const data of ['one', 'two', 'three']) assert.equal(await run(outcome(log, data)), 'stored')
  const { blockEnds } = await layout(disk, run)
  await run(log.close())
  disk.damage('log/segment-0000000001.log', (blockEnds[1] ?? 0) + 40)
  const collector = new Collector()
  const again = await open()
  again.consume(collector)
  await run(collector.got(2))
  assert.deepEqual(
    collector.messages.map(({ data }) => data),
    ['one', 'three'],
  )
  assert.deepEqual(events, [
    { kind: 'damaged', file: 'log/segment-0000000001.log', from: blockEnds[1], to: blockEnds[2], lostMessages: 1 },
  ])
  again.settle(collector.deliveries)
  await run(again.close())
  const third = await open()
  assert.equal(third.figures().unsettled, 0)
  assert.ok((await run(disk.list('log'))).includes('segment-0000000001.log.damaged'), 'kept aside for a rescue')
})

async function layout(disk: SimulatedDisk, run: Simulated['run']): Promise<{ blockEnds: number[] }> {
  const file = await run(disk.open('log/segment-0000000001.log'))
  const content = await run(file.read(0, file.size))
  const blockEnds: number[] = []
  for (let at = 0; content[at] === 0x4d;) blockEnds.push((at += 12 + content.readUInt32LE(at + 8)))
  return { blockEnds }
}

test('messages beyond the memory bound are read back from disk in order, through many segments', async () => {
  const { open, run } = simulated()
  const log = await open({ maxMemoryMessages: 10, segmentBytes: 2000 })
  const collector = new Collector(0)
  log.consume(collector)
  const published = Array.from({ length: 200 }, (_, index) => message({ device: index % 5, data: String(index) }))
  for (let from = 0; from < 200; from += 7) await run(publishAll(log, published.slice(from, from + 7)))
  assert.ok(log.figures().segments > 5)
  for (let limit = 20; limit <= 200; limit += 20) {
    collector.limit = limit
    log.wake()
    await run(collector.got(limit))
  }
  assert.deepEqual(
    collector.messages.map(({ data }) => data),
    published.map(({ data }) => data),
  )
  collector.limit = 220
  const more = Array.from({ length: 20 }, () => message())
  await run(publishAll(log, more))
  await run(collector.got(220))
  assert.deepEqual(
    collector.messages.slice(200).map(({ id }) => id),
    more.map(({ id }) => id),
  )
})

test('a frame of any size that is stored while the reader finds the end of the log is delivered', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open()
  const opened = disk.open.bind(disk)
  let looks = 0
  disk.open = async (path) => {
    const file = await opened(path)
    looks++
    file.close = () => new Promise((resolve) => void clock.after(50, resolve))
    return file
  }
  const collector = new Collector()
  log.consume(collector)
  // It has read the head of the file, and finds nothing behind it.
  await clock.advance(60)
  assert.ok(looks > 0)
  const large = 'x'.repeat(5 << 20)
  assert.equal(await run(outcome(log, large)), 'stored')
  await clock.advance(100)
  assert.equal(await run(outcome(log, 'behind it')), 'stored')
  await clock.advance(100)
  assert.deepEqual(
    collector.messages.map(({ data }) => data.length),
    [large.length, 9],
  )
})

test('settled segments are removed from the front, and the log does not grow', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open({ segmentBytes: 2000 })
  const collector = new Collector()
  log.consume(collector)
  for (let round = 0; round < 50; round++) {
    await run(
      publishAll(
        log,
        Array.from({ length: 10 }, () => message()),
      ),
    )
    log.settle(collector.deliveries.splice(0))
  }
  await clock.advance(100)
  assert.ok(log.figures().segments <= 3, `${log.figures().segments} segments`)
  assert.ok((await run(disk.list('log'))).length <= 3)
  assert.equal(log.figures().unsettled, 0)
})

test('a log whose old segments are all settled delivers what is published after its opening', async () => {
  const { clock, open, run } = simulated()
  const log = await open()
  const collector = new Collector()
  log.consume(collector)
  await run(publishAll(log, [message()]))
  log.settle(collector.deliveries)
  await run(log.close())
  const again = await open()
  const next = new Collector()
  again.consume(next)
  await run(publishAll(again, [message()]))
  await run(next.got(1))
  again.settle(next.deliveries)
  await clock.advance(1000)
  assert.equal(again.figures().segments, 1)
})

test('over half of the bound senders are asked to pause, over the bound refused, and told when they may go on', async () => {
  const { open, run, clock } = simulated()
  const log = await open({ maxPendingMessages: 100 })
  const outcomes: string[] = []
  const publish = (): void =>
    log.publish(message(), { stored: () => outcomes.push('stored'), refused: (error) => outcomes.push(error.code) })
  for (let index = 0; index < 49; index++) publish()
  assert.equal(log.writable, true)
  publish()
  assert.equal(log.writable, false)
  for (let index = 50; index < 101; index++) publish()
  const writable = new Promise<void>((resolve) => log.onWritable(resolve))
  await run(writable)
  await clock.advance(10)
  assert.equal(outcomes.filter((code) => code === 'stored').length, 100)
  assert.deepEqual(
    outcomes.filter((code) => code !== 'stored'),
    ['link.BUFFER_FULL'],
  )
})

test('over half of the bound a tenant that has little of it finds room, one that has much does not', async () => {
  const { open, run } = simulated()
  const log = await open({ maxPendingMessages: 160 })
  const stored = { stored: () => undefined, refused: () => undefined }
  const quiet = message({ tenantId: 'quiet' })
  log.publish(quiet, stored)
  for (let index = 0; index < 79; index++) log.publish(message({ tenantId: 'noisy' }), stored)
  assert.deepEqual([log.writable, log.hasRoomFor('noisy'), log.hasRoomFor('quiet')], [false, false, true])
  assert.equal(log.hasRoomFor('new'), true)
  for (let index = 0; index < 19; index++) log.publish(message({ tenantId: 'quiet' }), stored)
  assert.equal(log.hasRoomFor('quiet'), false, 'a share for each')
  const writable = new Promise<void>((resolve) => log.onWritable(resolve))
  await run(writable)
  assert.deepEqual([log.hasRoomFor('noisy'), log.hasRoomFor('quiet')], [true, true])
})

test('what a tenant has of the bound is counted in bytes as they are stored, metadata and all', async () => {
  const { open, run } = simulated()
  const log = await open({ maxPendingBytes: 800_000 })
  const stored = { stored: () => undefined, refused: () => undefined }
  const header = 'x'.repeat(30_000)
  for (let index = 0; index < 4; index++) {
    log.publish(message({ tenantId: 'metadata' }).with({ metadata: { header } }), stored)
    log.publish(message({ tenantId: 'three bytes', data: `"${'水'.repeat(10_000)}"` }), stored)
    log.publish(message({ tenantId: 'one byte', data: `"${'x'.repeat(10_000)}"` }), stored)
  }
  for (let index = 0; index < 5; index++)
    log.publish(message({ tenantId: `other ${index}`, data: `"${'x'.repeat(40_000)}"` }), stored)
  assert.deepEqual(
    [log.writable, log.hasRoomFor('metadata'), log.hasRoomFor('three bytes'), log.hasRoomFor('one byte')],
    [false, false, false, true],
  )
  const writable = new Promise<void>((resolve) => log.onWritable(resolve))
  await run(writable)
  assert.deepEqual([log.hasRoomFor('metadata'), log.hasRoomFor('three bytes')], [true, true])
})

test('a log full of unsettled messages refuses until some are settled', async () => {
  const { clock, open, run } = simulated()
  const log = await open({ segmentBytes: 1000, maxBacklogBytes: 6000 })
  const collector = new Collector()
  log.consume(collector)
  let code = 'stored'
  for (let count = 0; count < 1000 && code === 'stored'; count++) code = await run(outcome(log))
  assert.equal(code, 'link.BACKLOG_FULL')
  assert.equal(log.hasRoomFor('new'), false, 'a full log has room for nobody')
  log.settle(collector.deliveries)
  await clock.advance(1000)
  assert.equal(await run(outcome(log)), 'stored')
})

test('a dead letter can be listed, read and replayed, and is gone when its message is stored again', async () => {
  const { clock, open, run } = simulated()
  const log = await open()
  const collector = new Collector()
  log.consume(collector)
  await run(publishAll(log, [message({ data: 'one' }), message({ data: 'two' })]))
  await run(collector.got(2))
  for (const delivery of collector.deliveries) log.bury(delivery, 'no luck', 4)
  await clock.advance(100)
  assert.equal(log.figures().buried, 2)
  assert.equal(log.figures().unsettled, 0)
  const letters = await run(log.deadLetters.list({ limit: 1 }))
  assert.deepEqual(
    letters.map(({ message: { data }, reason, attempts }) => ({ data, reason, attempts })),
    [{ data: 'one', reason: 'no luck', attempts: 4 }],
  )
  const [first] = letters
  const rest = await run(log.deadLetters.list({ after: first?.id ?? 0, limit: 10 }))
  assert.deepEqual(
    rest.map((letter) => letter.message.data),
    ['two'],
  )
  assert.equal(await run(log.deadLetters.replay(first?.id ?? 0)), true)
  assert.equal(await run(log.deadLetters.replay(first?.id ?? 0)), false)
  assert.equal(log.deadLetters.count, 1)
  await run(collector.got(3))
  assert.equal(collector.messages[2]?.id, first?.message.id)
  assert.equal(collector.deliveries[2]?.attempt, 1)
  await run(log.close())
  const again = await open()
  assert.equal(again.deadLetters.count, 1)
})

test('a dead letter that cannot be stored keeps its message unsettled until it can', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open()
  const collector = new Collector()
  log.consume(collector)
  await run(publishAll(log, [message()]))
  await run(collector.got(1))
  disk.faults.failedWrite = 1
  for (const delivery of collector.deliveries) log.bury(delivery, 'poison', 1)
  await clock.advance(2000)
  assert.equal(log.figures().buried, 0)
  assert.equal(log.figures().unsettled, 1)
  disk.faults.failedWrite = 0
  await clock.advance(20_000)
  assert.equal(log.figures().buried, 1)
  assert.equal(log.figures().unsettled, 0)
})

test('while dead letters cannot be stored no more is delivered than may be kept in memory', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const { clock, disk, open, run } = simulated(seed)
    const log = await open()
    let delivered = 0
    log.consume({
      room: () => 500,
      deliver: (batch) => {
        if (delivered === 0) disk.faults.failedWrite = 1
        delivered += batch.length
        for (const delivery of batch) log.bury(delivery, 'poison', 1)
      },
    })
    await run(
      publishAll(
        log,
        Array.from({ length: 3000 }, () => message()),
      ),
    )
    await clock.advance(5000)
    assert.ok(delivered <= 1500, `${delivered} delivered`)
    disk.faults.failedWrite = 0
    await clock.advance(60_000)
    assert.deepEqual([delivered, log.figures().buried, log.figures().unsettled], [3000, 3000, 0])
  }
})

test('a settled segment that is removed while the next one is read disturbs nobody', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const { clock, events, open, run } = simulated(seed)
    const first = await open({ segmentBytes: 600 })
    const before = new Collector()
    first.consume(before)
    for (let count = 0; count < 150; count++) await run(publishAll(first, [message()]))
    // The oldest stays open, the many behind it are settled.
    first.settle(before.deliveries.slice(1, 140))
    await clock.advance(100)
    await run(first.close())

    const log = await open({ segmentBytes: 600 })
    let delivered = 0
    log.consume({
      room: () => 1000,
      deliver: (batch) => {
        delivered += batch.length
        log.settle(batch)
      },
    })
    await clock.advance(500)
    assert.deepEqual([seed, delivered, events.filter(({ kind }) => kind === 'read-failed')], [seed, 11, []])
  }
})

test('what is settled after the close is not written: the next run has it again', async () => {
  const { clock, disk, open, run } = simulated()
  const log = await open()
  const collector = new Collector()
  log.consume(collector)
  await run(publishAll(log, [message()]))
  await run(log.close())
  const before = await run(disk.list('log'))
  log.settle(collector.deliveries)
  await clock.advance(1000)
  assert.deepEqual(await run(disk.list('log')), before)
  assert.equal(clock.pendingTimers, 0)
})

test('a disk too full for space ahead keeps what is free for blocks', async () => {
  const { disk, open, run } = simulated()
  disk.faults.capacity = 5000
  const log = await open()
  assert.ok(disk.usedBytes < 200, `${disk.usedBytes} bytes are taken`)
  for (let count = 0; count < 5; count++) assert.equal(await run(outcome(log)), 'stored')
})

test('a file that is no segment is left alone', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-log-'))
  const log = await openSegmentLog({
    directory,
    disk: nodeDisk,
    clock: systemClock,
    durability: 'power-cut',
    partitions: 1,
  })
  await log.close()
  assert.deepEqual((await readdir(directory)).sort(), ['dead-letters', 'segment-0000000001.log'])
  await rm(directory, { recursive: true })
})
