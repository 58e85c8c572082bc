import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, test, type TestContext } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage, type MessageDraft } from '../testkit.ts'
import { restApiCall } from './rest-api-call.ts'
import { outsideContext } from './testkit.ts'

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const received: Received[] = []
let answer: RequestListener = (_request, response) => response.end('{}')
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method, url, headers } = request
    received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    answer(request, response)
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const base = `http://127.0.0.1:${port}`
after(() => {
  server.close()
  server.closeAllConnections()
})

const DEFAULTS = restApiCall.defaultConfiguration
const MESSAGE: MessageDraft = { data: '{"t":22.50,"name":"A \\"b\\""}', metadata: { deviceName: 'D 1', path: 'a/b' } }

async function call(
  t: TestContext,
  configuration: JsonObject,
  draft: MessageDraft = MESSAGE,
  context = outsideContext(),
) {
  received.length = 0
  const node = await createNode(restApiCall, { ...DEFAULTS, ...configuration }, context)
  t.after(() => node.close?.())
  const [result] = await runNode(node, testMessage(draft))
  const [emission] = result?.emissions ?? []
  assert.ok(emission !== undefined)
  return { relation: emission.relations[0], data: emission.message.data, metadata: emission.message.metadata }
}

test('a message is the body; the answer is the body that goes on, with status and headers as metadata', async (t) => {
  answer = (_request, response) => {
    response.writeHead(201, { 'X-One': '1', 'X-Many': ['a', 'b'], Connection: 'close', Date: 'now' })
    response.end('{"id":7}')
  }
  const { metadata, ...result } = await call(t, { restEndpointUrlPattern: `${base}/api/\${path}?t=$[t]` })
  assert.deepEqual(result, { relation: 'Success', data: '{"id":7}' })
  const [request] = received
  assert.deepEqual([request?.method, request?.url, request?.body], ['POST', '/api/a/b?t=22.5', MESSAGE.data])
  assert.equal(request?.headers['content-type'], 'application/json')
  assert.equal(
    request?.headers['idempotency-key'],
    '44444444-4444-4444-8444-444444444444-33333333-3333-4333-8333-333333333333',
  )
  assert.deepEqual(metadata, {
    ...MESSAGE.metadata,
    ...{ 'X-One': '1', 'X-Many': '["a","b"]', Connection: 'close', Date: 'now', 'Transfer-Encoding': 'chunked' },
    ...{ status: 'CREATED', statusCode: '201', statusReason: 'Created' },
  })
})

test('an answer without a body is an empty object', async (t) => {
  answer = (_request, response) => response.writeHead(204).end()
  const { relation, data, metadata } = await call(t, { restEndpointUrlPattern: base })
  assert.deepEqual([relation, data, metadata['status']], ['Success', '{}', 'NO_CONTENT'])
})

test('an error is a Failure with the phrase and the body of the error; the message stays as it was', async (t) => {
  answer = (_request, response) => response.writeHead(404, { 'X-One': '1' }).end('{"message":"none"}')
  const { metadata, ...result } = await call(t, { restEndpointUrlPattern: base })
  assert.deepEqual(result, { relation: 'Failure', data: MESSAGE.data })
  assert.deepEqual(metadata, {
    ...MESSAGE.metadata,
    ...{ error: 'class HttpStatus: 404 Not Found', status: 'Not Found', statusCode: '404' },
    error_body: '{"message":"none"}',
  })
})

test('a redirect is not followed', async (t) => {
  answer = (_request, response) => response.writeHead(302, { Location: `${base}/other` }).end('there')
  const { relation, metadata } = await call(t, { restEndpointUrlPattern: base })
  assert.deepEqual([relation, metadata['status'], metadata['Location']], ['Failure', 'FOUND', `${base}/other`])
  assert.deepEqual([metadata['error_body'], metadata['error'], received.length], ['there', undefined, 1])
})

test('query parameters are encoded once; without a list the URL is encoded as a whole', async (t) => {
  answer = (_request, response) => response.end()
  const queryParams = [
    { key: 'n', value: '${deviceName}' },
    { key: 'q&', value: 'a+b/%' },
  ]
  await call(t, { restEndpointUrlPattern: `${base}/x?a=1`, queryParams })
  assert.equal(received[0]?.url, '/x?a=1&n=D%201&q%26=a%2Bb%2F%25')
  await call(t, { restEndpointUrlPattern: `${base}/x y?n=\${deviceName}&p=%20&q=a+b`, queryParams: null })
  assert.equal(received[0]?.url, '/x%20y?n=D%201&p=%2520&q=a+b')
})

test('a template makes the body, its values escaped; headers have patterns; basic credentials are a header', async (t) => {
  answer = (_request, response) => response.end()
  await call(
    t,
    {
      restEndpointUrlPattern: base,
      requestMethod: 'PUT',
      headers: { 'X-${short}': '$[t]' },
      requestBodyTemplate: '{"n":"$[name]","d":"${deviceName}"}',
      credentials: { type: 'basic', username: 'u', password: 'pässword' },
    },
    { ...MESSAGE, metadata: { ...MESSAGE.metadata, short: 'Name' } },
  )
  const [request] = received
  assert.deepEqual(
    [request?.method, request?.body, request?.headers['x-name']],
    ['PUT', '{"n":"A \\"b\\"","d":"D 1"}', '22.5'],
  )
  assert.equal(request?.headers.authorization, `Basic ${Buffer.from('u:pässword').toString('base64')}`)
})

test('GET sends no body; plain text is sent without its quotes; what is no JSON fails', async (t) => {
  answer = (_request, response) => response.end()
  await call(t, { restEndpointUrlPattern: base, requestMethod: 'GET' })
  assert.deepEqual([received[0]?.method, received[0]?.body], ['GET', ''])
  await call(t, { restEndpointUrlPattern: base, parseToPlainText: true }, { data: '"a\\nb"' })
  assert.equal(received[0]?.body, 'a\nb')
  const { relation } = await call(t, { restEndpointUrlPattern: base }, { data: 'no JSON' })
  assert.deepEqual([relation, received.length], ['Failure', 0])
  const template = await call(t, { restEndpointUrlPattern: base, requestBodyTemplate: 'no JSON' })
  assert.deepEqual([template.relation, received.length], ['Failure', 0])
})

test('an answer that is larger than the buffer fails, and so does one that is late', async (t) => {
  answer = (_request, response) => response.end('x'.repeat(2000))
  const big = await call(t, { restEndpointUrlPattern: base, maxInMemoryBufferSizeInKb: 1 })
  assert.match(big.metadata['error'] ?? '', /more than 1024 bytes/)
  answer = () => undefined
  const late = await call(t, { restEndpointUrlPattern: base, readTimeoutMs: 20 })
  assert.match(late.metadata['error'] ?? '', /no answer within 20 ms/)
})

test('internal addresses are refused unless the operator allows them, however they are named', async (t) => {
  const guarded = (): ReturnType<typeof outsideContext> => outsideContext({ allowedAddresses: [] })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `2130706433:${port}`, `[::ffff:127.0.0.1]:${port}`]) {
    const { relation, metadata } = await call(t, { restEndpointUrlPattern: `http://${host}/` }, MESSAGE, guarded())
    assert.deepEqual([relation, received.length], ['Failure', 0], host)
    assert.match(metadata['error'] ?? '', /internal address/, host)
  }
  const file = await call(t, { restEndpointUrlPattern: 'file:///etc/passwd' })
  assert.match(file.metadata['error'] ?? '', /neither http nor https/)
})

test('a proxy makes the connection', async (t) => {
  answer = (_request, response) => response.end('{"through":true}')
  const asked: (string | undefined)[] = []
  const proxy = createServer()
  proxy.on('connect', (request, socket) => {
    asked.push(request.url, request.headers['proxy-authorization'])
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  const { port: proxyPort } = proxy.address() as AddressInfo
  const login = { proxyUser: 'u', proxyPassword: 'p' }
  const { data } = await call(t, {
    restEndpointUrlPattern: `http://example.invalid:81/x`,
    ...{ enableProxy: true, proxyHost: '127.0.0.1', proxyPort, ...login },
  })
  assert.deepEqual([data, ...asked], ['{"through":true}', 'example.invalid:81', 'Basic dTpw'])
})

test('calls of a node run side by side up to its bound', async (t) => {
  const waiting: (() => void)[] = []
  let most = 0
  answer = (_request, response) => {
    most = Math.max(
      most,
      waiting.push(() => response.end('{}')),
    )
    if (waiting.length === 2) for (const go of waiting.splice(0)) go()
  }
  const configuration = { ...DEFAULTS, restEndpointUrlPattern: base, maxParallelRequestsCount: 2 }
  const node = await createNode(restApiCall, configuration, outsideContext())
  t.after(() => node.close?.())
  const messages = [1, 2, 3, 4].map((index) => testMessage({ ...MESSAGE, originatorId: `d${index}` }))
  const outputs = await Promise.all(messages.map((message) => runNode(node, message)))
  assert.deepEqual([outputs.length, most], [4, 2])
})

test('a certificate that can not be read keeps the node from starting', async () => {
  const credentials = { type: 'cert.PEM', cert: 'x', privateKey: 'y' }
  const node = createNode(restApiCall, { ...DEFAULTS, restEndpointUrlPattern: base, credentials }, outsideContext())
  await assert.rejects(node, /start line|PEM/i)
})

test('old configurations are raised; wrong ones are refused by their field', async () => {
  assert.deepEqual(
    restApiCall.upgrade?.({ restEndpointUrlPattern: 'x', trimDoubleQuotes: true, queryParams: [], trimQueue: true }, 0),
    { restEndpointUrlPattern: 'x', parseToPlainText: true, maxInMemoryBufferSizeInKb: 256, requestBodyTemplate: null },
  )
  for (const [change, field] of [
    [{ maxInMemoryBufferSizeInKb: 25_001 }, 'maxInMemoryBufferSizeInKb'],
    [{ enableProxy: true }, 'proxyHost'],
    [{ credentials: { type: 'sas' } }, 'credentials.type'],
  ] as const)
    await assert.rejects(createNode(restApiCall, { ...DEFAULTS, ...change }, testContext()), new RegExp(field))
})

test('with forced acknowledgement the outcome is a message of its own', async () => {
  answer = (_request, response) => response.end('{"a":1}')
  const context = outsideContext({ forceAck: true })
  const node = await createNode(restApiCall, { ...DEFAULTS, restEndpointUrlPattern: base }, context)
  const [result] = await runNode(node, testMessage(MESSAGE))
  assert.ok(result?.step?.flow === 'afterwards')
  const { relation, message } = await result.step.outcome
  await node.close?.()
  assert.deepEqual([relation, message.data], ['Success', '{"a":1}'])
})
