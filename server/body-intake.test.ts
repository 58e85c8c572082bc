import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpHandler, HttpReply, RouteOptions } from './http-server.ts'
import { RequestBody } from './request-body.ts'
import { UwsServer, type HttpServerOptions } from './uws.ts'

const LIMIT = 16 * 1024 * 1024

function newServer(context: TestContext, options: Partial<HttpServerOptions> = {}): UwsServer {
  const server = new UwsServer({
    maxBodyBytes: LIMIT,
    maxUnknownBodyBytes: 1000,
    drainTimeoutMs: 500,
    onHandlerError: (error, _request, reply) => {
      if (reply.open) reply.send(500, undefined, String(error))
    },
    ...options,
  })
  context.after(() => server.close())
  return server
}

function echo(server: UwsServer, pattern: string, options: RouteOptions): void {
  server.route('POST', pattern, (request, reply) => reply.send(200, undefined, String(request.body.length)), options)
}

async function echoServer(context: TestContext, options: RouteOptions): Promise<number> {
  const server = newServer(context)
  echo(server, '/echo', options)
  return server.listen('127.0.0.1', 0)
}

async function open(context: TestContext, port: number, head: string, path = '/echo'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  context.after(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
  return socket
}

async function answerOf(socket: Socket): Promise<string> {
  const [data] = (await once(socket, 'data')) as [Buffer]
  return data.toString()
}

/** So many chunks of one byte each, as HTTP writes them. */
function oneByteChunks(count: number): Buffer {
  return Buffer.from('1\r\nx\r\n'.repeat(count))
}

test('issue-8 2.1: a body of 16 MiB in chunks of one byte is put together in linear time', () => {
  const body = new RequestBody()
  const chunk = new ArrayBuffer(1)
  // Joined anew for every chunk, this copies 128 TiB.
  for (let count = 0; count < LIMIT; count++) body.add(chunk)
  assert.equal(body.whole().length, LIMIT)
})

test(
  'issue-8 2.1: a server reads a body of many small chunks, and keeps its bytes in order',
  { timeout: 120_000 },
  async (context) => {
    const port = await echoServer(context, { admit: async () => true })
    const socket = await open(context, port, 'Transfer-Encoding: chunked')
    const chunks = 1024 * 1024
    socket.write(oneByteChunks(chunks))
    socket.write('0\r\n\r\n')
    assert.match(await answerOf(socket), new RegExp(`200 OK[\\s\\S]*${chunks}$`))
  },
)

test('issue-8 2.1: who is not known is refused at a small limit, of a body of 16 MiB in chunks of one byte too', async (context) => {
  let asked = 0
  const port = await echoServer(context, {
    admit: async (_request, reply) => {
      asked++
      reply.send(401, undefined, 'who are you')
      return false
    },
  })
  const socket = await open(context, port, 'Transfer-Encoding: chunked')
  const ended = new Promise((resolve) => socket.once('close', resolve))
  let answer = ''
  socket.on('data', (data: Buffer) => (answer += data.toString()))
  const block = oneByteChunks(65_536)
  let sent = 0
  const sendOn = (): void => {
    while (sent < LIMIT && socket.writable) {
      sent += 65_536
      if (!socket.write(block)) return void socket.once('drain', sendOn)
    }
  }
  sendOn()
  await ended
  // A client that goes on sending may lose the answer to the reset that follows it.
  if (answer !== '') assert.match(answer, /^HTTP\/1.1 401/)
  assert.equal(asked, 1)
  assert.ok(sent < LIMIT / 2, `${sent} bytes were taken`)
})

test('issue-8 2.1: a body that is announced over the limit is refused before any of it is read', async (context) => {
  let asked = 0
  const port = await echoServer(context, {
    admit: async (_request, reply) => {
      asked++
      reply.send(401, undefined, '')
      return false
    },
  })
  const large = await open(context, port, `Content-Length: ${LIMIT + 1}`)
  assert.match(await answerOf(large), /^HTTP\/1.1 413[\s\S]*limit of 16777216 bytes/)
  assert.equal(asked, 0)
  const unknown = await open(context, port, 'Content-Length: 1001')
  assert.match(await answerOf(unknown), /^HTTP\/1.1 401/)
  assert.equal(asked, 1)
})

test('a small body asks nobody; a large one waits unread until its sender is known, and its connection serves the next', async (context) => {
  const waiting: ((admitted: boolean) => void)[] = []
  const port = await echoServer(context, { admit: () => new Promise((resolve) => waiting.push(resolve)) })
  const socket = await open(context, port, 'Content-Length: 1000')
  socket.write('x'.repeat(1000))
  assert.match(await answerOf(socket), /200 OK[\s\S]*1000$/)
  assert.equal(waiting.length, 0)
  socket.write(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`)
  while (waiting.length === 0) await new Promise(setImmediate)
  waiting[0]?.(true)
  assert.match(await answerOf(socket), /200 OK[\s\S]*2000000$/)
  socket.write(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx`)
  assert.match(await answerOf(socket), /200 OK[\s\S]*1$/)
})

test('a sender that goes away while it is asked for is let go', async (context) => {
  const waiting: ((admitted: boolean) => void)[] = []
  const port = await echoServer(context, { admit: () => new Promise((resolve) => waiting.push(resolve)) })
  const socket = await open(context, port, 'Content-Length: 2000')
  while (waiting.length === 0) await new Promise(setImmediate)
  socket.resetAndDestroy()
  await new Promise((resolve) => setImmediate(resolve))
  waiting[0]?.(true)
  const next = await open(context, port, 'Content-Length: 1')
  next.write('x')
  assert.match(await answerOf(next), /200 OK/)
})

/** Sends its bodies a byte at a time, and is not done. */
async function slowSender(context: TestContext, port: number, path: string) {
  const socket = await open(context, port, 'Transfer-Encoding: chunked', path)
  let answer = ''
  socket.on('data', (data: Buffer) => (answer += data.toString()))
  return {
    socket,
    answer: () => answer,
    async send(bytes: number): Promise<void> {
      for (let sent = 0; sent < bytes; sent++) {
        await new Promise((resolve) => socket.write(oneByteChunks(1), resolve))
        // So that each byte is a read of its own.
        await new Promise(setImmediate)
      }
    },
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate)
}

const ROOM = 64 << 10

test(
  'issue-8 2.1: bodies of senders that are not known have one bound in bytes; the oldest make room for new ones',
  { timeout: 120_000 },
  async (context) => {
    const server = newServer(context, { maxUnknownBodyBytes: 8192, maxUnknownBodiesBytes: ROOM })
    echo(server, '/login', {})
    const port = await server.listen('127.0.0.1', 0)
    const senders = []
    for (let count = 0; count < 100; count++) {
      const sender = await slowSender(context, port, '/login')
      await sender.send(3)
      senders.push(sender)
      assert.ok(server.unknownBodiesBytes <= ROOM, `${server.unknownBodiesBytes} bytes`)
    }
    // Each holds 4 KiB: 16 have room.
    const refused = senders.slice(0, 84)
    const kept = senders.slice(84)
    await until(() => refused.every(({ answer }) => answer() !== ''))
    for (const { answer } of refused) assert.match(answer(), /^HTTP\/1.1 503[\s\S]*try again/)
    assert.equal(server.unknownBodiesBytes, ROOM)
    const quick = await open(context, port, 'Content-Length: 5', '/login')
    quick.write('hello')
    assert.match(await answerOf(quick), /200 OK[\s\S]*5$/)
    for (const { socket } of kept) socket.write('0\r\n\r\n')
    await until(() => kept.every(({ answer }) => answer() !== ''))
    for (const { answer } of kept) assert.match(answer(), /200 OK[\s\S]*3$/)
    assert.equal(server.unknownBodiesBytes, 0)
    assert.equal(server.bodiesRefused, 84)
  },
)

test(
  'issue-8 2.1: where that room is half full a sender is asked for at once, and one that is known does not count',
  { timeout: 120_000 },
  async (context) => {
    const server = newServer(context, { maxUnknownBodyBytes: 8192, maxUnknownBodiesBytes: ROOM })
    echo(server, '/login', {})
    let asked = 0
    echo(server, '/known', {
      admit: async () => {
        asked++
        return true
      },
    })
    const port = await server.listen('127.0.0.1', 0)
    const early = await slowSender(context, port, '/known')
    await early.send(3)
    const strangers = []
    for (let count = 0; count < 9; count++) {
      const sender = await slowSender(context, port, '/login')
      await sender.send(3)
      strangers.push(sender)
    }
    await until(() => server.unknownBodiesBytes === 10 * 4096)
    assert.equal(asked, 0)
    const device = await slowSender(context, port, '/known')
    await device.send(3)
    await early.send(1)
    await until(() => asked === 2 && server.unknownBodiesBytes === 9 * 4096)
    for (let count = 0; count < 30; count++) await (await slowSender(context, port, '/login')).send(3)
    for (const { socket } of [early, device]) socket.write('0\r\n\r\n')
    await until(() => early.answer() !== '' && device.answer() !== '')
    assert.match(early.answer(), /200 OK[\s\S]*4$/)
    assert.match(device.answer(), /200 OK[\s\S]*3$/)
  },
)

test(
  'what a sender holds is given back when it goes away, is refused, or is too large',
  { timeout: 120_000 },
  async (context) => {
    const server = newServer(context, { maxUnknownBodyBytes: 5000, maxUnknownBodiesBytes: ROOM })
    echo(server, '/login', { maxBodyBytes: 5000 })
    echo(server, '/refused', {
      admit: async (_request, reply) => {
        reply.send(401, undefined, '')
        return false
      },
    })
    let admitted: ((is: boolean) => void) | undefined
    echo(server, '/asking', { admit: () => new Promise((resolve) => (admitted = resolve)) })
    const port = await server.listen('127.0.0.1', 0)
    for (const path of ['/login', '/refused']) {
      const socket = await open(context, port, 'Content-Length: 4000', path)
      socket.write('x'.repeat(3000))
      await until(() => server.unknownBodiesBytes > 0)
      socket.resetAndDestroy()
      await until(() => server.unknownBodiesBytes === 0)
    }
    for (const path of ['/login', '/refused']) {
      const socket = await open(context, port, 'Transfer-Encoding: chunked', path)
      socket.write(oneByteChunks(6000))
      assert.match(await answerOf(socket), path === '/login' ? /^HTTP\/1.1 413/ : /^HTTP\/1.1 401/)
      await until(() => server.unknownBodiesBytes === 0)
    }
    const gone = await open(context, port, 'Transfer-Encoding: chunked', '/asking')
    gone.write(oneByteChunks(6000))
    await until(() => admitted !== undefined)
    assert.ok(server.unknownBodiesBytes >= 5000)
    // While the socket is not read nobody sees that it is gone.
    gone.resetAndDestroy()
    admitted?.(true)
    await until(() => server.unknownBodiesBytes === 0)
  },
)

test('whose body was whole when it was refused may send the next request', async (context) => {
  const server = newServer(context)
  const refuse = async (_request: unknown, reply: HttpReply): Promise<boolean> => {
    await sleep(20)
    reply.send(401, undefined, 'who are you')
    return false
  }
  echo(server, '/refused', { admit: refuse })
  echo(server, '/echo', {})
  const port = await server.listen('127.0.0.1', 0)
  const socket = await open(context, port, 'Content-Length: 2000', '/refused')
  socket.write('x'.repeat(2000))
  assert.match(await answerOf(socket), /^HTTP\/1.1 401/)
  socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx')
  assert.match(await answerOf(socket), /200 OK[\s\S]*1$/)
})

test(
  'a route may take its time over a body that was whole when its sender became known',
  { timeout: 120_000 },
  async (context) => {
    const server = newServer(context)
    // The server's library ends a connection that it reads from after 8 to 12 s of silence.
    const handler: HttpHandler = ({ body }, reply) => {
      setTimeout(() => reply.send(200, undefined, String(body.length)), 13_000)
    }
    server.route('POST', '/slow', handler, { admit: () => sleep(20, true) })
    const port = await server.listen('127.0.0.1', 0)
    const response = await fetch(`http://127.0.0.1:${port}/slow`, { method: 'POST', body: 'x'.repeat(2000) })
    assert.equal(await response.text(), '2000')
  },
)
