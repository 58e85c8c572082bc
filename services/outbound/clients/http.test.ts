import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { testOutbound } from '../testkit.ts'

const UNREADABLE = { certificate: 'no PEM', privateKey: 'no PEM' }
const node = testOutbound({ timeoutMs: 60_000 }).ofNode({ tenantId: 'a' })

test('a certificate that cannot be read is told at the start, before any connection', async (t) => {
  const client = node.open('http', { maxAnswerBytes: 1024, certificates: UNREADABLE })
  t.after(() => client.close())
  await assert.rejects(client.ready(), { code: 'outbound.CALL_FAILED' })
})

test('a proxy that resets the connection it made fails the call, not the process', async (t) => {
  const proxy = createServer()
  proxy.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    setTimeout(() => socket.resetAndDestroy(), 50)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  const { port } = proxy.address() as AddressInfo
  for (const certificates of [undefined, UNREADABLE]) {
    const client = node.open('http', {
      ...{ maxAnswerBytes: 1024, proxy: { host: '127.0.0.1', port } },
      ...(certificates === undefined ? {} : { certificates }),
    })
    t.after(() => client.close())
    await assert.rejects(client.call({ method: 'GET', url: 'https://target.invalid/', headers: {} }, 0))
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
})

const MIB = 2 ** 20
const source = createServer((request, response) => {
  const length = Number(new URL(request.url ?? '', 'http://host').searchParams.get('length'))
  if (request.url?.startsWith('/said') === true) response.setHeader('Content-Length', length)
  if (request.method === 'HEAD') response.setHeader('Content-Length', 100 * MIB).end()
  else response.end(Buffer.alloc(length, 'x'))
}).listen(0, '127.0.0.1')
await once(source, 'listening')
after(() => {
  source.close()
  source.closeAllConnections()
})
const base = `http://127.0.0.1:${(source.address() as AddressInfo).port}`

test('answers take room for themselves: more than a tenant may have wait for each other', async (t) => {
  const outbound = testOutbound({ bytes: 40 * MIB, tenantBytes: 10 * MIB, timeoutMs: 60_000 })
  const client = outbound.ofNode({ tenantId: 'a' }).open('http', { maxAnswerBytes: 4 * MIB })
  t.after(() => client.close())
  let most = 0
  const looks = setInterval(() => (most = Math.max(most, outbound.figures.bytes)), 1)
  t.after(() => clearInterval(looks))
  const paths = ['said', 'chunked'].flatMap((path) => Array.from({ length: 6 }, () => path))
  const calls = paths.map((path) =>
    client.call({ method: 'GET', url: `${base}/${path}?length=${3 * MIB}`, headers: {} }, 2 * MIB),
  )
  for (const { body } of await Promise.all(calls)) assert.equal(body.length, 3 * MIB)
  assert.ok(most > 3 * MIB && most <= 10 * MIB, `${most}`)
  assert.deepEqual([outbound.figures.bytes, outbound.figures.calls], [0, 0])
})

test('an answer beyond the limit of its node, or of the tenant, fails; one without a body takes none', async (t) => {
  const outbound = testOutbound({ bytes: 4 * MIB, tenantBytes: MIB, timeoutMs: 60_000 })
  for (const maxAnswerBytes of [MIB, 25 * MIB]) {
    const client = outbound.ofNode({ tenantId: 'a' }).open('http', { maxAnswerBytes })
    t.after(() => client.close())
    for (const path of ['said', 'chunked'])
      await assert.rejects(
        client.call({ method: 'GET', url: `${base}/${path}?length=${2 * MIB}`, headers: {} }, 0),
        { code: 'outbound.ANSWER_TOO_BIG' },
        path,
      )
    assert.equal((await client.call({ method: 'HEAD', url: base, headers: {} }, 0)).body, '')
  }
  assert.equal(outbound.figures.bytes, 0)
})

test('neither a redirect nor a proxy of the environment leads anywhere', async (t) => {
  const inner = createServer((_request, response) => response.end('inner')).listen(0, '127.0.0.1')
  await once(inner, 'listening')
  const outer = createServer((_request, response) => {
    const { port } = inner.address() as AddressInfo
    response.writeHead(302, { Location: `http://127.0.0.1:${port}/` }).end('moved')
  }).listen(0, '127.0.0.1')
  await once(outer, 'listening')
  t.after(() => {
    inner.close()
    outer.close()
  })
  const proxies = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'] as const
  const before = proxies.map((name) => [name, process.env[name]] as const)
  t.after(() => {
    for (const [name, value] of before) if (value === undefined) delete process.env[name]
    for (const [name, value] of before) if (value !== undefined) process.env[name] = value
  })
  for (const name of proxies) process.env[name] = 'http://127.0.0.1:1'
  const client = node.open('http', { maxAnswerBytes: 1024 })
  t.after(() => client.close())
  const url = `http://127.0.0.1:${(outer.address() as AddressInfo).port}/`
  const { status, body } = await client.call({ method: 'GET', url, headers: {} }, 0)
  assert.deepEqual([status, body], [302, 'moved'])
})

test('however an internal address is written it is not called, with a proxy what is denied is not either', async (t) => {
  const outbound = testOutbound({ allowedAddresses: [], deniedAddresses: ['*.denied.example', '9.9.9.9'] })
  const client = outbound.ofNode({ tenantId: 'a' }).open('http', { maxAnswerBytes: 1024 })
  t.after(() => client.close())
  for (const host of [
    ...['127.0.0.1', '127.1', '0x7f.1', '2130706433', '017700000001', '127.0.0.1.', 'localhost', 'LOCALHOST.'],
    ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:a00:1]', '[64:ff9b::a00:1]', '①②⑦.0.0.1'],
    ...['user@127.0.0.1', '0', '169.254.169.254', '[fd00:ec2::254]'],
  ])
    await assert.rejects(
      client.call({ method: 'GET', url: `http://${host}:1/`, headers: {} }, 0),
      /internal address|has no address/,
      host,
    )
  const proxied = testOutbound({ deniedAddresses: ['*.denied.example', '9.9.9.9'] })
    .ofNode({ tenantId: 'a' })
    .open('http', { maxAnswerBytes: 1024, proxy: { host: '127.0.0.1', port: 1 } })
  t.after(() => proxied.close())
  for (const host of ['a.denied.example', '9.9.9.9'])
    await assert.rejects(proxied.call({ method: 'GET', url: `http://${host}/`, headers: {} }, 0), {
      code: 'outbound.ADDRESS_DENIED',
    })
})

test('a kept connection that the service closed meanwhile costs no call; one that is reset at once does', async (t) => {
  const asked: number[] = []
  let connections = 0
  const service = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    const connection = ++connections
    let requests = 0
    socket.on('data', () => {
      asked.push(connection)
      // As where its own time for idle connections ended while the next call was on its way.
      if (++requests === 2 || connection === 3) return void socket.resetAndDestroy()
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    })
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  t.after(() => service.close())
  const { port } = service.address() as AddressInfo
  const client = node.open('http', { maxAnswerBytes: 1024 })
  t.after(() => client.close())
  const call = () => client.call({ method: 'POST', url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' }, 2)
  assert.equal((await call()).status, 200)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal((await call()).status, 200)
  assert.deepEqual(asked, [1, 1, 2])
  await new Promise((resolve) => setTimeout(resolve, 20))
  await assert.rejects(call(), { name: 'ECONNRESET' })
  assert.deepEqual(asked, [1, 1, 2, 2, 3], 'a new connection that is reset is no reason to ask again')
})

test('the text of an answer is read in the charset that it names', async (t) => {
  const answers = [
    ['text/plain; charset=ISO-8859-1', 'f680', 'ö\x80'],
    ['text/plain;charset="windows-1252"', 'f680', 'ö€'],
    ['text/xml; version=1; Charset = utf-16le', 'f600', 'ö'],
    ['application/json; charset=UTF-8', 'c3b6', 'ö'],
    ['application/json', 'c3b6', 'ö'],
    ['text/plain; charset=none-such', 'c3b6', 'ö'],
  ] as const
  const served = createServer((request, response) => {
    const [type = '', bytes = ''] = answers[Number(request.url?.slice(1))] ?? []
    response.setHeader('Content-Type', type).end(Buffer.from(bytes, 'hex'))
  }).listen(0, '127.0.0.1')
  await once(served, 'listening')
  t.after(() => {
    served.close()
    served.closeAllConnections()
  })
  const client = node.open('http', { maxAnswerBytes: 1024 })
  t.after(() => client.close())
  const { port } = served.address() as AddressInfo
  for (const [index, [type, , text]] of answers.entries()) {
    const { body } = await client.call({ method: 'GET', url: `http://127.0.0.1:${port}/${index}`, headers: {} }, 0)
    assert.equal(body, text, type)
  }
})
