import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { startTestMailServer } from '../../mail/testkit.ts'
import { startTestProxy } from '../proxy.testkit.ts'
import { HeldTimeouts, testOutbound } from '../testkit.ts'

const MAIL = { from: 'a@b.c', to: 'd@e.f', cc: '', bcc: '', subject: 's', body: 'b', isHtml: false }
const TARGET = { host: '127.0.0.1', secure: false, startTls: false }

test('the connection to a mail server that says nothing ends with the call', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const clock = new HeldTimeouts()
  const client = testOutbound({ timeoutMs: clock.timeoutMs }, clock)
    .ofNode({ tenantId: 'a' })
    .open('smtp', { ...TARGET, port })
  t.after(() => client.close())
  const accepted = once(server, 'connection')
  const refused = assert.rejects(client.call(MAIL, 0), { code: 'outbound.TIMEOUT' })
  const [socket] = (await accepted) as [Socket]
  const closed = once(socket.on('error', () => undefined).resume(), 'close')
  clock.end()
  await Promise.all([refused, closed])
})

/** Takes mails for all but `nobody@…`. */
async function startServer(t: TestContext, said: string[], secrets: readonly string[] = []) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('220 here\r\n')
    let isBody = false
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString()
      said.push(text)
      if (isBody && text.endsWith('\r\n.\r\n')) {
        isBody = false
        socket.write('250 taken\r\n')
      } else if (isBody) return
      else if (text.startsWith('RCPT TO:<nobody')) socket.write('550 no such user\r\n')
      else if (text.startsWith('DATA')) {
        isBody = true
        socket.write('354 go\r\n')
      } else socket.write('250 fine\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = testOutbound({ timeoutMs: 60_000 })
    .ofNode({ tenantId: 'a', secrets })
    .open('smtp', { ...TARGET, port })
  t.after(() => client.close())
  return client
}

test('a mail that the server refuses for one of its recipients has not gone out', async (t) => {
  const client = await startServer(t, [])
  await assert.rejects(client.call({ ...MAIL, bcc: 'nobody@e.f' }, 0), /refuses nobody@e\.f/)
})

test('a mail that others of its recipients have is not tried again; one that nobody has is', async (t) => {
  const client = await startServer(t, [])
  await assert.rejects(client.call({ ...MAIL, bcc: 'nobody@e.f' }, 0), { kind: 'invalid' })
  await assert.rejects(client.call({ ...MAIL, to: 'nobody@e.f' }, 0), { kind: 'retryable' })
})

test('a refusal in which a secret stands is told without it, and is not tried again either', async (t) => {
  const client = await startServer(t, [], ['nobody'])
  const told = { kind: 'invalid', message: /refuses [^n]+@e\.f; / }
  await assert.rejects(client.call({ ...MAIL, bcc: 'nobody@e.f' }, 0), told)
})

test('a mail goes out over the connection that was checked', async (t) => {
  const said: string[] = []
  const client = await startServer(t, said)
  await client.call(MAIL, 0)
  assert.match(said.join(''), /MAIL FROM:<a@b\.c>[^]*RCPT TO:<d@e\.f>[^]*Subject: s/)
})

test('a mail server inside the network is refused', async (t) => {
  const outbound = testOutbound({ allowedAddresses: [] })
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '::ffff:10.0.0.1']) {
    const client = outbound.ofNode({ tenantId: 'a' }).open('smtp', { ...TARGET, host, port: 1 })
    t.after(() => client.close())
    await assert.rejects(client.call(MAIL, 0), /internal address/, host)
  }
})

test('a mail goes out through a proxy, which finds the server and is told its login', async (t) => {
  const [server, proxy] = [await startTestMailServer(), await startTestProxy('u:p')]
  t.after(() => Promise.all([server.close(), proxy.close()]))
  const outbound = testOutbound({ deniedAddresses: ['denied.example'] }).ofNode({ tenantId: 'a' })
  const send = async (host: string, password: string): Promise<void> => {
    const login = { user: 'u', password }
    const target = { ...TARGET, host, port: server.port, proxy: { host: '127.0.0.1', port: proxy.port, ...login } }
    const client = outbound.open('smtp', target)
    t.after(() => client.close())
    await client.call(MAIL, 0)
  }
  await send('localhost', 'p')
  assert.deepEqual([server.mails.length, ...proxy.asked], [1, `localhost:${server.port}`])
  await assert.rejects(send('localhost', 'wrong'), /the proxy answered 407/)
  await assert.rejects(send('denied.example', 'p'), { code: 'outbound.ADDRESS_DENIED' })
  assert.deepEqual([server.mails.length, proxy.asked.length], [1, 2])
})

test('a proxy inside the network is refused', async (t) => {
  const proxy = { host: '127.0.0.1', port: 1 }
  const client = testOutbound({ allowedAddresses: [] })
    .ofNode({ tenantId: 'a' })
    .open('smtp', { ...TARGET, host: 'mail.example', port: 25, proxy })
  t.after(() => client.close())
  await assert.rejects(client.call(MAIL, 0), { code: 'outbound.ADDRESS_INTERNAL' })
})
