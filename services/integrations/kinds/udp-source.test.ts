import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { IntegrationErrors } from '../errors.ts'
import { sourceParts, until } from '../source.testkit.ts'
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

async function open(context: TestContext, members: object = {}) {
  const free = await boundSocket(context)
  free.close()
  const made = sourceParts(udpConfiguration.parse({ port: free.port, answer: 'OK', ...members }))
  const source = await openUdpSource(made.parts)
  context.after(() => {
    made.inlet.store()
    return source.close()
  })
  await until(() => made.states.at(-1) === 'connected')
  const sender = await boundSocket(context)
  return { ...made, sender, send: (text: string) => sender.socket.send(text, free.port, '127.0.0.1') }
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
