import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { WebSocket } from 'ws'
import type { HttpReply, WebSocketConnection, WebSocketHandler } from './http-server.ts'
import { proxyList } from './client-address.ts'
import { UwsServer } from './uws.ts'

function openServer(context: TestContext, errors: unknown[] = []): UwsServer {
  const server = new UwsServer({
    maxBodyBytes: 1000,
    drainTimeoutMs: 500,
    onHandlerError: (error, _request, reply) => {
      errors.push(error)
      if (reply.open) reply.send(500, 'text/plain', 'sorry')
    },
  })
  context.after(() => server.close())
  return server
}

const quiet: WebSocketHandler = { opened() {}, message() {}, pong() {}, drained() {}, closed() {} }

test('a request reaches its handler with parameters decoded, query, headers and body', async (context) => {
  const server = openServer(context)
  server.route('POST', '/a/:one/b/:two', (request, reply) => {
    const { parameters, query, body } = request
    reply.send(
      200,
      'application/json',
      JSON.stringify({ parameters, query, type: request.header('content-type'), body: body.toString() }),
    )
  })
  const port = await server.listen('127.0.0.1', 0)
  const response = await fetch(`http://127.0.0.1:${port}/a/x%20y/b/%zz?q=1`, {
    method: 'POST',
    headers: { 'content-type': 'text/x' },
    body: 'hello',
  })
  assert.deepEqual(await response.json(), { parameters: ['x y', '%zz'], query: 'q=1', type: 'text/x', body: 'hello' })
})

test('a body in many chunks arrives whole, an over-long one is refused with 413 whether declared or not', async (context) => {
  const server = openServer(context)
  server.route('POST', '/echo', (request, reply) => reply.send(200, undefined, String(request.body.length)))
  const port = await server.listen('127.0.0.1', 0)
  const chunks = async (sizes: number[]): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const size of sizes) socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`)
    socket.write('0\r\n\r\n')
    const [data] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return data.toString()
  }
  assert.match(await chunks([300, 300, 300]), /200 OK[\s\S]*900$/)
  assert.match(await chunks([600, 600]), /^HTTP\/1.1 413/)
  const declared = await fetch(`http://127.0.0.1:${port}/echo`, { method: 'POST', body: 'x'.repeat(1001) })
  assert.equal(declared.status, 413)
})

test('an answer after the client went away is let go, a second answer is a programming error', async (context) => {
  const server = openServer(context)
  const waiting = new Promise<HttpReply>((resolve) => server.route('GET', '/wait', (_request, reply) => resolve(reply)))
  const port = await server.listen('127.0.0.1', 0)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n')
  const reply = await waiting
  const gone = new Promise<void>((resolve) => reply.onClosed(resolve))
  socket.destroy()
  await gone
  assert.equal(reply.open, false)
  reply.send(200, undefined, 'nobody reads this')
  let told = 0
  reply.onClosed(() => told++)
  assert.equal(told, 1, 'issue-8 2.10: who asks late is told too, or a place would be held for nobody')

  server.route('GET', '/twice', (_request, twice) => {
    twice.send(200, undefined, 'once')
    assert.throws(() => twice.send(200, undefined, 'again'), /second answer/)
  })
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/twice`)).text(), 'once')
})

test('issue-8 2.14: no answer names the server’s library', async (context) => {
  const server = openServer(context)
  server.route('GET', '/', (_request, reply) => reply.send(200, undefined, ''))
  const port = await server.listen('127.0.0.1', 0)
  for (const path of ['/', '/unknown']) {
    const { headers } = await fetch(`http://127.0.0.1:${port}${path}`)
    assert.ok(![...headers.keys()].some((name) => /uwebsockets|server|powered/i.test(name)), path)
  }
})

test('HEAD is answered like GET without the body, so that the next answer of the connection begins where it should', async (context) => {
  const server = openServer(context)
  server.route('GET', '/text', (_request, reply) => reply.send(200, 'text/plain', 'grün'))
  const released: string[] = []
  server.route('GET', '/file', (_request, reply) =>
    reply.send(200, undefined, Buffer.alloc(70_000), { ETag: '"a"' }, () => released.push('file')),
  )
  server.route('ANY', '/*', (_request, reply) => reply.send(405, 'text/plain', 'not here'))
  const port = await server.listen('127.0.0.1', 0)
  const socket = connect(port, '127.0.0.1')
  context.after(() => socket.destroy())
  let answers = ''
  const ended = new Promise((resolve) => socket.setEncoding('utf8').once('close', resolve))
  socket.on('data', (text: string) => {
    answers += text
    if (answers.endsWith('grün')) socket.end()
  })
  const asked = ['HEAD /text', 'HEAD /file', 'HEAD /nowhere', 'GET /text']
  socket.write(asked.map((line) => `${line} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  await ended
  assert.deepEqual(
    answers.match(/^HTTP.*|^Content-Length.*|^ETag.*|not here|grün/gim)?.map((line) => line.trim()),
    [
      ...['HTTP/1.1 200 OK', 'Content-Length: 5'],
      ...['HTTP/1.1 200 OK', 'ETag: "a"', 'Content-Length: 70000'],
      ...['HTTP/1.1 405 Method Not Allowed', 'Content-Length: 8'],
      ...['HTTP/1.1 200 OK', 'Content-Length: 5', 'grün'],
    ],
  )
  assert.ok(!answers.includes('\0'))
  assert.deepEqual(released, ['file'])
})

test('a handler that throws is answered and told', async (context) => {
  const errors: unknown[] = []
  const server = openServer(context, errors)
  server.route('GET', '/throws', (request) => {
    request.header('x-not-declared')
  })
  const port = await server.listen('127.0.0.1', 0)
  assert.equal((await fetch(`http://127.0.0.1:${port}/throws`)).status, 500)
  assert.match(String(errors[0]), /does not read the header 'x-not-declared'/)
})

test('issue-8 2.9: the client address is that of the connection, or what a trusted proxy says', async (context) => {
  for (const [trusted, expected] of [
    [[], '127.0.0.1'],
    [['127.0.0.1'], '198.51.100.1'],
  ] as const) {
    const server = new UwsServer({
      maxBodyBytes: 1000,
      drainTimeoutMs: 500,
      trustedProxies: proxyList(trusted),
      onHandlerError: () => undefined,
    })
    context.after(() => server.close())
    server.route('GET', '/who', (request, reply) => reply.send(200, undefined, request.clientAddress), {
      clientAddress: true,
    })
    const port = await server.listen('127.0.0.1', 0)
    const headers = { 'x-forwarded-for': '1.2.3.4, 198.51.100.1' }
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/who`, { headers })).text(), expected)
  }
})

test('issue-8 2.9: of several headers the last address counts, which the proxy has written', async (context) => {
  const server = new UwsServer({
    maxBodyBytes: 1000,
    drainTimeoutMs: 500,
    trustedProxies: proxyList(['127.0.0.1']),
    onHandlerError: () => undefined,
  })
  context.after(() => server.close())
  server.route('GET', '/who', (request, reply) => reply.send(200, undefined, request.clientAddress), {
    clientAddress: true,
  })
  const port = await server.listen('127.0.0.1', 0)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /who HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n')
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  assert.match(data.toString(), /198\.51\.100\.1$/)
})

test('a port is taken once: a second server on it is refused by name', async (context) => {
  const port = await openServer(context).listen('127.0.0.1', 0)
  await assert.rejects(openServer(context).listen('127.0.0.1', port), /cannot listen on 127.0.0.1:\d+.*HTTP_BIND_PORT/)
})

test('closing lets a request under way end, and is idempotent', async (context) => {
  const server = openServer(context)
  const waiting = new Promise<HttpReply>((resolve) => server.route('GET', '/slow', (_request, reply) => resolve(reply)))
  const port = await server.listen('127.0.0.1', 0)
  const answer = fetch(`http://127.0.0.1:${port}/slow`)
  const reply = await waiting
  const closed = server.close()
  assert.equal(server.close(), closed)
  reply.send(200, undefined, 'in time')
  assert.equal(await (await answer).text(), 'in time')
  await closed
})

test('while it closes an answer ends its connection: senders that go on and on do not hold it up', async (context) => {
  const server = openServer(context)
  const waiting: HttpReply[] = []
  let second: (() => void) | undefined
  server.route('GET', '/slow', (_request, reply) => {
    waiting.push(reply)
    if (waiting.length === 2) second?.()
  })
  const both = new Promise<void>((resolve) => (second = resolve))
  const port = await server.listen('127.0.0.1', 0)
  const answers = [1, 2].map(async () => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => (text += data.toString()))
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'end')
    return text
  })
  await both
  const closed = server.close()
  waiting[0]?.send(200, undefined, 'first')
  // The other request is still open: the server is not closed yet, and the first connection ends all the same.
  assert.match((await Promise.race(answers)) ?? '', /connection: close[\s\S]*first$/i)
  assert.equal(server.requestsInFlight, 1)
  waiting[1]?.send(200, undefined, 'second')
  await closed
  await Promise.all(answers)
})

test('WebSocket messages go both ways; path and query are known; the other end hears the close code', async (context) => {
  const server = openServer(context)
  const opened: string[] = []
  const connections: WebSocketConnection[] = []
  server.webSocket(
    '/ws',
    {
      ...quiet,
      opened: (connection, path, query) => {
        connections.push(connection)
        opened.push(`${path}?${query}`)
      },
      message: (connection, text) => void connection.send(text === undefined ? 'binary' : `echo ${text}`),
    },
    { maxMessageBytes: 100, maxPendingBytes: 10_000 },
  )
  const port = await server.listen('127.0.0.1', 0)
  const client = new WebSocket(`ws://127.0.0.1:${port}/ws?token=t`)
  await once(client, 'open')
  client.send('ä')
  assert.equal(String((await once(client, 'message'))[0]), 'echo ä')
  client.send(Buffer.from([1, 2]))
  assert.equal(String((await once(client, 'message'))[0]), 'binary')
  assert.deepEqual(opened, ['/ws?token=t'])
  connections[0]?.close(4000, 'x'.repeat(200))
  const [code, reason] = (await once(client, 'close')) as [number, Buffer]
  assert.deepEqual([code, reason.length], [4000, 123])
  assert.equal(connections[0]?.open, false)
  assert.equal(connections[0]?.send('late'), false)
})

test('a WebSocket message over the limit is refused with 1009', async (context) => {
  const server = openServer(context)
  server.webSocket('/ws', quiet, { maxMessageBytes: 100, maxPendingBytes: 10_000 })
  const port = await server.listen('127.0.0.1', 0)
  const client = new WebSocket(`ws://127.0.0.1:${port}/ws`)
  await once(client, 'open')
  client.send('x'.repeat(101))
  assert.equal((await once(client, 'close'))[0], 1009)
})

test('a large answer waits for its client, and is told when it left or when the client went', async (context) => {
  const server = openServer(context)
  const body = Buffer.alloc(32 << 20, 'x')
  let left = 0
  const told = new EventTarget()
  server.route('GET', '/large', (_request, reply) =>
    reply.send(200, undefined, body, {}, () => {
      left++
      told.dispatchEvent(new Event('left'))
    }),
  )
  const port = await server.listen('127.0.0.1', 0)
  const taken = once(told, 'left')
  const whole = Buffer.from(await (await fetch(`http://127.0.0.1:${port}/large`)).arrayBuffer())
  assert.ok(whole.equals(body))
  await taken
  assert.equal(left, 1)

  const socket = connect(port, '127.0.0.1')
  const before = process.memoryUsage.rss()
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'readable')
  await fetch(`http://127.0.0.1:${port}/none`)
  assert.equal(left, 1, 'the client reads nothing: the answer is still here')
  assert.ok(process.memoryUsage.rss() - before < 24 << 20, 'no copy of it is')
  const gone = once(told, 'left')
  socket.destroy()
  await gone
  assert.equal(left, 2)
})
