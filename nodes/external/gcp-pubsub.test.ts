import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { gcpPubSub } from './gcp-pubsub.ts'

const CONFIGURATION = {
  ...gcpPubSub.defaultConfiguration,
  projectId: 'project',
  topicName: 'readings',
  messageAttributes: { '${kind}': '$[t] degrees' },
  serviceAccountKey: '{}',
}

test('the body is published with attributes that are filled in; the id of the message goes into the metadata', async () => {
  const context = testContext()
  context.fakes.outbound.answers.pubsub = () => ({ messageId: '17' })
  const node = await createNode(gcpPubSub, CONFIGURATION, context)
  const [result] = await runNode(node, testMessage({ data: '{"t":22.5}', metadata: { kind: 'temperature' } }))
  assert.deepEqual(context.fakes.outbound.calls, [{ data: '{"t":22.5}', attributes: { temperature: '22.5 degrees' } }])
  const [emission] = result?.emissions ?? []
  assert.deepEqual(emission?.relations, ['Success'])
  assert.deepEqual(emission?.message.metadata, { kind: 'temperature', messageId: '17' })
  await node.close?.()
  assert.equal(context.fakes.outbound.opened[0]?.isClosed, true)
})

test('what the service refuses goes through Failure with its reason', async () => {
  const context = testContext()
  context.fakes.outbound.answers.pubsub = () => {
    throw new Error('Pub/Sub answered 404')
  }
  const node = await createNode(gcpPubSub, CONFIGURATION, context)
  const [result] = await runNode(node, testMessage({ data: '{"t":1}' }))
  assert.deepEqual(result?.emissions[0]?.relations, ['Failure'])
  assert.match(result?.emissions[0]?.message.metadata['error'] ?? '', /Pub\/Sub answered 404/)
})

test('without project, topic or key, or with a key that is none, it does not start', async () => {
  for (const [change, reason] of [
    [{ projectId: '' }, /projectId/],
    [{ topicName: null }, /topicName/],
    [{ serviceAccountKey: null }, /serviceAccountKey/],
  ] as const) {
    await assert.rejects(createNode(gcpPubSub, { ...CONFIGURATION, ...change }), reason)
  }
  const context = testContext()
  context.fakes.outbound.failure = new Error('no key')
  await assert.rejects(createNode(gcpPubSub, CONFIGURATION, context), /no key/)
  assert.equal(context.fakes.outbound.opened[0]?.isClosed, true)
})
