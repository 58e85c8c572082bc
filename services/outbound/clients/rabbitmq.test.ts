import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as passed } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { testOutbound } from '../testkit.ts'
import { frameCheck } from './rabbitmq-frames.ts'

const HEARTBEAT = frame(8, 0, Buffer.alloc(0))
const UNKNOWN_FRAME = frame(7, 0, Buffer.from([1]))
const START = method(0, 10, 10, Buffer.from([0, 9, 0, 0, 0, 0]), longText('PLAIN'), longText('en_US'))
const TUNE = method(0, 10, 30, Buffer.from([0, 10, 0, 0, 0, 0, 0, 0]))
const OPEN_OK = method(0, 10, 41, Buffer.from([0]))
const CHANNEL_OK = method(1, 20, 11, Buffer.alloc(4))
const PUBLISH = 0x003c0028
const CLOSE = 0x000a0032
const CLOSE_OK = method(0, 10, 51)
const NO_EXCHANGE = method(1, 20, 40, Buffer.from([0x01, 0x94, 0, 0, 60, 0, 40]))
/** A message that comes back, of 2^40 bytes. */
const RETURN = method(1, 60, 50, Buffer.from([0, 0, 0, 0, 0]))
const HEADER = frame(2, 1, Buffer.from([0, 60, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]))
const BODY = frame(3, 1, Buffer.alloc(4000))

for (const [name, answers] of [
  ['a heartbeat in the place of a greeting', [HEARTBEAT]],
  ['a body in the place of a greeting', [frame(3, 0, Buffer.from('x'))]],
  ['a method that is none', [method(0, 99, 99)]],
  ['a heartbeat in the place of its limits', [START, HEARTBEAT]],
  ['a heartbeat when it is to open', [START, TUNE, HEARTBEAT]],
  ['nonsense behind its last greeting', [START, TUNE, Buffer.concat([OPEN_OK, UNKNOWN_FRAME])]],
  [
    'an end behind its last greeting',
    [START, TUNE, Buffer.concat([OPEN_OK, frame(1, 5, Buffer.from([0, 20, 0, 11]))])],
  ],
  ['nonsense in the place of a channel', [START, TUNE, OPEN_OK, UNKNOWN_FRAME]],
  ['a method of nobody in the place of a channel', [START, TUNE, OPEN_OK, method(1, 50, 11, Buffer.alloc(9))]],
] as const)
  test(`a broker that sends ${name} fails the connection, not the process`, async (t) => {
    const { client } = await clientOf(t, answers)
    await assert.rejects(client.ready(), (error: Error) => !/no answer within/.test(error.message))
    await passed(20)
  })

test('a broker that sends messages which nobody asked for is left', { timeout: 120_000 }, async (t) => {
  const { client, ended } = await clientOf(t, [START, TUNE, OPEN_OK, CHANNEL_OK])
  await client.ready()
  const call = { exchange: 'e', routingKey: 'k', body: 'b' }
  await client.call(call, 1)
  await ended
})

test('the end of a connection that was lost leaves the one that took its place', async (t) => {
  const lost = Promise.withResolvers<Socket>()
  const sockets: Socket[] = []
  const answers = new Map([
    [0x000a000b, TUNE],
    [0x000a0028, OPEN_OK],
    [0x0014000a, CHANNEL_OK],
  ])
  const broker = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    let rest = Buffer.alloc(0)
    let isGreeted = false
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      if (!isGreeted && rest.length >= 8) {
        isGreeted = true
        rest = rest.subarray(8)
        socket.write(START)
      }
      while (isGreeted && rest.length >= 8) {
        const size = 8 + rest.readUInt32BE(3)
        if (rest.length < size) return
        const payload = rest.subarray(7, size - 1)
        const isMethod = rest[0] === 1
        rest = rest.subarray(size)
        if (!isMethod) continue
        const asked = payload.readUInt32BE(0)
        const answer = answers.get(asked)
        if (answer !== undefined) socket.write(answer)
        if (asked === PUBLISH && payload.includes('missing')) socket.write(NO_EXCHANGE)
        if (asked !== CLOSE) continue
        if (socket === sockets[0]) lost.resolve(socket)
        else socket.write(CLOSE_OK)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  const client = openedAt((broker.address() as AddressInfo).port)
  t.after(() => client.close())
  const call = (exchange: string) => client.call({ exchange, routingKey: 'k', body: 'x' }, 1)
  await call('missing')
  const first = await lost.promise
  await call('there')
  const ended = once(first, 'close')
  first.write(CLOSE_OK)
  await ended
  await call('there')
  assert.equal(sockets.length, 2)
})

test('a broker that announces a long frame is left', async (t) => {
  const { client } = await clientOf(t, [Buffer.from([1, 0, 0, 0, 0x20, 0, 0])])
  await assert.rejects(client.ready(), /more than 131072/)
})

test('frames are followed through any chunks', () => {
  const whole = Buffer.concat([START, HEARTBEAT, TUNE, CHANNEL_OK, frame(1, 1, Buffer.alloc(300)), HEARTBEAT, OPEN_OK])
  for (let size = 1; size <= whole.length; size++) {
    const check = frameCheck()
    for (let at = 0; at < whole.length; at += size)
      assert.equal(check(whole.subarray(at, at + size)), undefined, `${size} at ${at}`)
  }
  for (const [bytes, reason] of [
    [Buffer.concat([OPEN_OK, HEARTBEAT]), /before it is asked/],
    [HEADER, /type 2/],
    [BODY, /type 3/],
  ] as const)
    assert.match(frameCheck()(bytes) ?? '', reason)
})

/** One answer to whatever comes; behind the last a message without end. */
async function clientOf(t: TestContext, answers: readonly Buffer[]) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const broker = createServer((socket) => {
    const left = [...answers]
    // Greeted; then login; then limits and opening, in one or two.
    socket.on('error', () => undefined).on('close', () => end())
    t.after(() => socket.destroy())
    const send = () => void left.splice(0, 1).forEach((answer) => socket.write(answer))
    socket.on('data', (said: Buffer) => {
      if (left.length > 0) {
        if (!isLimits(said) || said.length > 20) send()
      } else if (said.includes('b')) {
        socket.write(Buffer.concat([RETURN, HEADER]))
        for (let count = 0; count < 50; count++) socket.write(BODY)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  const client = openedAt((broker.address() as AddressInfo).port)
  t.after(() => client.close())
  return { client, ended }
}

function openedAt(port: number) {
  return testOutbound({ timeoutMs: 60_000 })
    .ofNode({ tenantId: 'a' })
    .open('rabbitmq', {
      ...{ host: '127.0.0.1', port, username: 'u', password: 'p', virtualHost: '/' },
      ...{ connectTimeoutMs: 60_000, clientProperties: {} },
    })
}

/** Of `connection.tune-ok`, which nothing answers. */
function isLimits(said: Buffer): boolean {
  return said.length >= 11 && said[0] === 1 && said.readUInt32BE(7) === 0x000a001f
}

function method(channel: number, group: number, id: number, ...members: readonly Buffer[]): Buffer {
  return frame(1, channel, Buffer.concat([Buffer.from([0, group, 0, id]), ...members]))
}

function frame(type: number, channel: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(7)
  head.writeUInt8(type)
  head.writeUInt16BE(channel, 1)
  head.writeUInt32BE(payload.length, 3)
  return Buffer.concat([head, payload, Buffer.from([0xce])])
}

function longText(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, Buffer.from(text)])
}
