/** What an observer makes of the messages in log order, it makes of them again after every crash: nothing is numbered anew. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../model/message.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { RunClock } from '../../test/simulation/run-clock.ts'
import { FrameLink } from './frame-link.ts'
import type { Delivery, Link } from './link.ts'
import { MemoryStreams, TestMembership } from './memory-testkit.ts'
import type { LoggedFrame } from './link.ts'
import type { FrameObserver } from './options.ts'
import { openSegmentLog } from './segments/segment-log.ts'
import { message, SimulatedDisk } from './testkit.ts'

const seeds = Number(process.env['SEEDS'] ?? 60)
const firstSeed = Number(process.env['SEED'] ?? 1)

/** Numbers the messages of a stream. What it must remember is how far it has counted. */
class Numbering implements FrameObserver {
  readonly numbers = new Map<Message, number>()
  private readonly counts = new Map<number, number>()

  taken(stream: number, _epoch: number, note: Uint8Array | undefined): void {
    this.counts.set(stream, note === undefined ? 0 : Number(Buffer.from(note).toString()))
  }

  gone(stream: number): void {
    this.counts.delete(stream)
  }

  opened({ stream, messages }: LoggedFrame): ReadonlyMap<number, number> {
    const memo = new Map<number, number>()
    for (const each of messages) {
      const number = (this.counts.get(stream) ?? assert.fail('a frame of a stream that was not taken')) + 1
      this.counts.set(stream, number)
      this.numbers.set(each, number)
      memo.set(each.sequence, number)
    }
    return memo
  }

  reopened({ messages }: LoggedFrame, memo: ReadonlyMap<number, number>): void {
    for (const each of messages) this.numbers.set(each, memo.get(each.sequence) ?? assert.fail('not in the memo'))
  }

  encode(stream: number): Uint8Array {
    return Buffer.from(String(this.counts.get(stream) ?? 0))
  }
}

interface World {
  readonly clock: ManualClock
  readonly random: SeededRandom
  readonly open: (clock: RunClock, observer: FrameObserver) => Promise<Link>
  readonly crash: () => void
}

const BOUNDS = { maxMemoryMessages: 4, maxOpenFrames: 12, notePauseMs: 20, progressMs: 50 }

function onSegments(seed: number): World {
  const clock = new ManualClock()
  const random = new SeededRandom(seed)
  const disk = new SimulatedDisk(clock, random)
  const bounds = { ...BOUNDS, segmentBytes: 1500, retentionMs: seed % 2 === 0 ? 0 : 400 }
  return {
    clock,
    random,
    open: (run, observer) =>
      openSegmentLog({ directory: 'log', disk, clock: run, durability: 'power-cut', partitions: 4, bounds, observer }),
    crash: () => disk.crash('power-cut'),
  }
}

function onStreams(seed: number): World {
  const clock = new ManualClock()
  const random = new SeededRandom(seed)
  const streams = new MemoryStreams(clock, 2)
  const membership = new TestMembership()
  let runs = 0
  let broker = streams.connect()
  const bounds = { ...BOUNDS, retentionMs: seed % 2 === 0 ? 0 : 400 }
  return {
    clock,
    random,
    open: (run, observer) => {
      broker = streams.connect()
      const id = `run ${++runs}`
      const letters = streams.letterStore()
      const parts = { broker, partitions: 5, letters, membership: membership.join(id), clock: run, random }
      return Promise.resolve(new FrameLink({ ...parts, observer, bounds }))
    },
    crash: () => {
      broker.connect(false)
      membership.leave(`run ${runs}`)
    },
  }
}

async function live(world: World): Promise<number> {
  const { clock, random } = world
  const given = new Map<string, number>()
  let repeats = 0
  const wrong: string[] = []
  for (let run = 0; run < 6; run++) {
    const runClock = new RunClock(clock)
    const observer = new Numbering()
    const opening = world.open(runClock, observer)
    let link: Link | undefined
    void opening.then((opened) => (link = opened))
    while (link === undefined) await clock.advance(clock.untilNextTimerMs ?? 1)
    const running = link
    const held: Delivery[] = []
    running.consume({
      room: () => 9 - held.length,
      deliver: (batch) => {
        for (const delivery of batch) {
          const { id } = delivery.message
          const number = observer.numbers.get(delivery.message) ?? assert.fail(`${id} was not numbered`)
          if (given.has(id)) repeats++
          const before = given.get(id)
          // Thrown where nobody catches it for the reader's trouble.
          if (before !== undefined && before !== number) wrong.push(`${id} was ${before} and is ${number}`)
          given.set(id, number)
        }
        held.push(...batch)
      },
    })
    const steps = 10 + random.below(20)
    for (let step = 0; step < steps; step++) {
      const count = random.below(6)
      for (let index = 0; index < count; index++) {
        running.publish(message({ device: random.below(8) }), { stored: () => undefined, refused: () => undefined })
      }
      await clock.advance(random.below(120))
      const settled = held.splice(random.chance(0.3) ? 1 : 0, random.below(8))
      running.settle(settled)
      running.wake()
    }
    runClock.kill()
    world.crash()
    assert.deepEqual(wrong, [])
  }
  return repeats
}

for (const [name, make] of [
  ['segments', onSegments],
  ['streams of a broker', onStreams],
] as const) {
  test(`an observer sees the frames of ${name} in the same order from the same state after each crash`, async (context) => {
    let repeats = 0
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      try {
        repeats += await live(make(seed))
      } catch (error) {
        throw new Error(`seed ${seed}; repeat: SEED=${seed} SEEDS=1 node --test engine/link/observer.test.ts`, {
          cause: error,
        })
      }
    }
    context.diagnostic(`${repeats} messages were delivered again`)
    assert.ok(repeats > seeds)
  })
}
