import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../model/system-clock.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { LinkErrors } from '../link/errors.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import { testParkedStore, type StoreUnderTest } from './contract.ts'
import { ParkedStore } from './parked-store.ts'
import { CountedLog, folderHolds, openDiskStore } from './testkit.ts'

/** In a folder of its own, which goes with it. */
async function underTest(directory: string): Promise<StoreUnderTest> {
  const store = await openDiskStore(nodeDisk, systemClock, directory)
  return {
    store,
    // Closing writes nothing: what a kill leaves is the business of the histories below.
    crash: async () => {
      await store.close()
      return underTest(directory)
    },
    close: async () => {
      await store.close()
      await rm(dirname(directory), { recursive: true })
    },
    holds: (text) => folderHolds(directory, text),
  }
}

testParkedStore('segments on disk', async () => underTest(join(await mkdtemp(join(tmpdir(), 'parked-')), 'parked')))

test('a log that holds little else than notes gives its files back', async () => {
  const directory = join(await mkdtemp(join(tmpdir(), 'parked-')), 'parked')
  const { store, close } = await underTest(directory)
  const made = message({ device: 1, data: 'z'.repeat(5000) })
  const { tenantId, originator } = made
  const note = {
    queueName: 'Main',
    key: originator.id,
    tenantId,
    originatorType: 'DEVICE',
    why: '',
    sinceMs: 0,
  } as const
  const lane = store.openLane(note)
  for (let count = 1; count <= 200; count++) {
    const each = message({ device: 1, data: 'z'.repeat(5000) })
    each.sequence = count
    await store.append(lane, each, 1)
    const [entry] = lane.entries
    assert.ok(entry !== undefined)
    await store.done(lane, entry)
  }
  assert.ok((await readdir(directory)).length <= 3)
  await close()
})

test('issue-8 A: a log whose messages are smaller than what is said of their lanes is not rewritten without end', async () => {
  const log = new CountedLog()
  const onTrouble = (): void => undefined
  const store = await ParkedStore.open({ log, partition: 0, clock: systemClock, slackBytes: 0, restMs: 0, onTrouble })
  const lanes = [1, 2, 3, 4].map((device) => {
    const each = message({ device, data: 'small' })
    each.sequence = device
    const { tenantId, originator } = each
    const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
    return { lane: store.openLane({ ...note, why: 'x'.repeat(2000) }), each }
  })
  for (const { lane, each } of lanes) await store.append(lane, each, 1)
  await store.close()
  assert.equal(log.appends, 4)
})

test('issue-8 A: blocks that were read are kept by their bytes, not by their count', async () => {
  const log = new CountedLog()
  const onTrouble = (): void => undefined
  const store = await ParkedStore.open({
    log,
    partition: 0,
    clock: systemClock,
    slackBytes: 1 << 30,
    restMs: 0,
    onTrouble,
  })
  const { tenantId, originator } = message({ device: 1 })
  const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
  const lane = store.openLane({ ...note, why: '' })
  for (let sequence = 1; sequence <= 10; sequence++) {
    const each = message({ device: 1, data: 'z'.repeat(1 << 20) })
    each.sequence = sequence
    await store.append(lane, each, 1)
  }
  for (const entry of lane.entries) assert.equal((await store.read(entry))?.sequence, entry.sequence)
  const [oldest] = lane.entries
  const newest = lane.entries.at(-1)
  assert.ok(oldest !== undefined && newest !== undefined)
  await store.read(newest)
  assert.equal(log.reads, 10)
  await store.read(oldest)
  assert.equal(log.reads, 11, '10 MiB were kept')
  await store.close()
})

/** As a log with an owner: a block whose answer was lost is known when it comes again, any other fences. */
class OwnedLog extends CountedLog {
  isAnswerLost = false
  private unheard: Buffer | undefined

  override async append(block: Buffer): Promise<number> {
    if (this.unheard?.equals(block) === false)
      throw LinkErrors.FENCED({ stream: 0, reason: 'another block is the last' })
    const place = this.unheard === undefined ? await super.append(block) : this.appends
    this.unheard = this.isAnswerLost ? block : undefined
    if (!this.isAnswerLost) return place
    this.isAnswerLost = false
    throw LinkErrors.BROKER_AWAY({ reason: 'the answer was lost' })
  }
}

test('issue-8 A: an answer that is lost while the front of a log is rewritten does not fence its owner', async () => {
  const clock = new ManualClock()
  const log = new OwnedLog()
  const store = await ParkedStore.open({
    log,
    partition: 0,
    clock,
    slackBytes: 0,
    restMs: 0,
    onTrouble: () => undefined,
  })
  const { tenantId, originator } = message({ device: 1 })
  const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
  const lane = store.openLane({ ...note, why: '' })
  const each = [1, 2, 3, 4].map((sequence) => {
    const made = message({ device: 1, data: String(sequence) })
    made.sequence = sequence
    return made
  })
  for (const made of each.slice(0, 3)) {
    void store.append(lane, made, 1)
    await clock.advance(10)
  }
  const appended = log.appends
  const [, second, third] = lane.entries
  assert.ok(second !== undefined && third !== undefined)
  void store.done(lane, second)
  const done = store.done(lane, third)
  log.read = ((read) => (place: number) => {
    log.isAnswerLost = true
    return read(place)
  })(log.read.bind(log))
  await clock.advance(10)
  await done
  assert.equal(log.appends, appended + 2, 'the notes, and the front once more')
  let isDurable = false
  const last = each.at(-1)
  assert.ok(last !== undefined)
  store.append(lane, last, 1).then(
    () => (isDurable = true),
    () => undefined,
  )
  await clock.advance(5000)
  assert.ok(isDurable, 'the store was taken for fenced')
  assert.deepEqual(
    lane.entries.map(({ sequence }) => sequence),
    [1, 4],
  )
  const closing = store.close()
  await clock.advance(10)
  await closing
})

/** Lives through appends and notes with a crash by seed: what was said to be durable is there, whatever was under way. */
async function live(seed: number): Promise<void> {
  const clock = new ManualClock()
  const random = new SeededRandom(seed)
  const disk = new SimulatedDisk(clock, random)
  const durable = new Map<number, string>()
  const done = new Set<number>()
  let sequence = 0
  const opened = async (): Promise<ParkedStore> => {
    let store: ParkedStore | undefined
    // Every other one crashes in its rests too.
    const opening = openDiskStore(disk, clock, 'parked', seed % 2 === 0 ? 20 : 0).then((found) => (store = found))
    while (store === undefined) await clock.advance(1)
    return opening
  }
  for (let run = 0; run < 6; run++) {
    const store = await opened()
    const found = new Map(
      [...store.lanes()].flatMap((lane) => lane.entries.map((entry) => [entry.sequence, entry] as const)),
    )
    for (const [known, data] of durable) {
      const entry = found.get(known)
      if (done.has(known)) assert.equal(entry, undefined, `seed ${seed}: ${known} was done with and is there`)
      else assert.ok(entry !== undefined, `seed ${seed}: ${known} "${data}" is lost`)
    }
    disk.faults.failedWrite = random.chance(0.3) ? 0.2 : 0
    disk.faults.failedSync = random.chance(0.3) ? 0.2 : 0
    for (let step = 0; step < 12; step++) {
      const device = 1 + random.below(3)
      const made = message({ device, data: `${run} ${step} ${'p'.repeat(random.below(3000))}` })
      made.sequence = ++sequence
      const own = sequence
      const { tenantId, originator } = made
      const note = {
        queueName: 'Main',
        key: originator.id,
        tenantId,
        originatorType: 'DEVICE',
        why: '',
        sinceMs: 0,
      } as const
      const lane = store.openLane(note)
      store.append(lane, made, 1).then(
        () => durable.set(own, made.data),
        () => undefined,
      )
      const [entry] = lane.entries
      if (entry !== undefined && !entry.isOver && random.chance(0.5)) {
        store.done(lane, entry).then(
          () => void done.add(entry.sequence),
          () => undefined,
        )
        // Whether the note is there is not known before it is said to be durable.
        durable.delete(entry.sequence)
      }
      await clock.advance(random.below(8))
    }
    disk.faults.failedWrite = 0
    disk.faults.failedSync = 0
    disk.crash(random.chance(0.5) ? 'power-cut' : 'process-death')
    store.stop()
  }
}

test('a crash at any moment leaves everything that was said to be durable', async () => {
  for (let seed = 1; seed <= Number(process.env['SEEDS'] ?? 40); seed++) await live(seed)
})

test('what is parked one after the other goes into few writes; a first message, a burst and what is done with wait for nothing', async () => {
  const clock = new ManualClock()
  const log = new CountedLog()
  const counts = { writes: 0, rests: 0 }
  const store = await ParkedStore.open({
    log,
    partition: 0,
    clock,
    slackBytes: 1 << 20,
    restMs: 100,
    counts,
    onTrouble: () => undefined,
  })
  let sequence = 0
  let durable = 0
  const park = (): void => {
    const each = message({ device: 1 })
    each.sequence = ++sequence
    const { tenantId, originator } = each
    const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
    void store.append(store.openLane({ ...note, why: '' }), each, 1).then(
      () => durable++,
      () => undefined,
    )
  }
  park()
  await clock.settle()
  assert.deepEqual([durable, log.appends], [1, 1])
  for (let count = 0; count < 40; count++) {
    park()
    await clock.advance(10)
  }
  await clock.advance(100)
  assert.equal(durable, 41)
  assert.ok(log.appends <= 6, `${log.appends} writes of 40 messages in 400 ms`)
  const before = log.appends
  for (let count = 0; count < 100; count++) park()
  await clock.settle()
  assert.equal(durable, 141)
  assert.equal(log.appends, before + 1)
  const [lane] = store.lanes()
  const [entry] = lane?.entries ?? []
  assert.ok(lane !== undefined && entry !== undefined)
  park()
  let isDone = false
  void store.done(lane, entry).then(() => (isDone = true))
  await clock.settle()
  assert.deepEqual([isDone, durable], [true, 142])
  assert.equal(counts.writes, log.appends)
  assert.ok(counts.rests > 0 && counts.rests <= counts.writes, JSON.stringify(counts))
  park()
  await store.close()
  assert.equal(clock.pendingTimers, 0)
})

test('large messages are parked block behind block: a full one waits for nothing', async () => {
  const clock = new ManualClock()
  const store = await ParkedStore.open({
    log: new CountedLog(),
    partition: 0,
    clock,
    slackBytes: 1 << 20,
    restMs: 100,
    onTrouble: () => undefined,
  })
  let durable = 0
  for (let sequence = 1; sequence <= 20; sequence++) {
    const each = message({ device: 1, data: 'x'.repeat(40_000) })
    each.sequence = sequence
    const { tenantId, originator } = each
    const note = { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', sinceMs: 0 } as const
    void store.append(store.openLane({ ...note, why: '' }), each, 1).then(() => durable++, assert.fail)
  }
  await clock.settle()
  // The last may wait for another one to share its block.
  assert.ok(durable >= 19, `${durable} of 20 without a wait`)
  await clock.advance(100)
  assert.equal(durable, 20)
  await store.close()
})
