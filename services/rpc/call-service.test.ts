import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Message } from '../../model/message.ts'
import type { DeviceCall } from '../../engine/device/calls/call.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import type { CallDraft } from './call-service.ts'

let platform: TestPlatform
let deviceId: string
before(async () => {
  platform = await openTestPlatform()
  deviceId = (await platform.services.devices.saveByUser(platform.tenant, { name: 'called' })).id
})
after(() => platform.close())

function draft(change: Partial<CallDraft> = {}): CallDraft {
  const { clock } = platform
  const call = { method: 'm', params: '{"a":1}', isOneway: false, isPersistent: false, retries: null }
  return { ...call, expirationTime: clock.now() + 5000, additionalInfo: null, requestId: undefined, ...change }
}

/** The first message of the type that the link has or gets. */
async function published(type: string): Promise<Message> {
  for (;;) {
    const found = platform.link.messages.findLast((message) => message.type === type)
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const kept = (change: Partial<DeviceCall>): DeviceCall => ({
  id: '99999999-1111-4111-8111-111111111111',
  tenantId: platform.tenantId,
  deviceId,
  method: 'm',
  params: '1',
  isOneway: false,
  isPersistent: true,
  expirationTime: platform.clock.now() + 5000,
  retries: 2,
  additionalInfo: '{"by":"me"}',
  origin: '',
  ...change,
})

describe('a call to a device', () => {
  test('is a message to its rule chain, an audit row, and an answer that is waited for', async () => {
    const { calls, audit } = platform.services
    const calling = calls.callDeviceByUser(platform.tenant, deviceId, draft())
    const message = await published('RPC_CALL_FROM_SERVER_TO_DEVICE')
    assert.deepEqual(message.json(), { method: 'm', params: '{"a":1}', additionalInfo: null })
    assert.equal(message.metadata['oneway'], 'false')
    assert.equal(message.metadata['deviceName'], 'called')
    const { originServiceId = '', requestUUID = '' } = message.metadata
    calls.answer(originServiceId, requestUUID, '{"response":"5"}')
    assert.deepEqual(await calling, { id: requestUUID, response: '5' })
    const whole = { tenantId: platform.tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER }
    const { data } = await audit.page({ ...whole, actionTypes: ['RPC_CALL'] }, { page: 0, pageSize: 10 })
    assert.deepEqual(
      data.map(({ actionData }) => JSON.parse(actionData) as unknown),
      [{ entityId: deviceId, oneWay: false, method: 'm', params: '{"a":1}' }],
    )
  })

  test('that nobody answers ends with a timeout, which the audit log has', async () => {
    platform.link.messages.length = 0
    const calling = platform.services.calls.callDeviceByUser(platform.tenant, deviceId, draft())
    await published('RPC_CALL_FROM_SERVER_TO_DEVICE')
    platform.clock.runTimers()
    assert.equal((await calling).error, 'TIMEOUT')
    const whole = { tenantId: platform.tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER }
    const query = { page: 0, pageSize: 10, sortProperty: 'actionStatus' }
    const { data } = await platform.services.audit.page({ ...whole, actionTypes: ['RPC_CALL'] }, query)
    assert.equal(data[0]?.actionFailureDetails, 'TIMEOUT')
  })
})

test('a call takes no id of another one: who waits for that goes on', async () => {
  const { calls } = platform.services
  platform.link.messages.length = 0
  const requestId = '88888888-1111-4111-8111-111111111111'
  const first = calls.callDeviceByUser(platform.tenant, deviceId, draft({ requestId }))
  const message = await published('RPC_CALL_FROM_SERVER_TO_DEVICE')
  await assert.rejects(calls.callDeviceByUser(platform.tenant, deviceId, draft({ requestId })), {
    code: 'rpc.ID_TAKEN',
  })
  calls.answer(message.metadata['originServiceId'] ?? '', requestId, '{"response":"5"}')
  assert.equal((await first).response, '5')
})

describe('a persistent call', () => {
  test('of a chain is refused where its device has too many open ones, and only the newest that are over stay', async () => {
    const { services, entities, clock, tenant } = platform
    const device = (await services.devices.saveByUser(tenant, { name: 'crowded' })).id
    const own = { deviceId: device, tenantId: platform.tenantId, expirationTime: clock.now() + 5000 }
    const row = (index: number, isOpen: boolean) => ({
      ...{ id: `${isOpen ? 'a' : 'b'}${String(index).padStart(7, '0')}-0000-4000-8000-000000000000`, version: 1 },
      ...{ ...own, createdTime: index, request: '{}', response: null, additionalInfo: null, status: 'QUEUED', isOpen },
    })
    const rows = Array.from({ length: 1_001 }, (_, index) => row(index, false))
    await entities.write(rows.map((rpc) => entities.rpcs.insert(rpc)))
    assert.ok(await services.persistentCalls.accept(kept({ ...own, id: '77777777-1111-4111-8111-111111111111' })))
    assert.equal(await entities.rpcs.find(rows[0]?.id ?? ''), undefined)
    assert.ok(await entities.rpcs.find(rows[1]?.id ?? ''))
    await entities.write(Array.from({ length: 999 }, (_, index) => entities.rpcs.insert(row(index, true))))
    const late = kept({ ...own, id: '66666666-1111-4111-8111-111111111111' })
    await assert.rejects(services.persistentCalls.accept(late), { code: 'rpc.TOO_MANY_KEPT' })
    await services.declared.of(devices).deleteByUser(tenant, device)
  })

  test('is kept once, with each change of its status told to the rule engine', async () => {
    const { persistentCalls, calls } = platform.services
    const call = kept({})
    await persistentCalls.accept(call)
    await persistentCalls.accept(call)
    assert.deepEqual(await persistentCalls.waiting(deviceId, 10), [call])
    await persistentCalls.changed(call, 'DELIVERED')
    assert.deepEqual(await persistentCalls.waiting(deviceId, 10), [])
    await persistentCalls.changed(call, 'SUCCESSFUL', '{"ok":true}')
    // Over is over.
    await persistentCalls.changed(call, 'EXPIRED')
    const { data } = await calls.page(deviceId, undefined, { page: 0, pageSize: 10 })
    assert.deepEqual(
      data.map(({ status, response, isOpen }) => [status, response, isOpen]),
      [['SUCCESSFUL', '{"ok":true}', false]],
    )
    for (const type of ['RPC_QUEUED', 'RPC_DELIVERED', 'RPC_SUCCESSFUL']) assert.ok(await published(type))
  })

  test('whose time is over is marked though no device ever listened, and old ones go', async () => {
    const { persistentCalls, calls } = platform.services
    const id = '99999999-2222-4111-8111-111111111111'
    await persistentCalls.accept(kept({ id }))
    platform.clock.time += 60_000
    await persistentCalls.sweep()
    assert.equal((await calls.find(id))?.status, 'EXPIRED')
    platform.clock.time += 31 * 86_400_000
    await persistentCalls.sweep()
    assert.equal(await calls.find(id), undefined)
  })

  test('is deleted by a user, with a message and an audit row', async () => {
    const { persistentCalls, calls } = platform.services
    const id = '99999999-3333-4111-8111-111111111111'
    await persistentCalls.accept(kept({ id }))
    await calls.deleteByUser(platform.tenant, id)
    assert.equal(await calls.find(id), undefined)
    assert.ok(await published('RPC_DELETED'))
    await assert.rejects(calls.deleteByUser(platform.tenant, id), { status: 404 })
  })
})

test('a call to the rule engine is a message to the chain of the entity, answered by a node', async () => {
  const { calls } = platform.services
  const entity = { entityType: 'DEVICE', id: deviceId } as const
  const asked = { data: '{"q":1}', timeoutMs: 1000, queueName: undefined }
  const calling = calls.callRuleEngineByUser(platform.tenant, entity, asked)
  const { metadata } = await published('REST_API_REQUEST')
  calls.answer(metadata['serviceId'] ?? '', metadata['requestUUID'] ?? '', '{"a":2}')
  assert.equal(await calling, '{"a":2}')
})
