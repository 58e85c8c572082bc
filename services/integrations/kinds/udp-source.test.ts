import assert from 'node:assert/strict'
import { createSocket, Socket } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../../model/manual-clock.ts'
import { IntegrationErrors } from '../errors.ts'
import { until } from '../../../test/support/until.ts'
import { sourceParts } from '../source.testkit.ts'
import { udpConfiguration } from './udp-configuration.ts'
import { openUdpSource } from './udp-source.ts'

async function boundSocket(context: TestContext) {
  const socket = createSocket('udp4').on('error', () => undefined)
  const answers: string[] = []
  socket.on('message', (message) => answers.push(message.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  let isOpen = true
  const close = (): void => {
    if (isOpen) socket.close()
    isOpen = false
  }
  context.after(close)
  return { socket, answers, port: socket.address().port, close }
}

async function open(context: TestContext, members: object = {}, clock = new ManualClock()) {
  const free = await boundSocket(context)
  free.close()
  const made = sourceParts(udpConfiguration.parse({ port: free.port, answer: 'OK', ...members }), clock)
  const source = await openUdpSource(made.parts)
  context.after(() => {
    made.inlet.store()
    return source.close()
  })
  await until(() => made.states.at(-1) === 'connected')
  const sender = await boundSocket(context)
  return { ...made, source, sender, send: (text: string) => sender.socket.send(text, free.port, '127.0.0.1') }
}

test('a datagram is answered when it is stored, and never when it was not', async (context) => {
  const { inlet, sender, send } = await open(context)
  inlet.isStoring = false
  for (const text of ['one', 'two', 'three']) send(text)
  await until(() => inlet.waiting.length === 3)
  assert.deepEqual(sender.answers, [])
  const [one, two, three] = inlet.waiting.splice(0)
  assert.deepEqual(one?.frame.metadata, { remoteAddress: '127.0.0.1', remotePort: String(sender.port) })
  two?.receipt.again(IntegrationErrors.FULL())
  three?.receipt.done(IntegrationErrors.RESULT({ place: 'a', reason: 'b' }))
  one.receipt.done(undefined)
  await until(() => sender.answers.length === 1)
  inlet.isStoring = true
  send('four')
  await until(() => sender.answers.length === 2)
})

test('what comes while there is no room is counted as lost', async (context) => {
  const { inlet, send } = await open(context)
  inlet.isStoring = false
  inlet.room = 1
  send('one')
  send('three')
  await until(() => inlet.lostBytes.length === 1)
  assert.deepEqual(inlet.lostBytes, [5])
})

test('only those who may send are heard', async (context) => {
  const { inlet, send } = await open(context, { senders: ['192.0.2.1'] })
  send('one')
  const heard = await open(context, { senders: ['127.0.0.0/8'] })
  heard.send('two')
  await until(() => heard.inlet.texts.length === 1)
  assert.deepEqual(inlet.texts, [])
})

test('a sender that names the port 0 is stored and not answered', async (context) => {
  const bind = context.mock.method(Socket.prototype, 'bind')
  const { inlet, source } = await open(context)
  inlet.isStoring = false
  const listening: unknown = bind.mock.calls[1]?.this
  assert.ok(listening instanceof Socket)
  listening.emit('message', Buffer.from('one'), { address: '127.0.0.1', family: 'IPv4', port: 0, size: 3 })
  assert.equal(inlet.waiting.length, 1)
  inlet.waiting.splice(0)[0]?.receipt.done(undefined)
  // Nothing is open any more: it waits for nobody.
  await source.close()
})

test('what is stored after the port was closed is not answered', async (context) => {
  const clock = new ManualClock()
  const { inlet, source, send } = await open(context, {}, clock)
  inlet.isStoring = false
  send('one')
  await until(() => inlet.waiting.length === 1)
  const closed = source.close()
  await clock.advance(3000)
  await closed
  inlet.waiting.splice(0)[0]?.receipt.done(undefined)
})
