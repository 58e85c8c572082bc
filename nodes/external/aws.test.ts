import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuleNodeDefinition } from '../define-node.ts'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { awsLambda } from './aws-lambda.ts'
import { awsSns } from './aws-sns.ts'
import { awsSqs } from './aws-sqs.ts'

const KEYS = { accessKeyId: 'A', secretAccessKey: 'S' }
const message = testMessage({ data: '{"a":1}', metadata: { place: 'hall' } })

async function run(node: RuleNodeDefinition, configuration: JsonObject, context = testContext()) {
  const instance = await createNode(node, { ...node.defaultConfiguration, ...configuration }, context)
  const [result] = await runNode(instance, message)
  const [emission] = result?.emissions ?? []
  assert.ok(emission !== undefined)
  const { place: _place, ...metadata } = emission.message.metadata
  return { relation: emission.relations[0], data: emission.message.data, metadata, calls: context.fakes.outbound.calls }
}

test('a queue gets the body, a FIFO queue with the ids of message and originator', async () => {
  const context = testContext()
  context.fakes.outbound.answers.sqs = () => ({
    messageId: 'm',
    requestId: 'r',
    messageBodyMd5: '5',
    sequenceNumber: undefined,
  })
  const configuration = {
    ...KEYS,
    queueType: 'FIFO',
    queueUrlPattern: 'https://q/${place}',
    messageAttributes: { p: '${place}' },
  }
  const { relation, metadata, calls } = await run(awsSqs, configuration, context)
  assert.deepEqual([relation, metadata], ['Success', { messageId: 'm', requestId: 'r', messageBodyMd5: '5' }])
  assert.deepEqual(calls, [
    {
      ...{ queueUrl: 'https://q/hall', body: '{"a":1}', delaySeconds: 0, attributes: { p: 'hall' } },
      ...{ deduplicationId: message.id, groupId: message.originator.id },
    },
  ])
})

test('a topic gets the body', async () => {
  const context = testContext()
  context.fakes.outbound.answers.sns = () => ({ messageId: 'm', requestId: 'r' })
  const { relation, metadata, calls } = await run(awsSns, { ...KEYS, topicArnPattern: 'arn:${place}' }, context)
  assert.deepEqual([relation, metadata], ['Success', { messageId: 'm', requestId: 'r' }])
  assert.deepEqual(calls, [{ topicArn: 'arn:hall', message: '{"a":1}' }])
})

test('a function’s answer is the body that goes on; its error is a Failure only where the node says so', async () => {
  const context = testContext()
  context.fakes.outbound.answers.lambda = () => ({
    requestId: 'r',
    payload: '{"errorMessage":"no"}',
    functionError: 'Unhandled',
  })
  const configuration = { accessKey: 'A', secretKey: 'S', functionName: 'f-${place}' }
  const { calls, ...told } = await run(awsLambda, configuration, context)
  assert.deepEqual(told, { relation: 'Success', data: '{"errorMessage":"no"}', metadata: { requestId: 'r' } })
  assert.deepEqual(calls, [{ functionName: 'f-hall', qualifier: '$LATEST', payload: '{"a":1}' }])
  const failed = await run(awsLambda, { ...configuration, tellFailureIfFuncThrowsExc: true }, context)
  assert.deepEqual([failed.relation, failed.data], ['Failure', '{"a":1}'])
})

test('without keys of its own a node does not start: those of the server are not for tenants', async () => {
  for (const [node, field] of [
    [awsSqs, 'accessKeyId'],
    [awsSns, 'accessKeyId'],
  ] as const)
    await assert.rejects(createNode(node), new RegExp(field))
  await assert.rejects(createNode(awsLambda, { ...awsLambda.defaultConfiguration, functionName: 'f' }), /accessKey/)
})
