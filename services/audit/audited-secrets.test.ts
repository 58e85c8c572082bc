/** No row of the audit log holds a secret, open or sealed, whether what was saved is there or was refused. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isJsonObject, parseJson, type JsonValue } from '../../model/json.ts'
import { SECRET_MASK } from '../../model/secret-members.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { notificationTargets } from '../entities/notification.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())

const SECRET = 'hunter2'

/** What rows say of each save, the refused too, by the type of the entity. */
async function rowsOf(entityType: string): Promise<readonly string[]> {
  const whole = { tenantId: platform.tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] }
  const { data } = await platform.services.audit.page(whole, { page: 0, pageSize: 100 })
  return data.filter(({ entity }) => entity.entityType === entityType).map(({ actionData }) => actionData)
}

async function assertMasked(entityType: string, rows: number): Promise<void> {
  const said = await rowsOf(entityType)
  assert.equal(said.length, rows)
  for (const data of said) assert.ok(!/hunter2|sealed:/.test(data) && data.includes(SECRET_MASK), data)
}

test('integrations', async () => {
  const { services, tenant } = platform
  const topics = [{ filter: 'a/#', qos: 1 }]
  const draft = {
    name: 'audited',
    type: 'MQTT',
    converter: { script: 'return {deviceName: payload.d};' },
    configuration: { host: 'broker.example', port: 1883, username: 'u', password: SECRET, topics },
  } as const
  await services.integrations.saveByUser(tenant, draft)
  await assert.rejects(services.integrations.saveByUser(tenant, draft))
  await assertMasked('INTEGRATION', 2)
})

test('AI models', async () => {
  const { services, tenant } = platform
  const configuration = {
    ...{ provider: 'OLLAMA', modelId: 'llama3.2' },
    providerConfig: { baseUrl: 'http://ollama:11434', auth: { type: 'TOKEN', token: SECRET } },
  }
  await services.aiModels.saveByUser(tenant, { name: 'audited', configuration })
  await assert.rejects(services.aiModels.saveByUser(tenant, { name: 'audited', configuration }))
  await assertMasked('AI_MODEL', 2)
})

test('device profiles by which devices are provisioned', async () => {
  const { services, tenant } = platform
  const draft = {
    name: 'audited',
    type: 'DEFAULT',
    transportType: 'DEFAULT',
    provisionType: 'ALLOW_CREATE_NEW_DEVICES',
    provisionDeviceKey: 'audited',
    profileData: { provisionConfiguration: { type: 'ALLOW_CREATE_NEW_DEVICES', provisionDeviceSecret: SECRET } },
  } as const
  const service = services.declared.of(deviceProfiles)
  await service.saveByUser(tenant, draft)
  await assert.rejects(service.saveByUser(tenant, draft))
  await assertMasked('DEVICE_PROFILE', 2)
})

test('channels that whoever knows their address may write to', async () => {
  const { services, tenant } = platform
  const webhookUrl = `https://teams.example/${SECRET}`
  const draft = { name: 'audited', configuration: { type: 'MICROSOFT_TEAMS', webhookUrl, channelName: 'ours' } }
  const service = services.declared.of(notificationTargets)
  await service.saveByUser(tenant, draft)
  await assert.rejects(service.saveByUser(tenant, draft))
  await assertMasked('NOTIFICATION_TARGET', 2)
})

test('devices of SNMP, and what devices present', async () => {
  const { services, tenant, tenantId } = platform
  const deviceData = { transportConfiguration: { type: 'SNMP', community: SECRET } }
  const draft = { name: 'switches', type: 'DEFAULT', transportType: 'SNMP', provisionType: 'DISABLED' } as const
  const { id: deviceProfileId } = await services.declared.of(deviceProfiles).saveByUser(tenant, draft)
  const { id } = await services.devices.saveByUser(tenant, { name: 'audited', deviceProfileId, deviceData })
  await assertMasked('DEVICE', 1)
  const before = await services.devices.credentials(tenantId, id)
  assert.ok(before)
  const change = (members: object) =>
    services.devices.saveCredentialsByUser(tenant, { ...before, version: undefined, ...members })
  const basic = JSON.stringify({ clientId: 'c', userName: 'u', password: SECRET })
  await change({ credentialsType: 'MQTT_BASIC', credentialsValue: basic })
  await assertMasked('DEVICE', 2)
  const { id: there } = await services.tenants.saveByUser(platform.systemAdministrator, { title: 'There' })
  await services.declared.of(deviceProfiles).saveByUser({ ...tenant, tenantId: there }, draft)
  await services.deviceMove.moveByUser(tenant, id, there)
  await assertMasked('DEVICE', 3)
})

test('rule chains, whose rows show their graphs', async () => {
  const { services, tenant } = platform
  const chain = await services.ruleChains.saveByUser(tenant, { name: 'audited' })
  const configuration = { host: 'broker', credentials: { type: 'basic', username: 'u', password: SECRET } }
  const node = { type: 'test.Publisher', name: 'publish', configuration }
  const graph = { ruleChainId: chain.id, firstNodeIndex: 0, nodes: [node], connections: [] }
  const saved = await services.ruleChains.saveGraphByUser(tenant, graph)
  const [data = ''] = (await rowsOf('RULE_CHAIN')).filter((row) => row.includes('"metadata"'))
  assert.ok(!/hunter2|sealed:/.test(data) && data.includes(SECRET_MASK), data)
  const { entity, metadata } = membersOf(parseJson(data))
  assert.equal(membersOf(entity)['name'], 'audited')
  assert.deepEqual([membersOf(metadata)['version'], membersOf(metadata)['firstNodeIndex']], [saved.version, 0])
  assert.match(data, /"name":"publish"/)
  // One that is longer than a row leaves the row what it was.
  const long = { ...graph, nodes: [{ ...node, additionalInfo: { description: 'x'.repeat(20_000) } }] }
  await services.ruleChains.saveGraphByUser(tenant, long)
  assert.ok((await rowsOf('RULE_CHAIN')).some((row) => /"name":"audited".*"omittedCharacters":2\d{4}/.test(row)))
})

function membersOf(value: JsonValue | undefined) {
  assert.ok(isJsonObject(value))
  return value
}
