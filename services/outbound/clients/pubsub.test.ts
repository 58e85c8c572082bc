import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { testOutbound } from '../testkit.ts'
import { googleTokens } from './google-token.ts'

let answer = { status: 200, body: '{"messageIds":["136969346945"]}' }
const requests: { readonly request: IncomingMessage; readonly body: string }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    requests.push({ request, body })
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body)
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ACCOUNT = {
  type: 'service_account',
  client_email: 'millrace@project.iam.gserviceaccount.com',
  private_key_id: 'key-1',
  private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
}
const TARGET = { projectId: 'project', topic: 'readings', serviceAccountKey: JSON.stringify(ACCOUNT), endpoint }
const node = testOutbound().ofNode({ tenantId: 'a' })
const CALL = { data: '{"t":22.5,"name":"Küche"}', attributes: { device: 'pump' } }

/** Throws where the signature is not the account's. */
function claimsOf(token: string): { readonly header: object; readonly claims: Record<string, unknown> } {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    keys.publicKey,
    Buffer.from(signature, 'base64url'),
  )
  assert.ok(isSigned)
  const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
  return { header: read(header), claims: read(claims) }
}

test('a message is published in the words of the REST interface, by a token of the account', async (t) => {
  const client = node.open('pubsub', TARGET)
  t.after(() => client.close())
  assert.deepEqual(await client.call(CALL, 25), { messageId: '136969346945' })
  const [sent] = requests.splice(0)
  assert.deepEqual([sent?.request.method, sent?.request.url], ['POST', '/v1/projects/project/topics/readings:publish'])
  const { messages } = JSON.parse(sent?.body ?? '') as { messages: { data: string; attributes: object }[] }
  assert.equal(messages.length, 1)
  assert.equal(Buffer.from(messages[0]?.data ?? '', 'base64').toString(), CALL.data)
  assert.deepEqual(messages[0]?.attributes, CALL.attributes)
  const { header, claims } = claimsOf(sent?.request.headers.authorization?.replace('Bearer ', '') ?? '')
  assert.deepEqual(header, { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
  const { iss, sub, aud, iat, exp } = claims
  assert.deepEqual([iss, sub, aud], [ACCOUNT.client_email, ACCOUNT.client_email, 'https://pubsub.googleapis.com/'])
  assert.equal(Number(exp) - Number(iat), 3600)
})

test('a token is made anew before it ends', () => {
  let now = 1_700_000_000_000
  const clock = {
    now: () => now,
    monotonic: () => 0,
    after: () => ({ cancel: () => undefined }),
    soon: () => undefined,
  }
  const token = googleTokens(TARGET.serviceAccountKey, 'x', clock)
  const first = token()
  now += 3_299_000
  assert.equal(token(), first)
  now += 1000
  assert.equal(claimsOf(token()).claims['iat'], 1_700_003_300)
})

test('what Pub/Sub refuses is told in its words; a page is told by its status', async (t) => {
  const client = node.open('pubsub', TARGET)
  t.after(() => client.close())
  answer = {
    status: 404,
    body: '{"error":{"code":404,"message":"Resource not found (topic=readings).","status":"NOT_FOUND"}}',
  }
  await assert.rejects(client.call(CALL, 25), /Pub\/Sub answered 404: Resource not found/)
  answer = { status: 502, body: '<html>' }
  await assert.rejects(client.call(CALL, 25), /Pub\/Sub answered 502$/)
  answer = { status: 200, body: '{}' }
  await assert.rejects(client.call(CALL, 25), /Pub\/Sub answered 200$/)
})

test('a key that is none is told at the start, and not quoted', async () => {
  for (const serviceAccountKey of [
    'hunter2 hunter2',
    '{"client_email":"a"}',
    '{"client_email":"a","private_key":"hunter2"}',
  ]) {
    const client = node.open('pubsub', { ...TARGET, serviceAccountKey })
    await assert.rejects(
      client.ready(),
      (error) => error instanceof Error && /service account/.test(error.message) && !error.message.includes('hunter2'),
    )
    await client.close()
  }
})

test('an internal address is refused', async (t) => {
  const client = testOutbound({ allowedAddresses: [] }).ofNode({ tenantId: 'a' }).open('pubsub', TARGET)
  t.after(() => client.close())
  await assert.rejects(client.call(CALL, 25), /internal address/)
})
