import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { restCallReply } from './rest-call-reply.ts'
import { rpcCallReply } from './rpc-call-reply.ts'

const SESSION = '44444444-4444-4444-8444-444444444444'
const REQUEST = '55555555-4444-4444-8444-444444444444'
const metadata = { serviceId: 'api', sessionId: SESSION, requestId: '7', requestUUID: REQUEST }

test('replies go to the process and the place that the metadata names', async () => {
  const context = testContext()
  const toDevice = await createNode(rpcCallReply, { sessionIdMetaDataAttribute: '' }, context)
  const toUser = await createNode(restCallReply, {}, context)
  await runNode(toDevice, testMessage({ data: '{"a":1}', metadata }))
  await runNode(toUser, testMessage({ data: '{"b":2}', metadata }))
  assert.deepEqual(context.replies, [
    ['api', SESSION, '{"a":1}'],
    ['api', REQUEST, '{"b":2}'],
  ])
})

test('ids that nobody has given out take Failure', async () => {
  const context = testContext()
  const toDevice = await createNode(rpcCallReply, {}, context)
  const toUser = await createNode(restCallReply, {}, context)
  for (const [node, wrong] of [
    [toDevice, { sessionId: 's' }],
    [toDevice, { requestId: 'seven' }],
    [toDevice, { requestId: '2147483648' }],
    [toDevice, { requestId: '-2147483649' }],
    [toDevice, { requestId: '9'.repeat(400) }],
    [toUser, { requestUUID: 'r' }],
  ] as const) {
    const [result] = await runNode(node, testMessage({ data: '{}', metadata: { ...metadata, ...wrong } }))
    assert.match(result?.error?.message ?? '', new RegExp(Object.keys(wrong).join()))
  }
  assert.deepEqual(context.replies, [])
})

test('the whole range of request ids is answered', async () => {
  const context = testContext()
  const toDevice = await createNode(rpcCallReply, {}, context)
  for (const requestId of ['0', '2147483647', '-2147483648', '+7', '007'])
    await runNode(toDevice, testMessage({ data: '{}', metadata: { ...metadata, requestId } }))
  assert.equal(context.replies.length, 5)
})

test('a message that names no place takes Failure', async () => {
  const toDevice = await createNode(rpcCallReply)
  const toUser = await createNode(restCallReply)
  const [device] = await runNode(toDevice, testMessage({ data: '{}', metadata: { serviceId: 'api' } }))
  const [user] = await runNode(toUser, testMessage({ data: '{}', metadata: { serviceId: 'api' } }))
  assert.match(device?.error?.message ?? '', /sessionId/)
  assert.match(user?.error?.message ?? '', /requestUUID/)
})
