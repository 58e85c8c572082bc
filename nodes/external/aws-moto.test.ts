/** The nodes of Amazon's services with the real clients against moto, which knows what these services take and refuse. */
import assert from 'node:assert/strict'
import { CreateFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { after, before, describe, test } from 'node:test'
import type { CapabilityName } from '../../engine/rulechain/capabilities.ts'
import type { NodeOutbound } from '../../engine/rulechain/capabilities/outbound.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { JsonObject } from '../../model/json.ts'
import { hasTool, skipUnless } from '../../test/support/require-tool.ts'
import { startMoto, type RunningServer } from '../../test/support/servers/index.ts'
import type { RuleNodeDefinition } from '../define-node.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { awsLambda } from './aws-lambda.ts'
import { awsSns } from './aws-sns.ts'
import { awsSqs } from './aws-sqs.ts'
import { outsideContext } from './testkit.ts'

const REGION = 'us-east-1'
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very secret' }
const message = testMessage({ data: '{"t":22.5}', metadata: { place: 'hall' } })
/** An archive without files: the function is never run. */
const EMPTY_ZIP = Buffer.from('504b0506000000000000000000000000000000000000', 'hex')
const skip = skipUnless(hasTool('python3'), 'python3')

describe('nodes of Amazon’s services against moto', { skip, timeout: 600_000 }, () => {
  let server: RunningServer
  let queues: SQSClient
  before(async () => {
    server = await startMoto()
    queues = new SQSClient(settings())
  })
  after(async () => {
    queues.destroy()
    await server.stop()
  })

  const settings = () => ({ region: REGION, endpoint: server.url, credentials: { ...KEYS } })

  /** What comes out of the node for the message: its relation, its body, and what it added to the metadata. */
  async function outcomeOf(definition: RuleNodeDefinition, configuration: JsonObject) {
    const given = { ...definition.defaultConfiguration, region: REGION, ...configuration }
    const node = await createNode(definition, given, atMoto(outsideContext(), server.url))
    try {
      const [result] = await runNode(node, message)
      const [emission] = result?.emissions ?? []
      assert.ok(emission !== undefined)
      const { place: _place, ...added } = emission.message.metadata
      return { relation: emission.relations[0], data: emission.message.data, added }
    } finally {
      await node.close?.()
    }
  }

  async function newQueue(name: string, attributes: Record<string, string> = {}): Promise<string> {
    const { QueueUrl } = await queues.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
    return QueueUrl ?? assert.fail('no queue was made')
  }

  async function received(queueUrl: string) {
    const asked = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
    const { Messages = [] } = await queues.send(
      new ReceiveMessageCommand({ ...asked, QueueUrl: queueUrl, MessageAttributeNames: ['All'] }),
    )
    return Messages
  }

  test('a queue has the body and its attributes under the id that is told', async () => {
    const url = await newQueue('plain')
    const configuration = { ...KEYS, queueUrlPattern: url, messageAttributes: { where: '${place}' } }
    const { relation, added } = await outcomeOf(awsSqs, configuration)
    const [kept, ...more] = await received(url)
    assert.deepEqual(
      [relation, more.length, kept?.Body, kept?.MessageId],
      ['Success', 0, '{"t":22.5}', added['messageId']],
    )
    assert.deepEqual(
      [kept?.MD5OfBody, kept?.MD5OfMessageAttributes],
      [added['messageBodyMd5'], added['messageAttributesMd5']],
    )
    assert.equal(kept?.MessageAttributes?.['where']?.StringValue, 'hall')
  })

  test('a FIFO queue keeps a message that comes again once, in the group of its originator', async () => {
    const url = await newQueue('ordered.fifo', { FifoQueue: 'true' })
    const configuration = { ...KEYS, queueType: 'FIFO', queueUrlPattern: url }
    const first = await outcomeOf(awsSqs, configuration)
    const again = await outcomeOf(awsSqs, configuration)
    assert.deepEqual([first.relation, again.relation], ['Success', 'Success'])
    assert.notEqual(first.added['sequenceNumber'] ?? '', '')
    const [kept, ...more] = await received(url)
    assert.deepEqual([more.length, kept?.Attributes?.MessageGroupId], [0, message.originator.id])
  })

  test('a queue that is not there is a Failure with the service’s words', async () => {
    const queueUrlPattern = `${server.url}/123456789012/none`
    const { relation, added } = await outcomeOf(awsSqs, { ...KEYS, queueUrlPattern })
    assert.equal(relation, 'Failure')
    assert.match(added['error'] ?? '', /queue does not exist/i)
  })

  test('who subscribes to a topic has the body; a topic that is not there is a Failure', async () => {
    const topics = new SNSClient(settings())
    try {
      const { TopicArn = '' } = await topics.send(new CreateTopicCommand({ Name: 'news' }))
      const url = await newQueue('subscribed')
      const subscription = { TopicArn, Protocol: 'sqs', Endpoint: `arn:aws:sqs:${REGION}:123456789012:subscribed` }
      await topics.send(new SubscribeCommand({ ...subscription, Attributes: { RawMessageDelivery: 'true' } }))
      const { relation, added } = await outcomeOf(awsSns, { ...KEYS, topicArnPattern: TopicArn })
      assert.equal(relation, 'Success')
      assert.notEqual(added['messageId'] ?? '', '')
      assert.deepEqual(
        (await received(url)).map(({ Body }) => Body),
        ['{"t":22.5}'],
      )
      const gone = await outcomeOf(awsSns, { ...KEYS, topicArnPattern: `${TopicArn}-gone` })
      assert.equal(gone.relation, 'Failure')
      assert.match(gone.added['error'] ?? '', /NotFound/)
    } finally {
      topics.destroy()
    }
  })

  // Moto answers for functions that are not there, too.
  test('a function’s answer is the body', async () => {
    const functions = new LambdaClient(settings())
    try {
      const form = new URLSearchParams({
        Action: 'CreateRole',
        Version: '2010-05-08',
        RoleName: 'f',
        AssumeRolePolicyDocument: '{}',
      })
      const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/iam/aws4_request' }
      assert.ok((await fetch(server.url, { method: 'POST', body: form, headers: signed })).ok)
      await functions.send(
        new CreateFunctionCommand({
          ...{ FunctionName: 'doubled', Runtime: 'nodejs22.x', Handler: 'index.handler' },
          ...{ Role: 'arn:aws:iam::123456789012:role/f', Code: { ZipFile: EMPTY_ZIP } },
        }),
      )
      const results = JSON.stringify({ results: ['{"t":45}'], region: REGION })
      await fetch(`${server.url}/moto-api/static/lambda-simple/response`, { method: 'POST', body: results })
      const keys = { accessKey: KEYS.accessKeyId, secretKey: KEYS.secretAccessKey }
      const { relation, data, added } = await outcomeOf(awsLambda, { ...keys, functionName: 'doubled' })
      assert.deepEqual([relation, data], ['Success', '{"t":45}'])
      assert.notEqual(added['requestId'] ?? '', '')
    } finally {
      functions.destroy()
    }
  })
})

/** The nodes name regions; their clients go to moto all the same. */
function atMoto(context: NodeContext<CapabilityName>, endpoint: string): NodeContext<CapabilityName> {
  const { outbound } = context.services
  const open: NodeOutbound['open'] = (kind, settings, limits) => outbound.open(kind, { ...settings, endpoint }, limits)
  return { ...context, services: { ...context.services, outbound: { ...outbound, open } } }
}
