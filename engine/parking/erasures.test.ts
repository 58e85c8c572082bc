/** Erasures of what was parked and is done with: what they write, when they say that it is gone, and a crash at any moment of one. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nodeDisk } from '../../disk/node-disk.ts'
import type { Message } from '../../model/message.ts'
import { systemClock } from '../../model/system-clock.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { LinkErrors } from '../link/errors.ts'
import { hashOf } from '../link/partition.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import { ParkedStore } from './parked-store.ts'
import type { ParkedEntry, StoredLane } from './stored-lane.ts'
import { CountedLog, openDiskStore } from './testkit.ts'

test('where nothing was done with since, an erasure writes nothing again', async () => {
  const log = new CountedLog()
  const options = { log, partition: 0, clock: systemClock, slackBytes: 1 << 20, restMs: 0, onTrouble: () => undefined }
  const store = await ParkedStore.open(options)
  const { tenantId, originator } = message({ device: 1 })
  const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
  const lane = store.openLane({ ...note, why: '' })
  for (const sequence of [1, 2, 3]) await store.append(lane, Object.assign(message({ device: 1 }), { sequence }), 1)
  await store.eraseDone()
  assert.equal(log.appends, 3)
  const [entry] = lane.entries
  assert.ok(entry !== undefined)
  await store.done(lane, entry)
  await store.eraseDone()
  assert.equal(log.appends, 6, 'the note, what stays, and what is done with without a name')
  await store.eraseDone()
  assert.equal(log.appends, 6)
  await store.close()
})

interface OpenCounted {
  readonly store: ParkedStore
  readonly lane: StoredLane
  readonly park: (data: string) => Promise<ParkedEntry>
}

async function openCounted(log: CountedLog): Promise<OpenCounted> {
  const options = { log, partition: 0, clock: systemClock, slackBytes: 1 << 20, restMs: 0, onTrouble: () => undefined }
  const store = await ParkedStore.open(options)
  const { tenantId, originator } = message({ device: 1 })
  const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
  const lane = store.openLane({ ...note, why: '' })
  let sequence = 0
  const park = async (data: string): Promise<ParkedEntry> => {
    const made = Object.assign(message({ device: 1, data }), { sequence: ++sequence })
    await store.append(lane, made, 1)
    const entry = lane.find(made.sequence, hashOf(made.id))
    assert.ok(entry !== undefined)
    return entry
  }
  return { store, lane, park }
}

test('an erasure writes large messages that stood among small ones in blocks that a broker takes', async () => {
  const log = new CountedLog()
  const { store, lane, park } = await openCounted(log)
  for (let round = 0; round < 20; round++) {
    const [, ...small] = await Promise.all(
      Array.from({ length: 61 }, (_, index) => park('x'.repeat(index > 0 ? 300 : 30_000))),
    )
    await Promise.all(small.map((entry) => store.done(lane, entry)))
  }
  const before = log.appends
  assert.deepEqual(await store.eraseDone(), { isGone: true })
  const sizes = [...log.blocks].filter(([place]) => place > before).map(([, { length }]) => length)
  assert.equal(lane.entries.length, 20)
  assert.ok(Math.max(...sizes) < 128 << 10, `blocks of ${sizes.join(', ')} bytes`)
  await store.close()
})

test('an erasure whose partition is taken before its notes are there removes nothing', async () => {
  class TakenLog extends CountedLog {
    override append(block: Buffer): Promise<number> {
      if (this.appends < 5) return super.append(block)
      return Promise.reject(LinkErrors.FENCED({ stream: 0, reason: 'another has it' }))
    }
  }
  const log = new TakenLog()
  const { store, lane, park } = await openCounted(log)
  const [, gone] = [await park('one'), await park('two'), await park('three')]
  await store.done(lane, gone)
  await assert.rejects(store.eraseDone(), /closed/)
  await store.close()
  assert.deepEqual([...log.blocks.keys()], [1, 2, 3, 4, 5], 'the notes of before, and what was written again')
})

test('messages that can not be read keep what stands behind them: each erasure says so, until they were tried', async () => {
  class HoledLog extends CountedLog {
    override read(place: number): Promise<Buffer | undefined> {
      return place === 1 ? Promise.resolve(undefined) : super.read(place)
    }
  }
  const log = new HoledLog()
  const { store, lane, park } = await openCounted(log)
  const [unreadable, gone] = [await park('unreadable'), await park('MARKER'), await park('stays')]
  await store.done(lane, gone)
  const first = await store.eraseDone()
  const { appends } = log
  assert.deepEqual([first.isGone, (await store.eraseDone()).isGone], [false, false])
  assert.equal(log.appends, appends, 'it is written again for nothing')
  await store.done(lane, unreadable)
  assert.deepEqual(await store.eraseDone(), { isGone: true })
  assert.ok(![...log.blocks.values()].some((block) => block.includes('MARKER')))
  await store.close()
})

test('an erasure that something else ended half way is not taken for done', async () => {
  const log = new CountedLog()
  const { store, lane, park } = await openCounted(log)
  const large = [await park('x'.repeat(70_000)), await park('y'.repeat(70_000))]
  const gone = await park('MARKER')
  await store.done(lane, gone)
  const read = log.read.bind(log)
  log.read = (place) => {
    log.read = read
    const broken = Object.assign(message({ device: 1 }), { sequence: 9, type: undefined })
    store.append(lane, broken, 1).catch(() => undefined)
    return read(place)
  }
  await assert.rejects(store.eraseDone())
  assert.equal(lane.entries.length, large.length)
  assert.deepEqual(await store.eraseDone(), { isGone: true })
  assert.ok(![...log.blocks.values()].some((block) => block.includes('MARKER')))
  await store.close()
})

test('where nothing is parked, an erasure names damaged files too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parked-'))
  const directory = join(folder, 'parked')
  const store = await openDiskStore(nodeDisk, systemClock, directory)
  await writeFile(join(directory, 'link-0000000001.log.damaged'), '')
  const { isGone, rest } = await store.eraseDone()
  assert.deepEqual([isGone, rest?.includes('link-0000000001.log.damaged')], [false, true])
  await store.close()
  await rm(folder, { recursive: true })
})

/** Some messages are done with; a crash so many ms into the erasure. Whether the erasure was over by then. */
async function crashWhileErasing(afterMs: number, kind: 'power-cut' | 'process-death'): Promise<boolean> {
  const clock = new ManualClock()
  const disk = new SimulatedDisk(clock, new SeededRandom(1 + Math.round(afterMs * 10)))
  const waited = async <Value>(work: Promise<Value>): Promise<Value> => {
    let isOver = false
    const ended = work.finally(() => (isOver = true))
    while (!isOver) await clock.advance(1)
    return ended
  }
  const first = await waited(openDiskStore(disk, clock))
  const made = Array.from({ length: 24 }, (_, index) => {
    const each = message({ device: 1 + (index % 3), data: `${index} ${'z'.repeat(9000)}` })
    each.sequence = index + 1
    return each
  })
  const laneOf = (store: ParkedStore, { tenantId, originator }: Message) =>
    store.openLane({ queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', why: '', sinceMs: 0 })
  for (const each of made) await waited(first.append(laneOf(first, each), each, 2))
  const done = made.filter(({ sequence }) => sequence % 3 === 1)
  for (const each of done) {
    const lane = laneOf(first, each)
    const [entry] = lane.entries
    assert.ok(entry !== undefined)
    await waited(first.done(lane, entry))
  }
  let isOver = false
  first.eraseDone().then(
    () => (isOver = true),
    () => undefined,
  )
  // Who parks meanwhile tidies up behind it.
  const late = Object.assign(message({ device: 2 }), { sequence: 100 })
  first.append(laneOf(first, late), late, 1).catch(() => undefined)
  await clock.advance(afterMs)
  disk.crash(kind)
  first.stop()
  const again = await waited(openDiskStore(disk, clock))
  const sequences = [...again.lanes()]
    .map((lane) => lane.entries.map(({ sequence }) => sequence).filter((sequence) => sequence !== 100))
    .sort()
  const left = (device: number) => made.map(({ sequence }) => sequence).filter((each) => each % 3 === device)
  const at = `${afterMs} ms, ${kind}`
  assert.deepEqual(sequences, [left(2), left(0)].sort(), at)
  assert.ok(
    done.every((each) => again.wasDone(each)),
    at,
  )
  for (const lane of again.lanes())
    for (const entry of lane.entries) assert.equal((await waited(again.read(entry)))?.sequence, entry.sequence, at)
  assert.deepEqual(await waited(again.eraseDone()), { isGone: true }, at)
  again.stop()
  return isOver
}

test('a crash at any moment of an erasure leaves each message there once, in order, and what is done with known as such', async () => {
  for (const kind of ['power-cut', 'process-death'] as const) {
    let afterMs = 0.2
    while (!(await crashWhileErasing(afterMs, kind))) afterMs += 0.4
    assert.ok(afterMs > 5, `over after ${afterMs} ms`)
  }
})
