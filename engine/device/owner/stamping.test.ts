import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import type { Delivery } from '../../link/link.ts'
import { openSegmentLog, type SegmentLog } from '../../link/segments/segment-log.ts'
import { message, SimulatedDisk } from '../../link/testkit.ts'
import { ManualClock, SeededRandom } from '../../actor/testkit.ts'
import { SAME_UPLOAD } from '../device-messages.ts'
import { stampingObserver } from './stamping.ts'

const DEVICES = 5

interface Seen {
  readonly sequence: number
  readonly device: string
  readonly ts: number
  readonly isSameUpload: boolean
}

/** The clock of a process: nothing that it asked for happens after its death. */
class ProcessClock implements Clock {
  isDead = false
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  now(): number {
    return Math.floor(this.clock.now())
  }

  monotonic(): number {
    return this.clock.monotonic()
  }

  after(delayMs: number, run: () => void): TimerHandle {
    return this.clock.after(delayMs, () => this.ifAlive(run))
  }

  soon(run: () => void): void {
    this.clock.soon(() => this.ifAlive(run))
  }

  private ifAlive(run: () => void): void {
    if (!this.isDead) run()
  }
}

/** A log that is written by transports whose clocks differ, read by an owner with little memory, and crashes. */
class World {
  readonly clock = new ManualClock()
  private process = new ProcessClock(this.clock)
  readonly random: SeededRandom
  readonly disk: SimulatedDisk
  readonly seen = new Map<string, Seen>()
  private readonly sameUpload = new Set<string>()
  private log: SegmentLog | undefined
  private held: Delivery[] = []
  redelivered = 0

  constructor(seed: number) {
    this.random = new SeededRandom(seed)
    this.disk = new SimulatedDisk(this.clock, this.random)
  }

  crash(): void {
    this.process.isDead = true
    this.process = new ProcessClock(this.clock)
    this.disk.crash('process-death')
  }

  async open(): Promise<void> {
    this.log = await this.run(
      openSegmentLog({
        directory: 'log',
        disk: this.disk,
        clock: this.process,
        durability: 'power-cut',
        partitions: 4,
        observer: stampingObserver(),
        bounds: { segmentBytes: 20_000, retentionMs: 0, maxMemoryMessages: 12 },
      }),
    )
    this.held = []
    this.log.consume({
      room: () => 8 - this.held.length,
      deliver: (batch) => {
        this.held.push(...batch)
        for (const { message: delivered } of batch) this.look(delivered)
      },
    })
    await this.clock.advance(50)
  }

  /** An upload of one or more elements without a time, over a transport whose clock says whatever it says. */
  send(device = 1 + this.random.below(DEVICES)): void {
    const ts = this.clock.now() + (this.random.chance(0.5) ? 500 : -500)
    const elements = this.random.chance(0.2) ? 3 : 1
    for (let element = 0; element < elements; element++) {
      const metadata = element === 0 ? {} : { ts: SAME_UPLOAD }
      const sent = message({ device, ts, metadata })
      if (element > 0) this.sameUpload.add(sent.id)
      this.log?.publish(sent, { stored: () => undefined, refused: (error) => assert.fail(error) })
    }
  }

  settleSome(all = false): void {
    const some = this.held.filter(() => all || this.random.chance(0.6))
    this.held = this.held.filter((delivery) => !some.includes(delivery))
    this.log?.settle(some)
    this.log?.wake()
  }

  get waiting(): number {
    return this.held.length
  }

  private look(delivered: Delivery['message']): void {
    const ts = Number(delivered.metadata['ts'])
    assert.ok(Number.isSafeInteger(ts), `no time: ${delivered.metadata['ts']}`)
    assert.equal(delivered.ts, ts, 'the message is as old as its points')
    const before = this.seen.get(delivered.id)
    if (before !== undefined) {
      this.redelivered++
      assert.equal(ts, before.ts, 'the same stamp when it is read again')
    }
    const isSameUpload = this.sameUpload.has(delivered.id)
    this.seen.set(delivered.id, { sequence: delivered.sequence, device: delivered.originator.id, ts, isSameUpload })
  }

  private async run<Value>(work: Promise<Value>): Promise<Value> {
    let isDone = false
    const mark = (): void => void (isDone = true)
    work.then(mark, mark)
    for (let step = 0; step < 10_000 && !isDone; step++) await this.clock.advance(this.clock.untilNextTimerMs ?? 1)
    return work
  }
}

test('issue-8 D: points without a time are stamped in log order, never twice the same, and the same after a crash', async () => {
  let redelivered = 0
  for (let seed = 1; seed <= 40; seed++) {
    const world = new World(seed)
    await world.open()
    for (let step = 0; step < 30; step++) {
      for (let count = world.random.below(10); count > 0; count--) world.send()
      // A burst is stamped far ahead of the clock: who comes after a crash must know.
      if (world.random.chance(0.2)) for (let count = 0; count < 60; count++) world.send(1)
      await world.clock.advance(world.random.below(30))
      for (let count = 0; count < 4; count++) world.settleSome()
      if (world.random.chance(0.15)) {
        world.crash()
        await world.open()
      }
    }
    for (let round = 0; round < 200; round++) {
      await world.clock.advance(20)
      world.settleSome(true)
    }
    assert.equal(world.waiting, 0)
    redelivered += world.redelivered
    const last = new Map<string, number>()
    for (const { device, ts, isSameUpload } of [...world.seen.values()].sort((a, b) => a.sequence - b.sequence)) {
      const before = last.get(device) ?? 0
      assert.ok(isSameUpload ? ts >= before : ts > before, `seed ${seed}: ${ts} after ${before}`)
      last.set(device, ts)
    }
    assert.ok(world.seen.size > 50)
  }
  assert.ok(redelivered > 50, `${redelivered} were read again`)
})

test('issue-8 D: a point whose device gave it a time ahead of the clock is not overwritten by one stamped later', async () => {
  const observer = stampingObserver()
  observer.taken(0, 1, undefined)
  const frame = (position: number, storedAt: number, metadata: Record<string, string>[]): string[] => {
    const messages = metadata.map((each, index) => {
      const sent = message({ device: 1, ts: storedAt, metadata: each })
      sent.sequence = position + index
      return sent
    })
    observer.opened({ stream: 0, position, storedAt, messages })
    return messages.map((sent) => sent.metadata['ts'] ?? '')
  }
  assert.deepEqual(frame(1, 1000.4, [{ ts: '1020' }, { ts: '7' }, { ts: '1e999' }]), ['1020', '7', '1e999'])
  const note = observer.encode(0)
  const stamped = (): string[] => frame(4, 1020, [{}, { ts: SAME_UPLOAD }])
  assert.deepEqual(stamped(), ['1021', '1021'])
  observer.taken(0, 2, note)
  assert.deepEqual(stamped(), ['1021', '1021'], 'the same after a crash')
})

test('what a device stored and sends late is backfill, by the time at which the log had it', () => {
  const observer = stampingObserver({ backfillAfterMs: 1000 })
  observer.taken(0, 1, undefined)
  const stored = 10_000
  const sent = () =>
    [{ ts: '8999' }, { ts: '9000' }, {}, { ts: SAME_UPLOAD }, { ts: 'soon' }].map((metadata, index) => {
      const one = message({ device: 1, ts: stored, metadata })
      one.sequence = 1 + index
      return one
    })
  const frame = { stream: 0, position: 1, storedAt: stored + 0.5, messages: sent() }
  const memo = observer.opened(frame)
  assert.deepEqual(
    frame.messages.map(({ isBackfill }) => isBackfill),
    [true, false, false, false, false],
  )
  const [late, live] = frame.messages
  assert.ok(late !== undefined && live !== undefined)
  assert.notEqual(late.orderKey, live.orderKey)
  const again = sent().slice(0, 1)
  observer.reopened({ ...frame, messages: again }, memo)
  assert.deepEqual(
    again.map(({ isBackfill }) => isBackfill),
    [true],
    'fetched again, it is what it was',
  )
  const hopped = message({ device: 1, ts: stored, metadata: { ts: '1' } }).with({
    resumption: { ruleChainId: 'c', ruleNodeId: 'n', executions: 1, callers: [] },
  })
  observer.opened({ ...frame, position: 9, messages: [hopped] })
  assert.equal(hopped.isBackfill, false, 'what waited in a queue came in time')
})
