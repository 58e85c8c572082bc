import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { FrameLink } from './frame-link.ts'
import type { Delivery } from './link.ts'
import { MemoryStreams, TestMembership } from './memory-testkit.ts'
import { message } from './testkit.ts'

const STREAMS = 4
const DEVICES = 32

void test('what runs ends before it is told that its stream is gone, and nothing more of it is delivered', async () => {
  const clock = new ManualClock()
  const streams = new MemoryStreams(clock, STREAMS)
  const membership = new TestMembership()
  const told: string[] = []
  const held: Delivery[] = []
  const link = new FrameLink({
    broker: streams.connect(),
    partitions: STREAMS,
    letters: streams.letterStore(),
    membership: membership.join('a'),
    clock,
    random: new SeededRandom(1),
  })
  link.watch({
    taken: async () => undefined,
    leaving: (stream) => void told.push(`leaving ${stream}`),
    gone: (stream) => void told.push(`gone ${stream}`),
  })
  link.consume({ room: () => 1000, deliver: (batch) => void held.push(...batch) })
  for (let device = 0; device < DEVICES; device++)
    link.publish(message({ device }), { stored: () => undefined, refused: assert.fail })
  await clock.advance(2000)
  assert.equal(held.length, DEVICES)
  membership.join('b')
  await clock.advance(500)
  assert.ok(told.length > 0 && told.every((text) => text.startsWith('leaving')), told.join())
  const leaving = told.length
  link.settle(held)
  await clock.advance(100)
  assert.deepEqual(
    told.slice(leaving).toSorted(),
    told
      .slice(0, leaving)
      .map((text) => text.replace('leaving', 'gone'))
      .toSorted(),
  )
  void link.close()
  await clock.advance(1000)
})
