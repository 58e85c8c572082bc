import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { testOutbound } from '../testkit.ts'

let answer = { status: 201, body: '{"sid":"SM1"}' }
const requests: { readonly request: IncomingMessage; readonly form: URLSearchParams }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    requests.push({ request, form: new URLSearchParams(body) })
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body)
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const ACCOUNT = { accountSid: 'AC1', accountToken: 'very secret', numberFrom: '+15005550006', endpoint }
const node = testOutbound().ofNode({ tenantId: 'a' })
const CALL = { numberTo: '+15005550009', text: 'hot: 50 °C' }

test('a text message goes out in the words of Twilio’s protocol', async (t) => {
  const client = node.open('twilio', ACCOUNT)
  t.after(() => client.close())
  await client.call(CALL, 4)
  const [sent] = requests.splice(0)
  assert.deepEqual(
    [sent?.request.method, sent?.request.url, sent?.request.headers.authorization],
    ['POST', '/2010-04-01/Accounts/AC1/Messages.json', `Basic ${Buffer.from('AC1:very secret').toString('base64')}`],
  )
  assert.deepEqual([...(sent?.form ?? [])].toSorted(), [
    ['Body', 'hot: 50 °C'],
    ['From', '+15005550006'],
    ['To', '+15005550009'],
  ])
})

test('a messaging service is named by its id', async (t) => {
  const client = node.open('twilio', { ...ACCOUNT, numberFrom: 'MG1' })
  t.after(() => client.close())
  await client.call(CALL, 4)
  const [sent] = requests.splice(0)
  assert.deepEqual([sent?.form.get('MessagingServiceSid'), sent?.form.get('From')], ['MG1', null])
})

test('what Twilio refuses is told, and the token is not; an internal address is refused', async (t) => {
  const client = node.open('twilio', ACCOUNT)
  t.after(() => client.close())
  answer = { status: 400, body: '{"code":21211,"message":"very secret: the number is not valid","status":400}' }
  await assert.rejects(client.call(CALL, 4), (error: Error) => {
    assert.doesNotMatch(error.message, /very secret/)
    return /the number is not valid/.test(error.message)
  })
  const guarded = testOutbound({ allowedAddresses: [] }).ofNode({ tenantId: 'a' }).open('twilio', ACCOUNT)
  t.after(() => guarded.close())
  await assert.rejects(guarded.call(CALL, 4), /internal address/)
})
