import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { restCallReply } from './rest-call-reply.ts'
import { rpcCallReply } from './rpc-call-reply.ts'

const metadata = { serviceId: 'api', sessionId: 's', requestId: '7', requestUUID: 'r' }

test('replies go to the process and the place that the metadata names', async () => {
  const context = testContext()
  const toDevice = await createNode(rpcCallReply, { sessionIdMetaDataAttribute: '' }, context)
  const toUser = await createNode(restCallReply, {}, context)
  await runNode(toDevice, testMessage({ data: '{"a":1}', metadata }))
  await runNode(toUser, testMessage({ data: '{"b":2}', metadata }))
  assert.deepEqual(context.replies, [
    ['api', 's', '{"a":1}'],
    ['api', 'r', '{"b":2}'],
  ])
})

test('a message that names no place takes Failure', async () => {
  const toDevice = await createNode(rpcCallReply)
  const toUser = await createNode(restCallReply)
  const [device] = await runNode(toDevice, testMessage({ data: '{}', metadata: { serviceId: 'api' } }))
  const [user] = await runNode(toUser, testMessage({ data: '{}', metadata: { serviceId: 'api' } }))
  assert.match(device?.error?.message ?? '', /sessionId/)
  assert.match(user?.error?.message ?? '', /requestUUID/)
})
