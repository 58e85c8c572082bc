import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { requireServer, startNats } from '../../../test/support/servers/index.ts'
import { systemClock } from '../../../model/system-clock.ts'
import type { Message } from '../../../model/message.ts'
import { soleMember } from '../../cluster/membership.ts'
import { BlockWriter } from '../block-writer.ts'
import { Collector, publishAll } from '../contract.ts'
import { NO_OWN_FRAMES } from '../frame-broker.ts'
import { message } from '../testkit.ts'
import { newPrefix, openTestLink } from './nats-testkit.ts'
import { OwnFrames } from './own-frames.ts'

function block(messages: readonly Message[]): Buffer {
  const writer = new BlockWriter(1)
  for (const each of messages) writer.message(each)
  return writer.finish()
}

function open(maxBytes = 4 << 20) {
  const counts = { ...NO_OWN_FRAMES }
  return { own: new OwnFrames(maxBytes, counts), counts }
}

test('a frame that comes behind its answer is had from memory, once', () => {
  const { own } = open()
  const messages = [message(), message()]
  const stored = block(messages)
  own.stored(7, messages, stored)
  assert.equal(own.take(7, Buffer.from(stored)), messages)
  assert.equal(own.take(7, stored), undefined)
})

test('a frame that came before its answer, or that another process stored, is read from the stream', () => {
  const { own } = open()
  const messages = [message()]
  const stored = block(messages)
  assert.equal(own.take(7, stored), undefined)
  own.stored(7, messages, stored)
  assert.equal(own.take(8, stored), undefined)
  own.stored(9, messages, stored)
  assert.equal(own.take(9, block([message()])), undefined, 'another frame at the position')
})

test('a reader that is far behind keeps megabytes of frames and no more', () => {
  const { own } = open()
  const messages = [message({ data: 'x'.repeat(1 << 20) })]
  const stored = block(messages)
  for (let position = 1; position <= 10; position++) own.stored(position, messages, stored)
  assert.equal(own.take(1, stored), undefined)
  assert.equal(own.take(10, stored), messages)
})

test('a frame at the position of another one, which the stream lost, takes its place', () => {
  const { own } = open()
  const large = [message({ data: 'x'.repeat(1 << 20) })]
  const stored = block(large)
  for (let time = 0; time < 10; time++) own.stored(7, large, stored)
  assert.ok(own.take(7, stored) === large)
  own.stored(8, large, stored)
  assert.ok(own.take(8, stored) === large, 'those that were replaced still count')
})

test('what is kept and what came is told, and who has no room for frames keeps none', () => {
  const messages = [message()]
  const stored = block(messages)
  const { own, counts } = open(2 * stored.length)
  for (const position of [1, 2, 3]) own.stored(position, messages, stored)
  assert.deepEqual(counts, { ownFrameBytes: 2 * stored.length, ownFrames: 0, decodedFrames: 0 })
  for (const position of [1, 2]) own.take(position, stored)
  assert.deepEqual(counts, { ownFrameBytes: stored.length, ownFrames: 1, decodedFrames: 1 })
  own.close()
  own.stored(4, messages, stored)
  assert.equal(counts.ownFrameBytes, 0, 'a reader that ended keeps something')

  const none = open(0)
  none.own.stored(1, messages, stored)
  assert.equal(none.counts.ownFrameBytes, 0)
  assert.equal(none.own.take(1, stored), undefined)
})

async function nats(context: TestContext): Promise<string | undefined> {
  if (!requireServer(context, 'nats')) return undefined
  const server = await startNats({ syncInterval: 'always' })
  context.after(() => server.stop())
  return server.url
}

test('JetStream: the engine gets what its own process published without decoding it, and what others did as they wrote it', async (context) => {
  const servers = await nats(context)
  if (servers === undefined) return
  const prefix = newPrefix()
  const here = await openTestLink({ servers, prefix })
  const membership = soleMember({ id: 'transport', roles: ['transport'], startedAt: systemClock.now() })
  const there = await openTestLink({ servers, prefix, membership })
  context.after(() => Promise.all([here.close(), there.close()]))
  const collector = new Collector()
  here.link.consume(collector)
  await publishAll(here.link, [message()])
  await collector.got(1)
  const own = Array.from({ length: 40 }, (_, device) => message({ device }))
  for (const each of own) await publishAll(here.link, [each])
  const foreign = Array.from({ length: 10 }, (_, device) => message({ device }))
  await publishAll(there.link, foreign)
  await collector.got(51)
  const got = new Map(collector.messages.map((each) => [each.id, each]))
  for (const each of [...own, ...foreign]) {
    const found = got.get(each.id)
    assert.ok(found !== undefined)
    assert.deepEqual({ ...found }, { ...each })
  }
  const shared = own.filter((each) => got.get(each.id) === each)
  context.diagnostic(`${shared.length} of ${own.length} from memory`)
  const { ownFrames, decodedFrames, ownFrameBytes } = here.link.figures()
  assert.ok(ownFrames >= shared.length && decodedFrames > 0 && ownFrameBytes === 0, JSON.stringify(here.link.figures()))
  // The server answers before it delivers, but promises no order of the two.
  assert.ok(shared.length > own.length / 2, `${shared.length} of ${own.length}`)
  here.link.settle(collector.deliveries)
})
