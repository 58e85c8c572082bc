import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { rpcCallRequest } from './rpc-call-request.ts'

test('every message takes Failure and says that calls to devices are not supported yet', async () => {
  const instance = await createNode(rpcCallRequest)
  const data = '{"method":"reboot","params":{}}'
  const [call, foreign] = await runNode(
    instance,
    testMessage({ type: 'RPC_CALL_FROM_SERVER_TO_DEVICE', data }),
    testMessage({ originatorType: 'TENANT', data }),
  )
  assert.match(call?.error?.message ?? '', /RPC.*not supported yet/)
  assert.match(foreign?.error?.message ?? '', /TENANT.*DEVICE/)
})
