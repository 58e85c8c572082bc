/** HTTPS and secure WebSocket by real clients; a certificate that is replaced ends no connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { Agent, request, type RequestOptions } from 'node:https'
import { test, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { WebSocket } from 'ws'
import { createAuthority } from '../test/support/certificates.ts'
import type { WebSocketHandler } from './http-server.ts'
import { UwsServer } from './uws.ts'

const echo: WebSocketHandler = {
  opened() {},
  message: (connection, text) => connection.send(`echo ${text ?? ''}`),
  pong() {},
  drained() {},
  closed() {},
}

async function open(context: TestContext) {
  const authority = await createAuthority(context)
  const first = await authority.issue(['first.example', '127.0.0.1'])
  const server = new UwsServer({
    maxBodyBytes: 1_000_000,
    drainTimeoutMs: 500,
    tls: first,
    onHandlerError: (error) => assert.ifError(error),
  })
  context.after(() => server.close())
  server.route(
    'POST',
    '/echo',
    (call, reply) => reply.send(200, 'text/plain', `${call.clientAddress} ${call.body.length}`),
    { clientAddress: true },
  )
  server.webSocket('/ws', echo, { maxMessageBytes: 1000, maxPendingBytes: 10_000 })
  const port = await server.listen('127.0.0.1', 0)
  const ca = await readFile(authority.caFile)
  return { authority, server, port, ca }
}

/** The body, and the name in the certificate that was shown. */
function post(port: number, options: RequestOptions, body = 'hello'): Promise<{ text: string; name: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path: '/echo', method: 'POST', ...options }, (response) => {
      const name = (response.socket as TLSSocket).getPeerCertificate().subject.CN
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ text, name: String(name) }))
    })
    call.on('error', reject)
    call.end(body)
  })
}

test('calls and sockets go over TLS, and nothing goes without', async (context) => {
  const { port, ca } = await open(context)
  const large = 'x'.repeat(500_000)
  assert.deepEqual(await post(port, { ca, agent: false }, large), { text: '127.0.0.1 500000', name: 'first.example' })
  await assert.rejects(post(port, { agent: false }), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  await assert.rejects(
    new Promise((resolve, reject) =>
      plainRequest({ host: '127.0.0.1', port, path: '/echo' }, resolve).on('error', reject).end(),
    ),
    'plain HTTP gets no answer',
  )
  const socket = new WebSocket(`wss://127.0.0.1:${port}/ws`, { ca })
  await once(socket, 'open')
  socket.send('one')
  assert.equal(String((await once(socket, 'message'))[0]), 'echo one')
  socket.close()
  await once(socket, 'close')
})

test('a new certificate is for new connections; what is open goes on, through several of them', async (context) => {
  const { authority, server, port, ca } = await open(context)
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  context.after(() => kept.destroy())
  assert.equal((await post(port, { ca, agent: kept })).text, '127.0.0.1 5')
  const socket = new WebSocket(`wss://127.0.0.1:${port}/ws`, { ca })
  await once(socket, 'open')
  for (const name of ['second.example', 'third.example']) {
    server.replaceCertificate(await authority.issue([name, '127.0.0.1']))
    for (let time = 0; time < 3; time++) assert.equal((await post(port, { ca, agent: false })).name, name)
    assert.equal((await post(port, { ca, agent: kept })).text, '127.0.0.1 5')
    socket.send(name)
    assert.equal(String((await once(socket, 'message'))[0]), `echo ${name}`)
  }
  const other = await authority.issue(['other.example'])
  assert.throws(() => server.replaceCertificate({ certFile: other.certFile, keyFile: authority.caFile }))
  assert.equal((await post(port, { ca, agent: false })).name, 'third.example', 'one that is no good changes nothing')
  const closed = once(socket, 'close')
  await server.close()
  await closed
  await assert.rejects(post(port, { ca, agent: false }), { code: 'ECONNREFUSED' })
})

test('connections without end leave the memory of the process sound', async (context) => {
  const { port, ca } = await open(context)
  const kept = new Agent({ keepAlive: true, maxSockets: 400 })
  context.after(() => kept.destroy())
  for (let round = 0; round < 10; round++) {
    const agent = round % 2 ? kept : false
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(port, { ca, agent })))
    for (const { text } of answers) assert.equal(text, '127.0.0.1 5')
  }
})

test('a server without a certificate takes none later', async (context) => {
  const server = new UwsServer({ maxBodyBytes: 1000, drainTimeoutMs: 500, onHandlerError: () => undefined })
  context.after(() => server.close())
  assert.throws(() => server.replaceCertificate({ certFile: 'a', keyFile: 'b' }), /without|not started/)
})
