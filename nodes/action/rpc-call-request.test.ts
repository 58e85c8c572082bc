import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeCallOutcome } from '../../engine/rulechain/capabilities/calls.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { rpcCallRequest } from './rpc-call-request.ts'

test('hands what a user called to the device as the metadata says it', async () => {
  const context = testContext()
  const instance = await createNode(rpcCallRequest, { timeoutInSeconds: 60 }, context)
  const metadata = {
    requestUUID: 'r',
    originServiceId: 'api',
    expirationTime: '77',
    oneway: 'true',
    persistent: 'true',
    retries: '3',
  }
  const data = '{"method":"reboot","params":"{\\"now\\":1}","additionalInfo":null}'
  await runNode(instance, testMessage({ type: 'RPC_CALL_FROM_SERVER_TO_DEVICE', data, metadata }))
  const [call] = context.calls
  assert.deepEqual(
    { ...call, tenantId: undefined, deviceId: undefined },
    {
      id: 'r',
      tenantId: undefined,
      deviceId: undefined,
      method: 'reboot',
      params: '{"now":1}',
      isOneway: true,
      isPersistent: true,
      expirationTime: 77,
      retries: 3,
      additionalInfo: 'null',
      origin: 'api',
    },
  )
})

test('a call that a chain made is known by its message, and takes JSON as it is', async () => {
  const context = testContext()
  const instance = await createNode(rpcCallRequest, { timeoutInSeconds: 60 }, context)
  const message = testMessage({ data: '{"method":"m","params":{"a":1}}' })
  await runNode(instance, message)
  assert.deepEqual([context.calls[0]?.id, context.calls[0]?.params], [message.id, '{"a":1}'])
})

test('texts stay plain, other values become JSON', async () => {
  const context = testContext()
  const instance = await createNode(rpcCallRequest, { timeoutInSeconds: 60 }, context)
  const given = ['"on"', '5.0', 'true', '[1,"a"]', 'null']
  for (const params of given) await runNode(instance, testMessage({ data: `{"method":"m","params":${params}}` }))
  assert.deepEqual(
    context.calls.map(({ params }) => params),
    ['on', '5.0', 'true', '[1,"a"]', 'null'],
  )
})

test('a method may be a number or a flag, and is called by its text', async () => {
  const context = testContext()
  const instance = await createNode(rpcCallRequest, { timeoutInSeconds: 60 }, context)
  const run = (method: string) => runNode(instance, testMessage({ data: `{"method":${method},"params":{}}` }))
  for (const method of ['17', '5.0', 'true']) await run(method)
  assert.deepEqual(
    context.calls.map(({ method }) => method),
    ['17', '5.0', 'true'],
  )
  for (const method of ['null', '{}', '[]', '""']) {
    const [result] = await run(method)
    assert.match(result?.error?.message ?? '', /method/)
  }
  assert.equal(context.calls.length, 3)
})

test('metadata that are empty say nothing', async () => {
  const context = testContext()
  const instance = await createNode(rpcCallRequest, { timeoutInSeconds: 60 }, context)
  const metadata = { requestUUID: '', expirationTime: '', retries: '' }
  const message = testMessage({ data: '{"method":"m","params":{}}', metadata })
  await runNode(instance, message)
  const [call] = context.calls
  const until = context.clock.now() + 60_000
  assert.deepEqual([call?.id, call?.expirationTime, call?.retries], [message.id, until, null])
})

const OUTCOMES: readonly (readonly [outcome: NodeCallOutcome, relation: string, data: string])[] = [
  [{ response: '{"x":9}' }, 'Success', '{"x":9}'],
  [{}, 'Success', '{}'],
  [{ isKept: true }, 'Success', '{"rpcId":"44444444-4444-4444-8444-444444444444"}'],
  [{ error: 'NO_ACTIVE_CONNECTION' }, 'Failure', '{"error":"NO_ACTIVE_CONNECTION"}'],
  [{ error: 'TIMEOUT' }, 'Failure', '{"error":"TIMEOUT"}'],
]

for (const [outcome, relation, data] of OUTCOMES)
  test(`settles, and what comes of the call goes on later: ${data}`, async () => {
    const context = testContext()
    context.callOutcomes.push(outcome)
    const instance = await createNode(rpcCallRequest, { timeoutInSeconds: 60 }, context)
    const [result] = await runNode(
      instance,
      testMessage({ data: '{"method":"m","params":{}}', metadata: { a: '1' }, ts: 1 }),
    )
    assert.ok(result?.step?.flow === 'afterwards')
    const came = await result.step.outcome
    assert.deepEqual([came.relation, came.message.data, came.error?.message], [relation, data, outcome.error])
    assert.deepEqual(came.message.metadata, { a: '1' })
    assert.equal(came.message.ts, context.clock.now())
  })

test('takes Failure for other originators and for what is no call', async () => {
  const instance = await createNode(rpcCallRequest)
  const [foreign, empty, bare] = await runNode(
    instance,
    testMessage({ originatorType: 'TENANT', data: '{"method":"m"}' }),
    testMessage({ data: '{"params":1}' }),
    testMessage({ data: '{"method":"m"}' }),
  )
  assert.match(bare?.error?.message ?? '', /params/)
  assert.match(foreign?.error?.message ?? '', /TENANT.*DEVICE/)
  assert.match(empty?.error?.message ?? '', /method/)
})
