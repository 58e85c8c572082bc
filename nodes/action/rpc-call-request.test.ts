import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('takes Failure for other originators and for what is no call', async () => {
  const instance = await createNode(rpcCallRequest)
  const [foreign, empty] = await runNode(
    instance,
    testMessage({ originatorType: 'TENANT', data: '{"method":"m"}' }),
    testMessage({ data: '{"params":1}' }),
  )
  assert.match(foreign?.error?.message ?? '', /TENANT.*DEVICE/)
  assert.match(empty?.error?.message ?? '', /method/)
})
