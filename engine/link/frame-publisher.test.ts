import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { message } from './testkit.ts'
import { FramePublisher } from './frame-publisher.ts'
import { DEFAULT_FRAME_BOUNDS } from './options.ts'
import { MemoryStreams } from './memory-testkit.ts'

function outcomeOf(publisher: FramePublisher, published: Message): Promise<string> {
  return new Promise((resolve) => {
    publisher.publish(published, {
      stored: () => resolve('stored'),
      refused: (error: MillraceError) => resolve(error.code),
    })
  })
}

test('a message that cannot be encoded leaves no empty frame behind the one in flight', async () => {
  const streams = new MemoryStreams(systemClock, 1)
  const broker = streams.connect()
  const publisher = new FramePublisher({
    broker,
    partitions: 1,
    clock: systemClock,
    random: systemRandom,
    bounds: DEFAULT_FRAME_BOUNDS,
    onEvent: (event) => assert.fail(`told ${event.kind}`),
  })
  const first = outcomeOf(publisher, message())
  // The next turn has the frame in flight; the broker answers a turn later.
  await new Promise<void>((resolve) => systemClock.soon(resolve))
  const broken = message()
  Object.defineProperty(broken, 'id', { value: undefined })
  const outcomes = await Promise.all([first, outcomeOf(publisher, broken)])
  assert.deepEqual(outcomes, ['stored', 'link.MESSAGE_INVALID'])
  assert.equal(await outcomeOf(publisher, message()), 'stored')
  await publisher.close()
  assert.equal(streams.stream(0).frames.length, 2)
})
