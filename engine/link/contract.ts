/** What every link promises. An implementation's test is a call of {@link testLink} and what only it can do wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { Message } from '../../model/message.ts'
import type { Delivery, Link, LinkConsumer, PublishBound, ReadableLink } from './link.ts'
import { message } from './testkit.ts'

/** One link under test, with the ways in which it can end. */
export interface LinkUnderTest {
  readonly link: Link & PublishBound & ReadableLink
  /** Closes it and opens what it left. */
  readonly reopen: () => Promise<LinkUnderTest>
  /** Leaves it as a killed process would and opens what it left. */
  readonly crash: () => Promise<LinkUnderTest>
  /** Resolves when what was settled and failed before is durable; absent where the next stored frame says so. */
  readonly settlesDurable?: () => Promise<void>
  /** Bodies of the messages that were buried. */
  readonly buried: () => Promise<readonly { readonly message: Message; readonly reason: string }[]>
  readonly close: () => Promise<void>
}

/** Publishes and resolves when all are stored, with the order in which the receipts came. */
export function publishAll(link: Link, messages: readonly Message[]): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const stored: number[] = []
    messages.forEach((published, index) => {
      link.publish(published, {
        stored: () => {
          stored.push(index)
          if (stored.length === messages.length) resolve(stored)
        },
        refused: reject,
      })
    })
  })
}

/** A consumer that keeps what it gets, and tells when it has so many. */
export class Collector implements LinkConsumer {
  readonly deliveries: Delivery[] = []
  limit: number
  private readonly waiting: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(limit = Infinity) {
    this.limit = limit
  }

  room(): number {
    return this.limit - this.deliveries.length
  }

  deliver(batch: readonly Delivery[]): void {
    assert.ok(batch.length > 0 && batch.length <= this.room(), `${batch.length} delivered, room for ${this.room()}`)
    this.deliveries.push(...batch)
    for (const { count, resolve } of this.waiting) if (this.deliveries.length >= count) resolve()
  }

  got(count: number): Promise<void> {
    if (this.deliveries.length >= count) return Promise.resolve()
    return new Promise((resolve) => this.waiting.push({ count, resolve }))
  }

  get messages(): Message[] {
    return this.deliveries.map((delivery) => delivery.message)
  }
}

/** The messages in the order of their originators, each originator's as they came: an order over all originators is no promise. */
function byOriginator<Item>(items: readonly Item[], messageOf: (item: Item) => Message): Item[] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const { id } = messageOf(item).originator
    groups.set(id, [...(groups.get(id) ?? []), item])
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, group]) => group)
}

export function testLink(name: string, open: () => Promise<LinkUnderTest>): void {
  const ids = (messages: readonly Message[]): string[] => messages.map(({ id }) => id)

  test(`${name}: tells each receipt once, an originator's in the order of publishing, and delivers in that order`, async () => {
    const { link, close } = await open()
    const published = Array.from({ length: 500 }, (_, index) => message({ device: index % 7 }))
    const collector = new Collector()
    link.consume(collector)
    const stored = await publishAll(link, published)
    assert.equal(new Set(stored).size, 500)
    await collector.got(500)
    for (let device = 0; device < 7; device++) {
      const own = published.filter((_, index) => index % 7 === device)
      const isOwn = ({ originator }: Message): boolean => originator.id === own[0]?.originator.id
      assert.deepEqual(
        stored.filter((index) => index % 7 === device),
        own.map((_, index) => index * 7 + device),
      )
      assert.deepEqual(ids(collector.messages.filter(isOwn)), ids(own))
      const sequences = own.map(({ sequence }) => sequence)
      assert.ok(
        sequences.every((sequence, index) => sequence > (sequences[index - 1] ?? 0)),
        'sequences rise',
      )
    }
    assert.equal(collector.deliveries.length, 500)
    await close()
  })

  test(`${name}: tells no receipt within the call of publish`, async () => {
    const { link, close } = await open()
    let told = 0
    const ended = new Promise<void>((resolve) => {
      const receipt = { stored: () => (told++, resolve()), refused: () => (told++, resolve()) }
      link.publish(message(), receipt)
    })
    assert.equal(told, 0)
    await ended
    assert.equal(told, 1)
    await close()
  })

  test(`${name}: keeps every field of a message through a restart`, async () => {
    const first = await open()
    const published = [
      message({ data: '', metadata: {} }),
      message({ ts: -5, data: 'ünï 𝄞 \u0000', dataType: 'TEXT', type: 'Käse' }),
      message({ ts: 2 ** 51, data: 'x'.repeat(300_000), dataType: 'BINARY' }),
      message({ customerId: 'a customer', ruleChainId: 'a chain', ruleNodeId: 'a node', queueName: 'no such' }),
      message({ originator: { entityType: 'ASSET', id: 'é'.repeat(60) } }),
      message({
        metadata: JSON.parse('{"b":"1","a":"1700000000000","__proto__":"own","":""}') as Record<string, string>,
      }),
    ]
    await publishAll(first.link, published)
    const second = await first.reopen()
    const collector = new Collector()
    second.link.consume(collector)
    await collector.got(published.length)
    for (const before of published) {
      const { metadata, ...rest } = { ...collector.messages.find(({ id }) => id === before.id) }
      const { metadata: metadataBefore, ...restBefore } = { ...before }
      assert.deepEqual(rest, restBefore)
      assert.deepEqual(Object.entries(metadata ?? {}), Object.entries(metadataBefore))
    }
    await second.close()
  })

  for (const end of ['reopen', 'crash'] as const) {
    test(`${name}: after a ${end} delivers again what was not settled, with its tries, and nothing else`, async () => {
      const first = await open()
      const published = Array.from({ length: 30 }, (_, index) => message({ device: index % 3 }))
      const collector = new Collector()
      first.link.consume(collector)
      await publishAll(first.link, published)
      await collector.got(30)
      const kept = new Set(ids(published.filter((_, index) => Math.floor(index / 3) % 3 === 0)))
      const isSettled = (delivery: Delivery): boolean => !kept.has(delivery.message.id)
      assert.ok(collector.deliveries.every(({ attempt }) => attempt === 1))
      first.link.settle(collector.deliveries.filter(isSettled))
      const open1 = collector.deliveries.filter((delivery) => !isSettled(delivery))
      const failed = new Set<string>()
      for (const delivery of open1.slice(0, 4)) {
        first.link.failed(delivery, 2)
        failed.add(delivery.message.id)
      }
      // Settles ride along with the next frame: once that is stored, so are they.
      const last = message({ device: 9 })
      await publishAll(first.link, [last])
      await first.settlesDurable?.()
      const second = await first[end]()
      const again = new Collector()
      second.link.consume(again)
      await again.got(open1.length + 1)
      const before = byOriginator([...open1.map((delivery) => delivery.message), last], (each) => each)
      const after = byOriginator(again.deliveries, (delivery) => delivery.message)
      assert.deepEqual(
        after.map((delivery) => [delivery.message.id, delivery.attempt, delivery.message.sequence]),
        before.map(({ id, sequence }) => [id, failed.has(id) ? 3 : 1, sequence]),
      )
      await second.close()
    })
  }

  test(`${name}: settles without a further publish, soon`, async () => {
    const first = await open()
    const collector = new Collector()
    first.link.consume(collector)
    await publishAll(first.link, [message(), message()])
    await collector.got(2)
    first.link.settle(collector.deliveries.slice(0, 1))
    const second = await first.reopen()
    const again = new Collector()
    second.link.consume(again)
    await again.got(1)
    assert.deepEqual(ids(again.messages), ids(collector.messages.slice(1)))
    await second.close()
  })

  test(`${name}: delivers no more than the consumer has room for, and goes on when woken`, async () => {
    const { link, close } = await open()
    const published = Array.from({ length: 40 }, () => message())
    const collector = new Collector(15)
    link.consume(collector)
    await publishAll(link, published)
    await collector.got(15)
    assert.equal(collector.deliveries.length, 15)
    collector.limit = 40
    link.wake()
    await collector.got(40)
    assert.deepEqual(ids(collector.messages), ids(published))
    await close()
  })

  test(`${name}: a buried message is kept with body and reason, and never delivered again`, async () => {
    const first = await open()
    const collector = new Collector()
    first.link.consume(collector)
    const published = [message({ data: 'poison' }), message()]
    await publishAll(first.link, published)
    await collector.got(2)
    for (const delivery of collector.deliveries.slice(0, 1)) first.link.bury(delivery, 'it threw', 1)
    const second = await first.reopen()
    const again = new Collector()
    second.link.consume(again)
    await again.got(1)
    assert.deepEqual(ids(again.messages), ids(published.slice(1)))
    const buried = await second.buried()
    assert.deepEqual(
      buried.map((letter) => [letter.message.id, letter.message.data, letter.reason]),
      [[published[0]?.id, 'poison', 'it threw']],
    )
    await second.close()
  })

  test(`${name}: what checkFits lets pass is stored, what it refuses would be refused`, async () => {
    const { link, close } = await open()
    const codeOf = (each: Message): Promise<string> =>
      new Promise((resolve) =>
        link.publish(each, { stored: () => resolve('stored'), refused: ({ code }) => resolve(code) }),
      )
    let [fits, tooLarge] = [0, 17 << 20]
    const refuses = (size: number): boolean => {
      try {
        link.checkFits(message({ data: 'x'.repeat(size) }))
        return false
      } catch (error) {
        assert.ok(isMillraceError(error) && error.code === 'link.MESSAGE_TOO_LARGE' && error.status === 413)
        return true
      }
    }
    while (tooLarge - fits > 1) {
      const size = (fits + tooLarge) >> 1
      if (refuses(size)) tooLarge = size
      else fits = size
    }
    assert.equal(await codeOf(message({ data: 'x'.repeat(fits) })), 'stored')
    assert.equal(await codeOf(message({ data: 'x'.repeat(tooLarge) })), 'link.MESSAGE_TOO_LARGE')
    await close()
  })

  test(`${name}: settling twice counts once`, async () => {
    const first = await open()
    const collector = new Collector()
    first.link.consume(collector)
    await publishAll(first.link, [message(), message(), message()])
    await collector.got(3)
    const once = collector.deliveries.slice(0, 1)
    for (let time = 0; time < 3; time++) first.link.settle(once)
    const second = await first.reopen()
    const again = new Collector()
    second.link.consume(again)
    await again.got(2)
    assert.deepEqual(ids(again.messages), ids(collector.messages.slice(1)))
    await second.close()
  })

  test(`${name}: stores what was published before close, refuses what comes later, closes once`, async () => {
    const first = await open()
    const stored = publishAll(first.link, [message(), message()])
    const closed = first.link.close()
    assert.equal(first.link.close(), closed)
    await stored
    await closed
    const code = await new Promise((resolve) =>
      first.link.publish(message(), { stored: () => resolve('stored'), refused: (error) => resolve(error.kind) }),
    )
    assert.equal(code, 'retryable')
    await first.close()
  })

  testQueues(name, open)
  testReading(name, open)
}

function testQueues(name: string, open: () => Promise<LinkUnderTest>): void {
  const data = (messages: readonly Message[]): string[] => messages.map((each) => each.data)
  const numbered = (count: number, queueNames: readonly (string | undefined)[]): Message[] =>
    Array.from({ length: count }, (_, index) =>
      message({ data: String(index), queueName: queueNames[index % queueNames.length] }),
    )

  test(`${name}: each queue's messages go to its consumer in order, those of a queue that has none to Main's`, async () => {
    const { link, close } = await open()
    const main = new Collector()
    const fast = new Collector()
    link.consume(main)
    link.consume(fast, 'Fast')
    assert.throws(() => link.consume(new Collector(), 'Fast'), /has a consumer/)
    const published = numbered(60, [undefined, 'Fast', 'Main', 'Unknown'])
    await publishAll(link, published)
    await Promise.all([main.got(45), fast.got(15)])
    const isFast = ({ queueName }: Message): boolean => queueName === 'Fast'
    assert.deepEqual(data(fast.messages), data(published.filter(isFast)))
    for (const queueName of [undefined, 'Main', 'Unknown']) {
      const of = (messages: readonly Message[]): string[] =>
        data(messages.filter((each) => each.queueName === queueName))
      assert.deepEqual(of(main.messages), of(published))
    }
    const sequences = published.map(({ sequence }) => sequence)
    assert.ok(
      sequences.every((sequence, index) => sequence > (sequences[index - 1] ?? 0)),
      'sequences rise over the queues of an originator',
    )
    await close()
  })

  test(`${name}: a queue whose consumer has no room holds up no other`, async () => {
    const { link, close } = await open()
    const main = new Collector()
    const full = new Collector(3)
    link.consume(full, 'Full')
    link.consume(main)
    const published = numbered(400, [undefined, 'Full'])
    await publishAll(link, published)
    await main.got(200)
    assert.equal(full.deliveries.length, 3)
    full.limit = Infinity
    link.wake()
    await full.got(200)
    assert.deepEqual(data(full.messages), data(published.filter(({ queueName }) => queueName === 'Full')))
    await close()
  })

  for (const end of ['reopen', 'crash'] as const) {
    test(`${name}: after a ${end} each queue gets again what it had not settled`, async () => {
      const first = await open()
      const collectors = [new Collector(), new Collector(), new Collector()]
      const queueNames = ['Main', 'Kept', 'Dropped']
      collectors.forEach((collector, index) => first.link.consume(collector, queueNames[index]))
      const published = numbered(60, queueNames)
      await publishAll(first.link, published)
      await Promise.all(collectors.map((collector) => collector.got(20)))
      for (const { deliveries } of collectors) first.link.settle(deliveries.slice(0, 15))
      for (const { deliveries } of collectors) {
        for (const delivery of deliveries.slice(18)) first.link.failed(delivery, 1)
      }
      await publishAll(first.link, [message({ data: 'last', queueName: 'Kept' })])
      await first.settlesDurable?.()
      const second = await first[end]()
      const [main, kept] = [new Collector(), new Collector()]
      second.link.consume(kept, 'Kept')
      second.link.consume(main)
      await Promise.all([main.got(10), kept.got(6)])
      const open1 = (queueName: string): string[] =>
        data(published.filter((each) => each.queueName === queueName).slice(15))
      assert.deepEqual(data(kept.messages), [...open1('Kept'), 'last'])
      assert.deepEqual(
        kept.deliveries.map(({ attempt }) => attempt),
        [1, 1, 1, 2, 2, 1],
      )
      for (const queueName of ['Main', 'Dropped']) {
        assert.deepEqual(data(main.messages.filter((each) => each.queueName === queueName)), open1(queueName))
      }
      await second.close()
    })
  }

  test(`${name}: a queue that was given up settles what it has; the rest and what comes is Main's, once`, async () => {
    const first = await open()
    const main = new Collector()
    const given = new Collector(5)
    first.link.consume(main)
    const giveUp = first.link.consume(given, 'Given')
    await publishAll(first.link, numbered(40, ['Given', 'Main']))
    await Promise.all([given.got(5), main.got(20)])
    giveUp()
    giveUp()
    await publishAll(first.link, [message({ data: 'after', queueName: 'Given' })])
    await main.got(36)
    assert.deepEqual(data(main.messages.filter(({ queueName }) => queueName === 'Given')), [
      ...Array.from({ length: 15 }, (_, index) => String(10 + index * 2)),
      'after',
    ])
    first.link.settle(given.deliveries)
    first.link.settle(main.deliveries)
    const again = new Collector()
    const stop = first.link.consume(again, 'Given')
    await publishAll(first.link, [message({ data: 'again', queueName: 'Given' })])
    await again.got(1)
    assert.deepEqual(data(again.messages), ['again'])
    stop()
    const second = await first.reopen()
    const left = new Collector()
    second.link.consume(left)
    await left.got(1)
    assert.deepEqual(data(left.messages), ['again'])
    await second.close()
  })
}

function testReading(name: string, open: () => Promise<LinkUnderTest>): void {
  /** What stands behind these positions, by stream; moves them on. */
  const readOn = async (link: ReadableLink, positions: number[]): Promise<Message[]> => {
    const messages: Message[] = []
    for (const [stream, from] of positions.entries()) {
      for await (const frame of link.read({ stream, position: from })) {
        assert.ok(frame.position >= (positions[stream] ?? 0), 'positions rise')
        assert.ok(frame.storedAt > 0)
        positions[stream] = frame.position + 1
        messages.push(...frame.messages)
      }
    }
    return messages
  }

  test(`${name}: a reader from a position sees every frame once while devices write, settled or not`, async () => {
    const first = await open()
    let settled = 0
    first.link.consume({
      room: () => 1000,
      deliver: (batch) => {
        settled += batch.length
        first.link.settle(batch)
      },
    })
    const published = Array.from({ length: 400 }, (_, index) => message({ device: index % 9 }))
    const positions = new Array<number>(first.link.streams).fill(0)
    const seen: Message[] = []
    const writing = (async () => {
      for (let from = 0; from < published.length; from += 20)
        await publishAll(first.link, published.slice(from, from + 20))
    })()
    let isWritten = false
    void writing.then(() => (isWritten = true))
    while (!isWritten) {
      seen.push(...(await readOn(first.link, positions)))
      await new Promise<void>((resolve) => systemClock.soon(resolve))
    }
    await writing
    seen.push(...(await readOn(first.link, positions)))
    const order = (messages: readonly Message[]): string[] => byOriginator(messages, (each) => each).map(({ id }) => id)
    assert.deepEqual(order(seen), order(published))
    assert.ok(settled > 0)
    const last = message({ device: 3 })
    await publishAll(first.link, [last])
    assert.deepEqual(
      (await readOn(first.link, positions)).map(({ id }) => id),
      [last.id],
    )
    const second = await first.reopen()
    const again = await readOn(second.link, new Array<number>(second.link.streams).fill(0))
    assert.deepEqual(order(again), order([...published, last]), 'the same after a restart')
    await second.close()
  })
}
