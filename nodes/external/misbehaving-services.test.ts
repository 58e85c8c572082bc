/**
 * Nodes that call a service over HTTP, with the real clients, against one that behaves badly in each way there is. Whatever it does, the message
 * takes Failure as it came, with the reason and no secret in its metadata, and the next one is served.
 */
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import type { CapabilityName } from '../../engine/rulechain/capabilities.ts'
import type { HttpCall, NodeOutbound } from '../../engine/rulechain/capabilities/outbound.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { JsonObject } from '../../model/json.ts'
import { SLOWNESS } from '../../test/support/slowness.ts'
import type { RuleNodeDefinition } from '../define-node.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { awsLambda } from './aws-lambda.ts'
import { awsSns } from './aws-sns.ts'
import { awsSqs } from './aws-sqs.ts'
import { gcpPubSub } from './gcp-pubsub.ts'
import { restApiCall } from './rest-api-call.ts'
import { sendToSlack } from './send-to-slack.ts'
import { outsideContext } from './testkit.ts'

let behave: RequestListener = (_request, response) => response.end('{}')
const server = createServer((request, response) => {
  request.resume().on('end', () => behave(request, response))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const SECRET = 'very secret indeed'
const SERVICE_ACCOUNT = {
  client_email: 'millrace@project.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
}
const REGION = 'us-east-1'
const DATA = '{"t":22.5}'
const MD5 = createHash('md5').update(DATA).digest('hex')
/** The call after it has as long. */
const SILENT_MS = 1000 * SLOWNESS
const SILENT = new RegExp(`no answer within ${SILENT_MS} ms`)
const message = testMessage({ data: DATA, metadata: { place: 'hall' } })

interface Case {
  readonly definition: RuleNodeDefinition
  readonly configuration: JsonObject
  /** As the service says that it took the message. */
  readonly good: RequestListener
  /** As the service says that it knows no such login, in the documented form, with the secret in it. */
  readonly refusal: RequestListener
  readonly refusedAs: RegExp
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))

const CASES: Readonly<Record<string, Case>> = {
  'aws sqs': {
    definition: awsSqs,
    configuration: {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: SECRET,
      region: REGION,
      queueUrlPattern: `${base}/1/q`,
    },
    good: json(200, { MessageId: 'm1', MD5OfMessageBody: MD5 }, { 'x-amzn-requestid': 'r1' }),
    refusal: json(403, {
      __type: 'com.amazon.coral.service#InvalidClientTokenId',
      message: `The security token ${SECRET} included in the request is invalid.`,
    }),
    refusedAs: /InvalidClientTokenId.*security token/,
  },
  'aws sns': {
    definition: awsSns,
    configuration: {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: SECRET,
      region: REGION,
      topicArnPattern: 'arn:aws:sns:us-east-1:1:t',
    },
    good: (_request, response) =>
      response.end(
        '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m1</MessageId></PublishResult><ResponseMetadata><RequestId>r1</RequestId></ResponseMetadata></PublishResponse>',
      ),
    refusal: (_request, response) =>
      response
        .writeHead(403, { 'Content-Type': 'text/xml' })
        .end(
          `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>The security token ${SECRET} included in the request is invalid.</Message></Error><RequestId>r1</RequestId></ErrorResponse>`,
        ),
    refusedAs: /InvalidClientTokenId.*security token/,
  },
  'aws lambda': {
    definition: awsLambda,
    configuration: { accessKey: 'AKIDEXAMPLE', secretKey: SECRET, region: REGION, functionName: 'f' },
    good: (_request, response) => response.writeHead(200, { 'x-amzn-requestid': 'r1' }).end('{"t":45}'),
    refusal: json(
      403,
      { Message: `The security token ${SECRET} included in the request is invalid.` },
      { 'x-amzn-errortype': 'UnrecognizedClientException' },
    ),
    refusedAs: /UnrecognizedClientException.*security token/,
  },
  'gcp pubsub': {
    definition: gcpPubSub,
    configuration: { projectId: 'p', topicName: 't', serviceAccountKey: JSON.stringify(SERVICE_ACCOUNT) },
    good: json(200, { messageIds: ['17'] }),
    refusal: json(401, {
      error: { code: 401, message: 'Request had invalid credentials.', status: 'UNAUTHENTICATED' },
    }),
    refusedAs: /Pub\/Sub answered 401: Request had invalid credentials/,
  },
  'send to slack': {
    definition: sendToSlack,
    configuration: {
      ...{ useSystemSettings: false, botToken: SECRET, messageTemplate: '$[t]' },
      conversation: { id: 'C1', type: 'PUBLIC_CHANNEL' },
    },
    good: json(200, { ok: true }),
    refusal: json(200, { ok: false, error: 'invalid_auth' }),
    refusedAs: /Slack: invalid_auth/,
  },
  'rest api call': {
    definition: restApiCall,
    configuration: {
      restEndpointUrlPattern: `${base}/api`,
      credentials: { type: 'basic', username: 'u', password: SECRET },
    },
    good: json(200, {}),
    refusal: json(401, {}),
    refusedAs: /401 Unauthorized/,
  },
}

for (const [name, each] of Object.entries(CASES))
  describe(name, () => {
    /** How the message comes out while the service behaves so, and that the next is served. */
    async function outcomeOf(listener: RequestListener, timeoutMs = 15_000) {
      const { definition, configuration, good } = each
      const context = here(outsideContext({ timeoutMs }))
      const node = await createNode(definition, { ...definition.defaultConfiguration, ...configuration }, context)
      try {
        behave = listener
        const [result] = await runNode(node, message)
        behave = good
        const [next] = await runNode(node, message)
        assert.deepEqual(next?.emissions[0]?.relations, ['Success'], next?.emissions[0]?.message.metadata['error'])
        const emission = result?.emissions[0]
        assert.ok(emission !== undefined)
        const { place, error = '', ...more } = emission.message.metadata
        assert.equal(place, 'hall')
        assert.doesNotMatch(JSON.stringify(emission.message.metadata), /very secret/)
        return { relation: emission.relations[0], data: emission.message.data, error, more }
      } finally {
        await node.close?.()
      }
    }

    async function fails(listener: RequestListener, reason: RegExp, timeoutMs?: number): Promise<void> {
      const { relation, data, error } = await outcomeOf(listener, timeoutMs)
      assert.deepEqual([relation, data], ['Failure', DATA])
      assert.match(error, /^class \S+: ./)
      assert.match(error, reason)
    }

    test('a login that it does not know', () => fails(each.refusal, each.refusedAs))

    test('no answer', () => fails(() => undefined, SILENT, SILENT_MS))

    test('an answer that never ends', () =>
      fails((_request, response) => void response.writeHead(200).write('{"MessageId":'), SILENT, SILENT_MS))

    test('a connection that is cut before the answer, and within', async () => {
      await fails((request) => void request.socket.destroy(), /ECONNRESET|hang up/)
      await fails((request, response) => {
        response.writeHead(200, { 'Content-Length': '1000' }).write('{"a":')
        setTimeout(() => request.socket.destroy(), 20)
      }, /ECONNRESET|aborted|hang up/)
    })

    test('words of what stands before it, and none', async () => {
      await fails((_request, response) => void response.writeHead(503).end('slow down'), /503/)
      await fails(page(502), /502/)
      await fails((_request, response) => void response.writeHead(403).end(), /403/)
    })

    // A function and a REST service may answer anything.
    if (name !== 'aws lambda' && name !== 'rest api call')
      test('a page in the place of an answer', () => fails(page(200), /answered 200/))

    test('an answer that is too long', async () => {
      const { relation, error } = await outcomeOf((_request, response) => void response.end('x'.repeat(9 * 2 ** 20)))
      assert.equal(relation, 'Failure')
      assert.match(error, /the answer has more than \d+ bytes/)
    })
  })

function page(status: number): RequestListener {
  return (_request, response) =>
    void response.writeHead(status, { 'Content-Type': 'text/html' }).end('<html><body>Log in</body></html>')
}

/** Services whose addresses the nodes do not name are here. */
function here(context: NodeContext<CapabilityName>): NodeContext<CapabilityName> {
  const { outbound } = context.services
  const open: NodeOutbound['open'] = (kind, settings, limits) => {
    const client = outbound.open(kind, { ...settings, endpoint: base }, limits)
    const isSlack = (call: unknown): call is HttpCall =>
      typeof call === 'object' && call !== null && 'url' in call && String(call.url).startsWith('https://slack.com')
    return {
      ready: () => client.ready(),
      call: (call, bytes) => client.call(isSlack(call) ? { ...call, url: `${base}/slack` } : call, bytes),
      close: () => client.close(),
    }
  }
  return { ...context, services: { ...context.services, outbound: { ...outbound, open } } }
}
