/** Queues over one log: whichever come, go, fall behind or crash, each message reaches one consumer, in its queue's order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../model/message.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import type { Delivery, LinkConsumer } from './link.ts'
import { openSegmentLog, type SegmentLog } from './segments/segment-log.ts'
import { message, SimulatedDisk } from './testkit.ts'

const seeds = Number(process.env['SEEDS'] ?? 150)
const firstSeed = Number(process.env['SEED'] ?? 1)
const QUEUES = ['Main', 'A', 'B', 'C']

/** Takes a few at a time, and settles what it took when it is told to. */
class Drip implements LinkConsumer {
  limit = 0
  taken: Delivery[] = []
  private readonly seen: (delivery: Delivery) => void

  constructor(seen: (delivery: Delivery) => void) {
    this.seen = seen
  }

  room(): number {
    return this.limit
  }

  deliver(batch: readonly Delivery[]): void {
    assert.ok(batch.length <= this.limit)
    this.limit -= batch.length
    this.taken.push(...batch)
    batch.forEach(this.seen)
  }
}

class Run {
  readonly clock = new ManualClock()
  readonly random: SeededRandom
  private readonly disk: SimulatedDisk
  private log: SegmentLog | undefined
  private readonly stored = new Map<string, Message>()
  private readonly settled = new Set<string>()
  /** Since the last crash, by message id and by queue. */
  private delivered = new Set<string>()
  private lastOf = new Map<string, number>()
  private consumers = new Map<string, { readonly drip: Drip; readonly giveUp: () => void }>()
  private published = 0

  constructor(seed: number) {
    this.random = new SeededRandom(seed)
    this.disk = new SimulatedDisk(this.clock, this.random)
  }

  async open(): Promise<void> {
    this.delivered = new Set()
    this.lastOf = new Map()
    this.consumers = new Map()
    const opening = openSegmentLog({
      directory: 'log',
      disk: this.disk,
      clock: this.clock,
      durability: 'power-cut',
      partitions: 2,
      bounds: { segmentBytes: 3000, maxMemoryMessages: 12, retentionMs: 0 },
    })
    let isOpen = false
    void opening.then(() => (isOpen = true))
    while (!isOpen) await this.clock.advance(this.clock.untilNextTimerMs ?? 1)
    this.log = await opening
  }

  consume(queueName: string): void {
    const log = this.log
    if (log === undefined || this.consumers.has(queueName)) return
    const drip = new Drip((delivery) => this.see(queueName, delivery))
    this.consumers.set(queueName, { drip, giveUp: log.consume(drip, queueName) })
  }

  publish(count: number): void {
    for (let index = 0; index < count; index++) {
      const queueName = this.random.chance(0.4) ? undefined : QUEUES[this.random.below(QUEUES.length)]
      const each = message({ queueName, data: String(++this.published) })
      const receipt = { stored: () => void this.stored.set(each.id, each), refused: assert.fail }
      this.log?.publish(each, receipt)
    }
  }

  async step(): Promise<void> {
    const draw = this.random.next()
    const queueName = QUEUES[this.random.below(QUEUES.length)] ?? ''
    const consumer = this.consumers.get(queueName)
    if (draw < 0.35) this.publish(1 + this.random.below(15))
    else if (draw < 0.6 && consumer !== undefined) {
      consumer.drip.limit += this.random.below(20)
      this.log?.wake()
    } else if (draw < 0.75 && consumer !== undefined) this.settleSome(consumer.drip, this.random.next())
    else if (draw < 0.85) this.consume(queueName)
    else if (draw < 0.92 && consumer !== undefined && queueName !== 'Main') this.giveUp(queueName)
    else if (draw < 0.94) await this.crash()
    await this.clock.advance(this.random.below(4))
  }

  /** Everything is delivered and settled, by whoever is there. */
  async finish(): Promise<void> {
    this.consume('Main')
    for (let turn = 0; turn < 600; turn++) {
      for (const { drip } of this.consumers.values()) {
        drip.limit = 50
        this.settleSome(drip, 1)
      }
      this.log?.wake()
      await this.clock.advance(this.clock.untilNextTimerMs ?? 10)
      if (turn > 10 && this.settled.size === this.stored.size && (this.log?.figures().unsettled ?? 0) === 0) break
    }
    assert.deepEqual(
      [...this.stored.values()].filter(({ id }) => !this.settled.has(id)).map(({ data }) => data),
      [],
      'never delivered',
    )
    assert.equal(this.log?.figures().unsettled, 0)
  }

  private async crash(): Promise<void> {
    // What was settled is durable, so that what comes back after it is not a repetition.
    await this.clock.advance(50)
    this.disk.crash('process-death')
    await this.open()
    for (const queueName of QUEUES) if (queueName === 'Main' || this.random.chance(0.6)) this.consume(queueName)
  }

  private giveUp(queueName: string): void {
    const consumer = this.consumers.get(queueName)
    this.consumers.delete(queueName)
    consumer?.giveUp()
    // What it has, it still settles.
    if (consumer !== undefined) this.settleSome(consumer.drip, 1)
  }

  private settleSome(drip: Drip, part: number): void {
    const settled = drip.taken.splice(0, Math.ceil(drip.taken.length * part))
    for (const { message: done } of settled) this.settled.add(done.id)
    this.log?.settle(settled)
  }

  private see(consumerName: string, { message: seen }: Delivery): void {
    const queueName = seen.queueName ?? 'Main'
    const owner = this.consumers.has(queueName) ? queueName : 'Main'
    if (consumerName !== queueName) assert.equal(consumerName, owner, `${seen.data} of ${queueName}`)
    assert.ok(this.stored.has(seen.id), `${seen.data} is delivered before it is stored`)
    assert.ok(!this.settled.has(seen.id), `${seen.data} was settled`)
    assert.ok(!this.delivered.has(seen.id), `${seen.data} is delivered twice`)
    this.delivered.add(seen.id)
    assert.ok(seen.sequence > (this.lastOf.get(queueName) ?? 0), `${seen.data} of ${queueName} is out of order`)
    this.lastOf.set(queueName, seen.sequence)
  }
}

test('queues come, go, fall behind and crash: each message reaches one consumer, in the order of its queue', async () => {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const run = new Run(seed)
    try {
      await run.open()
      run.consume('Main')
      for (let step = 0; step < 80; step++) await run.step()
      await run.finish()
    } catch (error) {
      throw new Error(
        `seed ${seed}; repeat: SEED=${seed} SEEDS=1 node --test engine/link/queues-over-one-log.test.ts`,
        {
          cause: error,
        },
      )
    }
  }
})
