import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { readShared } from './shared-reads.ts'

/** A socket that hears nothing hears nothing for ever. */
const HEARS_MS = 60_000

/** Two ends of a connection, of which the server's is read so; `isShared` says whether this Node can. */
async function connected(context: TestContext) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const accepted = new Promise<{ socket: Socket; isShared: boolean }>((resolve) => {
    server.once('connection', (socket) => resolve({ socket, isShared: readShared(socket) }))
  })
  const client = connect(address.port, '127.0.0.1')
  const { socket, isShared } = await accepted
  context.after(() => {
    for (const end of [client, socket]) end.destroy()
    server.close()
  })
  return { client, socket, isShared }
}

function keeping(socket: Socket) {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const text = (): string => Buffer.concat(chunks).toString()
  const until = async (wanted: string): Promise<void> => {
    while (text().length < wanted.length) await once(socket, 'data')
    assert.equal(text(), wanted)
  }
  return { chunks, until }
}

test('what was read stays as it came, whatever is read behind it, by this socket or another', async (context) => {
  const one = await connected(context)
  const other = await connected(context)
  assert.equal(one.isShared, true, 'this Node can: else reads are as dear as they were')
  const [first, second] = [keeping(one.socket), keeping(other.socket)]
  one.client.write('first')
  await first.until('first')
  other.client.write('other')
  await second.until('other')
  one.client.write(' again')
  await first.until('first again')
  await second.until('other')
})

test('a socket that is paused reads nothing, goes on where it stopped, and hears of the end', async (context) => {
  const { client, socket } = await connected(context)
  const { chunks, until } = keeping(socket)
  client.write('before')
  await until('before')
  socket.pause()
  const length = 1 << 20
  await new Promise<void>((resolve) => void client.write(Buffer.alloc(1000, 'x'), () => resolve()))
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  assert.equal(chunks.length, 1)
  const ended = once(socket, 'end')
  client.end(Buffer.alloc(length, 'y'))
  socket.resume()
  await ended
  assert.equal(Buffer.concat(chunks).toString(), `before${'x'.repeat(1000)}${'y'.repeat(length)}`)
})

test('a socket that breaks is closed, with its error told', async (context) => {
  const { client, socket } = await connected(context)
  const { until } = keeping(socket)
  client.write('before')
  await until('before')
  const error = new Promise<Error>((resolve) => socket.once('error', resolve))
  const closed = new Promise<boolean>((resolve) => socket.once('close', resolve))
  client.resetAndDestroy()
  assert.match((await error).message, /ECONNRESET/)
  assert.equal(await closed, true)
})

for (const [how, leave] of [
  ['ends', (client: Socket) => void client.end()],
  ['resets', (client: Socket) => void client.resetAndDestroy()],
] as const) {
  test(`a socket that is paused hears that the other end ${how} the connection, as any does`, async (context) => {
    const { client, socket } = await connected(context)
    socket.on('error', () => undefined)
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed')))
    const { until } = keeping(socket)
    client.write('before')
    await until('before')
    socket.pause()
    leave(client)
    assert.equal(await Promise.race([closed, delay(HEARS_MS, 'nothing', { ref: false })]), 'closed')
  })
}

test('a reader that pauses at each piece gets every byte once and in order, whatever comes meanwhile', async (context) => {
  const { client, socket } = await connected(context)
  const { chunks } = keeping(socket)
  socket.on('data', () => {
    socket.pause()
    // At once, later in the turn, and in a later one.
    const again = [
      () => socket.resume(),
      () => process.nextTick(() => socket.resume()),
      () => setImmediate(() => socket.resume()),
    ]
    again[chunks.length % again.length]?.()
  })
  const sent = Buffer.alloc(300_000)
  for (let at = 0; at < sent.length; at += 4) sent.writeUInt32BE(at, at)
  const ended = once(socket, 'end')
  let at = 0
  for (; at < 200; at++) {
    client.write(sent.subarray(at, at + 1))
    await new Promise(setImmediate)
  }
  client.end(sent.subarray(at))
  await ended
  assert.ok(Buffer.concat(chunks).equals(sent))
})
