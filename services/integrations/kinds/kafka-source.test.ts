import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, describe, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Admin, Producer, compressionsAlgorithms, type MessageToProduce } from '@platformatic/kafka'
import { ManualClock } from '../../../model/manual-clock.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { skipUnless } from '../../../test/support/require-tool.ts'
import { canRunKafka, startKafka } from '../../../test/support/servers/index.ts'
import { boundDecompression } from '../../outbound/clients/kafka-decompression.ts'
import { IntegrationErrors } from '../errors.ts'
import { until } from '../../../test/support/until.ts'
import { sourceParts } from '../source.testkit.ts'
import { SourceShares } from '../source-shares.ts'
import { kafkaConfiguration } from './kafka-configuration.ts'
import { openKafkaSource } from './kafka-source.ts'

test('what makes no sense is refused with its member', () => {
  const good = { brokers: ['a.example:9092', '[::1]:9093'], topics: ['t'] }
  assert.ok(kafkaConfiguration.safeParse(good).success)
  for (const [members, member] of [
    [{ brokers: ['a.example'] }, 'brokers'],
    [{ brokers: ['a:70000'] }, 'brokers'],
    [{ topics: ['a b'] }, 'topics'],
    [{ certificate: 'PEM' }, 'privateKey'],
    [{ sasl: { username: 'u' } }, 'sasl'],
  ] as const)
    assert.equal(kafkaConfiguration.safeParse({ ...good, ...members }).error?.issues[0]?.path[0], member)
})

test('brokers inside the network, and those that are away, are told as the reason', async (context) => {
  for (const [broker, reason] of [
    ['10.1.2.3:9092', /internal address/],
    ['127.0.0.1:1', /connect/i],
  ] as const) {
    const { parts, states } = sourceParts(kafkaConfiguration.parse({ brokers: [broker], topics: ['t'] }))
    const source = await openKafkaSource(parts)
    context.after(() => source.close())
    await until(() => states.length > 0)
    assert.match(states[0] ?? '', reason)
  }
})

test('brokers that never answer hold up no stop', { timeout: 120_000 }, async (context) => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined).resume()))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  context.after(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const clock = new ManualClock()
  const { parts } = sourceParts(kafkaConfiguration.parse({ brokers: [`127.0.0.1:${port}`], topics: ['t'] }), clock)
  const source = await openKafkaSource(parts)
  await until(() => sockets.length > 0)
  let isClosed = false
  const closed = source.close().then(() => (isClosed = true))
  await clock.advance(2900)
  assert.ok(!isClosed)
  await clock.advance(200)
  await closed
})

test('a batch that would become gigabytes is refused before it does', () => {
  boundDecompression()
  const { gzip, lz4 } = compressionsAlgorithms
  assert.equal(gzip.decompressSync(gzipSync('small')).toString(), 'small')
  const bomb = gzipSync(Buffer.alloc(100_000_000))
  assert.throws(() => gzip.decompressSync(bomb), /larger than/)
  assert.throws(() => lz4.decompressSync(Buffer.alloc(3_000_000)), /too large/)
})

test('the batches of one answer have a bound together, and the next answer has it anew', async () => {
  boundDecompression()
  const { gzip } = compressionsAlgorithms
  const batch = gzipSync(Buffer.alloc(20_000_000))
  const decompressed = (): number => gzip.decompressSync(batch).length
  assert.deepEqual([decompressed(), decompressed(), decompressed()], [20_000_000, 20_000_000, 20_000_000])
  assert.throws(decompressed, /larger than/)
  await Promise.resolve()
  assert.equal(decompressed(), 20_000_000)
})

const skip = skipUnless(canRunKafka(), 'java or mvn')

describe('with a real broker', { skip }, async () => {
  if (skip !== false) return
  const broker = await startKafka()
  after(() => broker.stop())
  const brokers = { clientId: 'test', bootstrapBrokers: [broker.url] }

  async function topic(context: TestContext, partitions = 1) {
    const name = `t-${randomUUID()}`
    const admin = new Admin(brokers)
    context.after(() => admin.close())
    await admin.createTopics({ topics: [name], partitions, replicas: 1 })
    const producer = new Producer(brokers)
    context.after(() => producer.close(true))
    const send = async (messages: Omit<MessageToProduce, 'topic'>[], compression: 'none' | 'gzip' = 'none') => {
      await producer.send({ messages: messages.map((message) => ({ ...message, topic: name })), compression })
    }
    const committed = async (groupId: string) => {
      const [group] = await admin.listConsumerGroupOffsets({
        groups: [{ groupId, topics: [{ name, partitionIndexes: [0] }] }],
      })
      return Number(group?.topics[0]?.partitions[0]?.committedOffset ?? -1)
    }
    return { name, send, committed }
  }

  async function open(
    context: TestContext,
    name: string,
    members: object = {},
    { shares, full = false }: { readonly shares?: SourceShares; readonly full?: boolean } = {},
  ) {
    const groupId = `g-${name}`
    const configuration = kafkaConfiguration.parse({ brokers: [broker.url], topics: [name], groupId, ...members })
    const made = sourceParts(configuration, systemClock)
    if (full) made.inlet.room = 0
    const source = await openKafkaSource(shares === undefined ? made.parts : { ...made.parts, shares })
    context.after(async () => {
      made.inlet.store()
      await source.close()
    })
    // A broker that has just begun may not know yet who coordinates a group: the source asks again.
    await until(() => made.states.at(-1) === 'connected')
    made.states.splice(0, made.states.length - 1)
    return { ...made, source, groupId }
  }

  const values = (...texts: readonly string[]) => texts.map((text) => ({ value: Buffer.from(text) }))

  test('an offset is committed when all before it is stored, and a successor goes on there', async (context) => {
    const { name, send, committed } = await topic(context)
    await send([
      { key: Buffer.from('k'), value: Buffer.from('one'), headers: new Map([[Buffer.from('h'), Buffer.from('v')]]) },
      { value: Buffer.from('two') },
      { key: Buffer.from('k') },
    ])
    const first = await open(context, name)
    first.inlet.isStoring = false
    await until(() => first.inlet.waiting.length === 2)
    const [one, two] = first.inlet.waiting.splice(0)
    const { timestamp, ...metadata } = one?.frame.metadata ?? {}
    assert.ok(Math.abs(Number(timestamp) - Date.now()) < 3_600_000)
    assert.deepEqual(metadata, { topic: name, partition: '0', offset: '0', key: 'k', 'header.h': 'v' })
    two?.receipt.done(undefined)
    one?.receipt.done(IntegrationErrors.RESULT({ place: 'a', reason: 'b' }))
    await until(async () => (await committed(first.groupId)) === 3)
    await send(values('three', 'four'))
    await until(() => first.inlet.waiting.length === 2)
    first.inlet.store(1)
    await first.source.close()
    assert.equal(await committed(first.groupId), 4)
    const second = await open(context, name)
    await until(() => second.inlet.texts.length === 1)
    assert.deepEqual(second.inlet.texts, ['four'])
  })

  test('what could not be stored comes again', async (context) => {
    const { name, send } = await topic(context)
    await send(values('one', 'two'))
    const { inlet, states } = await open(context, name)
    inlet.isStoring = false
    await until(() => inlet.waiting.length === 2)
    const [, two] = inlet.waiting.splice(0)
    inlet.isStoring = true
    two?.receipt.again(IntegrationErrors.FULL())
    await until(() => inlet.texts.length === 4)
    assert.deepEqual(inlet.texts, ['one', 'two', 'one', 'two'])
    assert.match(states[1] ?? '', /waits to be stored/)
  })

  test('without room no more is fetched than one answer, and nothing is lost', async (context) => {
    const { name, send } = await topic(context)
    const filler = 'x'.repeat(5000)
    const sent = 2000
    for (let from = 0; from < sent; from += 100)
      await send(values(...Array.from({ length: 100 }, (_, index) => `${from + index} ${filler}`)), 'gzip')
    const { inlet } = await open(context, name)
    inlet.isStoring = false
    inlet.room = 3
    await until(() => inlet.waiting.length === 3)
    for (let time = 0; time < 50; time++) inlet.store()
    await until(() => inlet.waiting.length === 3)
    inlet.isStoring = true
    inlet.store()
    await until(() => {
      inlet.store()
      return inlet.texts.length === sent
    })
    assert.deepEqual(
      inlet.texts.map((text) => Number(text.split(' ')[0])),
      Array.from({ length: sent }, (_, index) => index),
    )
  })

  test('what all integrations of a tenant have fetched has one bound, and everything comes', async (context) => {
    const { name, send } = await topic(context, 4)
    const filler = 'x'.repeat(5000)
    const sent = 400
    for (let from = 0; from < sent; from += 100)
      await send(
        Array.from({ length: 100 }, (_, index) => ({
          ...{ value: Buffer.from(`${from + index} ${filler}`), partition: index % 4 },
        })),
      )
    // A quarter of it is the tenant's: three answers at most.
    const maxFetchedBytes = 12 << 20
    const shares = new SourceShares({ tenantPorts: 0, maxConnections: 0, maxBytes: 0, maxFetchedBytes })
    const open6 = Array.from({ length: 6 }, async (_, index) => {
      const members = { groupId: `g-${name}-${index}` }
      return open(context, name, members, { shares, full: true })
    })
    const sources = await Promise.all(open6)
    let most = 0
    const look = (): void => {
      most = Math.max(most, shares.fetched.bytes)
    }
    // None has room for a record, so each holds what it fetched; who would exceed the bound waits.
    await until(() => {
      look()
      return shares.fetched.waiters > 0
    })
    for (const { inlet } of sources) inlet.room = Infinity
    await until(() => {
      look()
      for (const { inlet } of sources) inlet.store()
      return sources.every(({ inlet }) => new Set(inlet.texts).size === sent)
    })
    assert.ok(most <= maxFetchedBytes / 4, `${most} bytes`)
    for (const { source } of sources) await source.close()
    assert.equal(shares.fetched.bytes, 0)
  })

  test('an answer that becomes larger than there is room for holds up the others until it is read', async (context) => {
    const { name, send } = await topic(context)
    const [sent, bytes] = [160, 50_000]
    await send(values(...Array.from({ length: sent }, (_, index) => `${index} ${'x'.repeat(bytes)}`)), 'gzip')
    const maxFetchedBytes = 12 << 20
    const shares = new SourceShares({ tenantPorts: 0, maxConnections: 0, maxBytes: 0, maxFetchedBytes })
    const openings = Array.from({ length: 3 }, (_, index) =>
      open(context, name, { groupId: `g-${name}-${index}` }, { shares, full: true }),
    )
    const sources = await Promise.all(openings)
    const answer = sent * bytes
    await until(() => shares.fetched.bytes > answer)
    // The others are asked for by now, and their answers are as large.
    for (let look = 0; look < 100; look++) {
      assert.ok(shares.fetched.bytes < 2 * answer, `${shares.fetched.bytes} bytes`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    // What an answer was taken out of stays until its last record is read.
    const held = shares.fetched.bytes
    for (const { inlet } of sources) {
      inlet.isStoring = false
      inlet.room = 10
      inlet.store()
    }
    assert.ok(sources.some(({ inlet }) => inlet.texts.length === 10))
    assert.equal(shares.fetched.bytes, held)
    for (const { inlet } of sources) {
      inlet.isStoring = true
      inlet.room = Infinity
    }
    await until(() => {
      for (const { inlet } of sources) inlet.store()
      return sources.every(({ inlet }) => new Set(inlet.texts).size === sent)
    })
    // Brokers that were not heard meanwhile are heard again.
    await send(values('one more'))
    await until(() => sources.every(({ inlet }) => inlet.texts.includes('one more')))
    for (const { source } of sources) await source.close()
    assert.equal(shares.fetched.bytes, 0)
  })

  test('a record that is too large is counted, and those behind it come', async (context) => {
    const { name, send } = await topic(context, 40)
    const made = await open(context, name)
    // As the intake does it.
    const take = made.inlet.take.bind(made.inlet)
    const refused: number[] = []
    made.inlet.take = (frame, receipt) => {
      if (frame.payload.length <= made.inlet.maxFrameBytes) return take(frame, receipt)
      refused.push(frame.payload.length)
      receipt.done(IntegrationErrors.FULL())
      return true
    }
    const large = 'x'.repeat(900_000)
    for (let partition = 0; partition < 40; partition++) {
      await send([{ value: Buffer.from(large), partition }])
      await send([{ value: Buffer.from(`behind ${partition}`), partition }])
    }
    await until(() => made.inlet.texts.length === 40)
    assert.deepEqual(refused, Array<number>(40).fill(900_000))
    assert.equal(new Set(made.inlet.texts).size, 40)
  })

  test('with LATEST a new group hears what comes from then on', async (context) => {
    const { name, send } = await topic(context)
    await send(values('before'))
    const { inlet } = await open(context, name, { autoOffsetReset: 'LATEST' })
    await until(async () => {
      await send(values('after'))
      return inlet.texts.length > 0
    })
    assert.ok(!inlet.texts.includes('before'))
  })
})
