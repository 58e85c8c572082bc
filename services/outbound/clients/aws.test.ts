import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { testOutbound } from '../testkit.ts'

interface Request {
  readonly url: string | undefined
  readonly target: string | string[] | undefined
  readonly authorization: string | undefined
  readonly body: string
}

const requests: Request[] = []
let answer = { body: '', headers: {} }
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { url, headers } = request
    const body = Buffer.concat(chunks).toString()
    requests.push({ url, target: headers['x-amz-target'], authorization: headers.authorization, body })
    response.writeHead(200, answer.headers).end(answer.body)
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const ACCOUNT = { region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very secret', endpoint }
const outbound = testOutbound()
const node = outbound.ofNode({ tenantId: 'a' })

function lastRequest(): Request {
  const last = requests.at(-1)
  assert.ok(last !== undefined)
  return last
}

test('a message goes to a queue, to a FIFO one under its own id', async (t) => {
  const client = node.open('sqs', ACCOUNT)
  t.after(() => client.close())
  answer = {
    headers: { 'Content-Type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'r1' },
    body: '{"MessageId":"m1","MD5OfMessageBody":"8d777f385d3dfec8815d20f7496026dc","SequenceNumber":"7"}',
  }
  const queueUrl = `${endpoint}/1/queue.fifo`
  const call = { queueUrl, body: 'data', delaySeconds: 0, attributes: { place: 'hall' } }
  const said = await client.call({ ...call, deduplicationId: 'id', groupId: 'device' }, 4)
  const { target, authorization, body } = lastRequest()
  assert.equal(target, 'AmazonSQS.SendMessage')
  assert.match(authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/sqs\/aws4_request/)
  assert.deepEqual(JSON.parse(body), {
    ...{ QueueUrl: queueUrl, MessageBody: 'data', MessageGroupId: 'device', MessageDeduplicationId: 'id' },
    MessageAttributes: { place: { DataType: 'String', StringValue: 'hall' } },
  })
  assert.deepEqual(
    [said.messageId, said.requestId, said.messageBodyMd5, said.sequenceNumber],
    ['m1', 'r1', '8d777f385d3dfec8815d20f7496026dc', '7'],
  )
})

test('a queue at another host than that of its region gets its messages without a word on the console', async (t) => {
  const { endpoint: _none, ...account } = ACCOUNT
  const client = node.open('sqs', account)
  t.after(() => client.close())
  const { mock } = t.mock.method(console, 'warn', () => undefined)
  answer = {
    headers: { 'Content-Type': 'application/x-amz-json-1.0' },
    body: '{"MessageId":"m1","MD5OfMessageBody":"8d777f385d3dfec8815d20f7496026dc"}',
  }
  await client.call({ queueUrl: `${endpoint}/1/queue`, body: 'data', delaySeconds: 0, attributes: {} }, 4)
  assert.equal(mock.callCount(), 0)
})

test('a queue’s address inside the network is refused', async (t) => {
  const client = testOutbound({ allowedAddresses: [] })
    .ofNode({ tenantId: 'a' })
    .open('sqs', {
      ...{ region: 'eu-west-1', accessKeyId: 'A', secretAccessKey: 'very secret' },
    })
  t.after(() => client.close())
  for (const queueUrl of [
    ...[`${endpoint}/1/q`, 'http://localhost:1/1/q', 'http://127.1:1/1/q', 'http://[::ffff:127.0.0.1]:1/1/q'],
    ...['http://2130706433:1/1/q', 'http://me:secret@127.0.0.1:1/1/q'],
  ]) {
    const call = { queueUrl, body: 'data', delaySeconds: 0, attributes: {} }
    await assert.rejects(client.call(call, 4), /internal address/, queueUrl)
  }
})

test('a message goes to a topic', async (t) => {
  const client = node.open('sns', ACCOUNT)
  t.after(() => client.close())
  answer = {
    headers: { 'Content-Type': 'text/xml', 'x-amzn-RequestId': 'r2' },
    body: '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m2</MessageId></PublishResult><ResponseMetadata><RequestId>r2</RequestId></ResponseMetadata></PublishResponse>',
  }
  assert.deepEqual(await client.call({ topicArn: 'arn:aws:sns:eu-west-1:1:t', message: 'data' }, 4), {
    ...{ messageId: 'm2', requestId: 'r2' },
  })
  const form = new URLSearchParams(lastRequest().body)
  assert.deepEqual(
    [form.get('Action'), form.get('TopicArn'), form.get('Message')],
    ['Publish', 'arn:aws:sns:eu-west-1:1:t', 'data'],
  )
})

test('a text message goes to a phone', async (t) => {
  const client = node.open('sns', ACCOUNT)
  t.after(() => client.close())
  answer = {
    headers: { 'Content-Type': 'text/xml' },
    body: '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m3</MessageId></PublishResult></PublishResponse>',
  }
  await client.call({ phoneNumber: '+15005550006', message: 'data' }, 4)
  const form = new URLSearchParams(lastRequest().body)
  assert.deepEqual([form.get('PhoneNumber'), form.get('TopicArn'), form.get('Message')], ['+15005550006', null, 'data'])
})

test('a function is invoked and its error is told', async (t) => {
  const client = node.open('lambda', ACCOUNT)
  t.after(() => client.close())
  answer = { headers: { 'x-amzn-requestid': 'r3', 'X-Amz-Function-Error': 'Unhandled' }, body: '{"errorMessage":"no"}' }
  assert.deepEqual(await client.call({ functionName: 'f', qualifier: '$LATEST', payload: '{"a":1}' }, 7), {
    ...{ requestId: 'r3', payload: '{"errorMessage":"no"}', functionError: 'Unhandled' },
  })
  assert.deepEqual(
    [lastRequest().url, lastRequest().body],
    ['/2015-03-31/functions/f/invocations?Qualifier=%24LATEST', '{"a":1}'],
  )
})

test('an answer that is longer than Amazon’s are fails, with its length said and without', async (t) => {
  const client = node.open('sqs', ACCOUNT)
  t.after(() => client.close())
  const body = `{"MessageId":"${'m'.repeat(300 * 1024)}"}`
  const call = { queueUrl: `${endpoint}/1/queue`, body: 'data', delaySeconds: 0, attributes: {} }
  for (const headers of [{ 'Content-Length': String(body.length) }, { 'Transfer-Encoding': 'chunked' }]) {
    answer = { headers, body }
    await assert.rejects(client.call(call, 4), /more than 262144 bytes/)
  }
  assert.deepEqual([outbound.figures.calls, outbound.figures.bytes], [0, 0])
})

test('a region that is none is refused: it stands in the host’s name', async (t) => {
  const client = node.open('sns', { ...ACCOUNT, region: 'x@127.0.0.1/' })
  t.after(() => client.close())
  await assert.rejects(client.call({ topicArn: 'a', message: 'm' }, 1), /no region/)
})
