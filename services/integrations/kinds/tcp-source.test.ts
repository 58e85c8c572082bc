import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../../model/manual-clock.ts'
import { IntegrationErrors } from '../errors.ts'
import { until } from '../../../test/support/until.ts'
import { sourceParts } from '../source.testkit.ts'
import { tcpConfiguration } from './tcp-configuration.ts'
import { openTcpSource } from './tcp-source.ts'
import { openTcp, wallOf } from './tcp.testkit.ts'

const open = (context: TestContext, members: object = {}, limits: object = {}, clock = new ManualClock()) =>
  openTcp(context, { members, limits, clock })

async function join(context: TestContext, port: number) {
  const socket = connect({ port, host: '127.0.0.1' })
  context.after(() => socket.destroy())
  const told = { text: '', isClosed: false }
  socket.on('data', (chunk) => (told.text += chunk.toString())).on('error', () => undefined)
  socket.on('close', () => (told.isClosed = true))
  await once(socket, 'connect')
  return { socket, told }
}

const isClosed = ({ told }: { readonly told: { readonly isClosed: boolean } }) => until(() => told.isClosed)

test('a frame is answered when it is stored, in its turn, and one that never can be with the other answer', async (context) => {
  const { inlet, port } = await open(context)
  const sender = await join(context, port)
  inlet.isStoring = false
  sender.socket.write(`one\ntwo\n\n${'l'.repeat(2000)}\nthree\n`)
  await until(() => inlet.waiting.length === 3)
  assert.deepEqual(inlet.texts, ['one', 'two', 'three'])
  assert.deepEqual(inlet.skippedBytes, [2000])
  const [first, second, third] = inlet.waiting
  assert.equal(first?.frame.metadata['remoteAddress'], '127.0.0.1')
  assert.equal(first.frame.metadata['remotePort'], String(sender.socket.localPort))
  third?.receipt.done(undefined)
  first.receipt.done(undefined)
  await until(() => sender.told.text === 'OK\n')
  second?.receipt.done(undefined)
  await until(() => sender.told.text === 'OK\nOK\nERROR\nOK\n')
})

test('a sender that says that it sent all hears the answers to it', async (context) => {
  const { inlet, port } = await open(context)
  const sender = await join(context, port)
  inlet.isStoring = false
  sender.socket.end('one\ntwo\nhalf')
  await until(() => inlet.waiting.length === 2)
  inlet.store()
  await isClosed(sender)
  assert.equal(sender.told.text, 'OK\nOK\n')
  assert.deepEqual(inlet.texts, ['one', 'two'])
})

test('what could not be stored ends the connection without an answer', async (context) => {
  const { inlet, port } = await open(context)
  const sender = await join(context, port)
  inlet.isStoring = false
  sender.socket.write('one\ntwo\n')
  await until(() => inlet.waiting.length === 2)
  inlet.waiting[0]?.receipt.again(IntegrationErrors.FULL())
  await isClosed(sender)
  assert.equal(sender.told.text, '')
})

test('without room nothing more is read, and nothing is lost', async (context) => {
  const { inlet, port, shares } = await open(context, { answer: null })
  const sender = await join(context, port)
  inlet.isStoring = false
  inlet.room = 3
  const sent = 100_000
  const text = Array.from({ length: sent }, (_, n) => `frame ${n}\n`).join('')
  sender.socket.write(text)
  await until(() => inlet.waiting.length === 3)
  await until(() => shares.unfinished.bytes > 0)
  assert.ok(shares.unfinished.bytes < 200_000, `${shares.unfinished.bytes} bytes are held`)
  assert.equal(inlet.texts.length, 3)
  inlet.isStoring = true
  inlet.store()
  await until(() => inlet.texts.length === sent)
  assert.equal(inlet.texts.at(-1), `frame ${sent - 1}`)
  await until(() => shares.unfinished.bytes === 0)
})

test('silent and slow senders are left, each after its time', async (context) => {
  const { port, clock } = await open(context, { idleSeconds: 60, frameSeconds: 5 })
  const silent = await join(context, port)
  const slow = await join(context, port)
  const other = await join(context, port)
  slow.socket.write('half a ')
  other.socket.write('whole\n')
  await until(() => other.told.text === 'OK\n')
  // The beginning of the slow one's frame is read when its bytes came.
  await until(async () => {
    await clock.advance(1000)
    return slow.told.isClosed
  })
  assert.ok(!silent.told.isClosed && !other.told.isClosed)
  await clock.advance(61_000)
  await isClosed(silent)
})

test('connections, bytes that came half, and ports have their bounds, and leave no trace', async (context) => {
  const { port, shares, parts } = await open(context, {}, { maxConnections: 8, maxBytes: 4000, tenantPorts: 1 })
  const first = await join(context, port)
  first.socket.write('one\n')
  await until(() => first.told.text === 'OK\n')
  const second = await join(context, port)
  const third = await join(context, port)
  await isClosed(third)
  first.socket.write('h'.repeat(600))
  await until(() => shares.unfinished.bytes === 600)
  second.socket.write('h'.repeat(600))
  await isClosed(second)
  assert.ok(!first.told.isClosed)
  assert.deepEqual([shares.connections.bytes, shares.unfinished.bytes], [1, 600])
  first.socket.destroy()
  await until(() => shares.connections.bytes === 0 && shares.unfinished.bytes === 0)
  assert.throws(() => void openTcpSource(parts), /ports of one tenant/)
})

test('a frame for which there is no room takes room of what came half', async (context) => {
  const { port, inlet, shares } = await open(context, {}, { maxBytes: 4000 })
  inlet.room = 0
  const sender = await join(context, port)
  sender.socket.write(`${'w'.repeat(600)}\n`)
  await until(() => inlet.listeners.length === 1)
  assert.equal(shares.unfinished.bytes, 600)
  inlet.room = 1
  inlet.store()
  await until(() => sender.told.text === 'OK\n' && shares.unfinished.bytes === 0)
})

test('only those who may send are heard', async (context) => {
  const { port, inlet } = await open(context, { senders: ['10.0.0.0/8', '::1'] })
  const sender = await join(context, port)
  sender.socket.write('one\n')
  await isClosed(sender)
  assert.deepEqual(inlet.texts, [])
})

test('a port that another has is taken as soon as it is free', async (context) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const clock = new ManualClock()
  const made = sourceParts(tcpConfiguration.parse({ port }), clock)
  const source = await openTcpSource(made.parts)
  context.after(() => source.close())
  await until(() => /EADDRINUSE/.test(made.states.at(-1) ?? ''))
  other.close()
  await once(other, 'close')
  await until(async () => {
    await clock.advance(1000)
    return made.states.at(-1) === 'connected'
  })
})

test('a port goes from one owner to the next: told while it is taken, and taken within five seconds of its release', async (context) => {
  const former = await open(context)
  const sender = await join(context, former.port)
  former.inlet.isStoring = false
  sender.socket.write('one\n')
  await until(() => former.inlet.waiting.length === 1)
  const clock = new ManualClock()
  const next = sourceParts(tcpConfiguration.parse({ port: former.port, answer: 'OK\n' }), wallOf(clock))
  const source = await openTcpSource(next.parts)
  context.after(() => source.close())
  // The one before hears of it late. A second each, in which the system says that the port is taken.
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      await clock.advance(1000)
    }
  }
  await until(() => next.states.length > 0)
  await pass(200)
  assert.ok(next.states.every((state) => state.includes('EADDRINUSE')))
  const closed = former.source.close()
  await pass(5)
  await until(() => next.states.at(-1) === 'connected')
  // What the one before took it answers yet.
  former.inlet.store()
  await isClosed(sender)
  assert.equal(sender.told.text, 'OK\n')
  await former.clock.advance(5000)
  await closed
})

test('when it stops, what was taken is answered, and the port is free', async (context) => {
  const { inlet, port, source, clock } = await open(context)
  const sender = await join(context, port)
  inlet.isStoring = false
  sender.socket.write('one\n')
  await until(() => inlet.waiting.length === 1)
  const closed = source.close()
  inlet.store()
  await isClosed(sender)
  assert.equal(sender.told.text, 'OK\n')
  await clock.advance(5000)
  await closed
  const again: Socket = connect({ port, host: '127.0.0.1' })
  const [error] = (await once(again, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNREFUSED')
})
