import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { ManualClock } from '../actor/testkit.ts'
import type { FrameRest } from './frame-broker.ts'
import { message } from './testkit.ts'
import { FramePublisher } from './frame-publisher.ts'
import { DEFAULT_FRAME_BOUNDS } from './options.ts'
import { MemoryStreams, type MemoryBroker } from './memory-testkit.ts'

function publisherOf(broker: MemoryBroker, clock: Clock): FramePublisher {
  return new FramePublisher({
    ...{ broker, partitions: 1, clock, random: systemRandom, bounds: DEFAULT_FRAME_BOUNDS },
    onEvent: (event) => assert.fail(`told ${event.kind}`),
  })
}

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
  const publisher = publisherOf(broker, systemClock)
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

/** Devices that send again as soon as they are answered: `answerMs` later. */
async function framesOfClosedLoops(rest: FrameRest | undefined) {
  const clock = new ManualClock()
  const streams = new MemoryStreams(clock, 1)
  const broker = streams.connect()
  broker.rest = rest
  broker.commitMs = 4
  const publisher = publisherOf(broker, clock)
  let messages = 0
  let isOver = false
  const send = (device: number): void => {
    if (isOver) return
    publisher.publish(message({ device }), {
      stored: () => {
        messages++
        // Each at a time of its own.
        clock.after(0.2 + device * 0.02, () => send(device))
      },
      refused: () => undefined,
    })
  }
  for (let device = 0; device < 30; device++) clock.after(device * 0.1, () => send(device))
  await clock.advance(400)
  isOver = true
  const closing = publisher.close()
  await clock.advance(20)
  await closing
  const { rests, restedMs } = publisher.counts
  return { messages, frames: streams.stream(0).frames.length, rests, restedMs }
}

test('behind a frame a stream rests until those who were told have sent again, a part of what the frame took at most', async (context) => {
  const without = await framesOfClosedLoops(undefined)
  const rested = await framesOfClosedLoops({ part: 0.25, mostMs: 10, leastTookMs: 2, leastMessages: 8 })
  context.diagnostic(JSON.stringify({ without, rested }))
  assert.ok(rested.messages >= without.messages, `${rested.messages} messages, ${without.messages} without a rest`)
  assert.ok(without.messages / without.frames < 18 && rested.messages / rested.frames > 28)
  assert.deepEqual([without.rests, without.restedMs], [0, 0])
  // A millisecond at most behind each frame, which took four.
  assert.ok(rested.rests > rested.frames / 2 && rested.rests <= rested.frames)
  assert.ok(rested.restedMs > 0 && rested.restedMs <= rested.rests * 1.001, `${rested.restedMs} ms`)
})

test('no stream rests behind few messages, behind a fast frame, or at the close', async () => {
  const rest = { part: 0.25, mostMs: 10, leastTookMs: 2, leastMessages: 8 }
  const clock = new ManualClock()
  const streams = new MemoryStreams(clock, 1)
  const broker = streams.connect()
  broker.rest = rest
  const options = { broker, partitions: 1, clock, random: systemRandom, bounds: DEFAULT_FRAME_BOUNDS }
  const publisher = new FramePublisher({ ...options, onEvent: (event) => assert.fail(`told ${event.kind}`) })
  let stored = 0
  const publish = (count: number): void => {
    for (let device = 0; device < count; device++)
      publisher.publish(message({ device }), { stored: () => stored++, refused: assert.fail })
  }
  for (const [commitMs, count] of [
    [4, 7],
    [1, 30],
  ] as const) {
    stored = 0
    broker.commitMs = commitMs
    publish(count)
    await clock.settle()
    publish(1)
    await clock.advance(commitMs)
    assert.equal(stored, count)
    await clock.advance(commitMs)
    assert.equal(stored, count + 1)
  }
  broker.commitMs = 40
  stored = 0
  publish(30)
  await clock.settle()
  publish(1)
  await clock.advance(40)
  assert.equal(stored, 30)
  const closing = publisher.close()
  await clock.advance(40)
  await closing
  assert.equal(stored, 31, 'it rested at the close')
})

test('a frame that is full of bytes ends the rest, and begins none', async () => {
  const clock = new ManualClock()
  const broker = new MemoryStreams(clock, 1).connect()
  broker.rest = { part: 0.25, mostMs: 10, leastTookMs: 2, leastMessages: 8 }
  broker.commitMs = 40
  const publisher = publisherOf(broker, clock)
  let stored = 0
  const publish = (count: number, data = '{}'): void => {
    for (let device = 0; device < count; device++)
      publisher.publish(message({ device, data }), { stored: () => stored++, refused: assert.fail })
  }
  const full = 'x'.repeat(broker.limits.closeAtBytes / 4)
  publish(8)
  await clock.settle()
  publish(4, full)
  await clock.advance(40)
  assert.equal(stored, 8)
  await clock.advance(40)
  assert.equal(stored, 12, 'it rested with a full frame')
  publish(8)
  await clock.advance(40)
  assert.equal(stored, 20)
  publish(4, full)
  await clock.advance(40)
  assert.equal(stored, 24, 'a full frame did not end the rest')
  await publisher.close()
})
