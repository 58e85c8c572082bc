/** What is kept to be read again goes when it is too old, also where nothing comes any more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { FrameLink } from './frame-link.ts'
import type { Delivery, Link } from './link.ts'
import { MemoryStreams, TestMembership } from './memory-testkit.ts'
import type { FrameObserver } from './options.ts'
import { openSegmentLog } from './segments/segment-log.ts'
import { message, SimulatedDisk } from './testkit.ts'

const RETENTION_MS = 60_000

/** Remembers the last frame that it saw. */
function lastSeen(): FrameObserver {
  let last = 0
  return {
    taken: () => undefined,
    gone: () => undefined,
    opened: ({ position }) => void (last = position),
    reopened: () => undefined,
    encode: () => Buffer.from(String(last)),
  }
}

/** Publishes for a while, settles everything, and tells whether it did. */
async function useAndLeave(link: Link, clock: ManualClock): Promise<void> {
  let settled = 0
  link.consume({
    room: () => 1000,
    deliver: (batch) => {
      settled += batch.length
      link.settle(batch)
    },
  })
  for (let round = 0; round < 20; round++) {
    for (let count = 0; count < 10; count++)
      link.publish(message({ data: 'x'.repeat(500) }), { stored: () => undefined, refused: assert.fail })
    await clock.advance(20)
  }
  await clock.advance(2000)
  assert.equal(settled, 200)
}

for (const observer of [undefined, lastSeen()]) {
  const name = observer === undefined ? 'without an observer' : 'with an observer'

  test(`issue-8: an idle log on disk removes what is older than the retention (${name})`, async () => {
    const clock = new ManualClock()
    const opening = openSegmentLog({
      directory: 'log',
      disk: new SimulatedDisk(clock, new SeededRandom(1)),
      clock,
      durability: 'power-cut',
      partitions: 4,
      observer,
      bounds: { segmentBytes: 10_000, retentionMs: RETENTION_MS },
    })
    await clock.advance(1000)
    const log = await opening
    await useAndLeave(log, clock)
    const kept = log.figures().segments
    assert.ok(kept > 5, `${kept} segments`)
    await clock.advance(RETENTION_MS / 2)
    assert.equal(log.figures().segments, kept)
    await clock.advance(RETENTION_MS)
    // The one that is written to, and that of the last frame.
    assert.ok(log.figures().segments <= 2, `${log.figures().segments} segments`)
    assert.equal(clock.untilNextTimerMs, undefined, 'nothing is left to be done')
  })

  test(`issue-8: an idle stream loses what is older than the retention, the last frame too (${name})`, async () => {
    const clock = new ManualClock()
    const streams = new MemoryStreams(clock, 1)
    const broker = streams.connect()
    const link = new FrameLink({
      broker,
      partitions: 1,
      letters: streams.letterStore(),
      membership: new TestMembership().join('a'),
      clock,
      random: new SeededRandom(1),
      observer,
      bounds: { retentionMs: RETENTION_MS },
    })
    await clock.advance(100)
    await useAndLeave(link, clock)
    const kept = streams.stream(0).frames.length
    assert.ok(kept > 5, `${kept} frames`)
    await clock.advance(RETENTION_MS / 2)
    assert.equal(streams.stream(0).frames.length, kept)
    // Removals without an answer are asked for again.
    broker.lostRemovals = 2
    await clock.advance(RETENTION_MS)
    assert.equal(streams.stream(0).frames.length, 0)
  })
}

test('issue-8 A: a backlog that is settled at last leaves a stream that is full of it, though nothing more comes', async () => {
  const clock = new ManualClock()
  const streams = new MemoryStreams(clock, 1)
  const link = new FrameLink({
    broker: streams.connect(),
    partitions: 1,
    letters: streams.letterStore(),
    membership: new TestMembership().join('a'),
    clock,
    random: new SeededRandom(1),
    observer: lastSeen(),
    bounds: { retentionMs: 3_600_000, retentionBytes: 20_000 },
  })
  await clock.advance(100)
  const waiting: Delivery[] = []
  let isOutage = true
  link.consume({
    room: () => 1000,
    deliver: (batch) => {
      if (isOutage) waiting.push(...batch)
      else link.settle(batch)
    },
  })
  for (let round = 0; round < 100; round++) {
    link.publish(message({ data: 'x'.repeat(1000) }), { stored: () => undefined, refused: assert.fail })
    await clock.advance(20)
  }
  assert.equal(streams.stream(0).frames.length, 100)
  isOutage = false
  link.settle(waiting)
  await clock.advance(5000)
  const left = streams.stream(0).frames.length
  assert.ok(left > 0 && left <= 25, `${left} frames are kept`)
})
