import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DeviceIdentity } from '../../engine/device/gateway.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const KIND = { type: 'DEFAULT', transportType: 'MQTT' } as const

describe('what profiles say of MQTT', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  const found = async (...tokens: readonly string[]): Promise<(DeviceIdentity | undefined)[]> => {
    const known = await platform.services.devices.findByCredentials(tokens)
    return tokens.map((token) => known.get(token))
  }

  test('comes with their devices as one object, and as another when the profile has changed', async () => {
    const { services, tenant } = platform
    const profiles = services.declared.of(deviceProfiles)
    const data = (members: Record<string, string | boolean>) => ({
      ...{ configuration: { type: 'DEFAULT' }, alarms: null },
      provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
      transportConfiguration: { type: 'MQTT', ...members },
    })
    const own = await profiles.saveByUser(tenant, {
      ...{ ...KIND, name: 'own topics' },
      profileData: data({ deviceTelemetryTopic: 'plant/+/t', sendAckOnValidationException: true }),
    })
    await profiles.saveByUser(tenant, { ...KIND, name: 'standard topics' })
    await services.devices.saveByUser(tenant, { name: 'm1', type: 'own topics' }, 'M1')
    await services.devices.saveByUser(tenant, { name: 'm2', type: 'own topics' }, 'M2')
    await services.devices.saveByUser(tenant, { name: 'm3', type: 'standard topics' }, 'M3')
    const [first, second, standard] = await found('M1', 'M2', 'M3')
    assert.deepEqual(first?.mqtt, {
      telemetryTopic: 'plant/+/t',
      attributesTopic: 'v1/devices/me/attributes',
      attributesSubscribeTopic: 'v1/devices/me/attributes',
      acknowledgesUndecodable: true,
    })
    assert.equal(second?.mqtt, first.mqtt)
    assert.equal((await found('M2'))[0]?.mqtt, first.mqtt)
    assert.ok(standard !== undefined && !('mqtt' in standard))
    await profiles.saveByUser(tenant, {
      ...{ ...KIND, id: own.id, name: 'own topics' },
      profileData: data({ deviceTelemetryTopic: 'other' }),
    })
    assert.deepEqual((await found('M1'))[0]?.mqtt, {
      ...{ ...first.mqtt, telemetryTopic: 'other' },
      acknowledgesUndecodable: false,
    })
  })

  test('says that devices are edge nodes of Sparkplug, and is checked when it is saved', async () => {
    const { services, tenant } = platform
    const profiles = services.declared.of(deviceProfiles)
    const draft = (members: object) => ({
      ...{ ...KIND, name: 'edge nodes' },
      profileData: {
        ...{ configuration: { type: 'DEFAULT' }, alarms: null },
        provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
        transportConfiguration: { type: 'MQTT', ...members },
      },
    })
    const wrong = [
      { sparkplug: 'yes' },
      { sparkplug: true, sparkplugAttributesMetricNames: 'a' },
      { sparkplug: true, sparkplugAttributesMetricNames: [1] },
      { sparkplug: true, sparkplugAttributesMetricNames: [''] },
      { sparkplug: true, sparkplugAttributesMetricNames: ['x'.repeat(1025)] },
      { sparkplug: true, sparkplugAttributesMetricNames: Array.from({ length: 1001 }, () => 'a') },
    ]
    for (const members of wrong)
      await assert.rejects(profiles.saveByUser(tenant, draft(members)), { code: 'device.PROFILE_SPARKPLUG' })
    const own = await profiles.saveByUser(tenant, draft({ sparkplug: true, sparkplugAttributesMetricNames: ['a/*'] }))
    await services.devices.saveByUser(tenant, { name: 'n1', type: 'edge nodes' }, 'N1')
    assert.deepEqual((await found('N1'))[0]?.mqtt?.sparkplug, { attributesMetricNames: ['a/*'] })
    await profiles.saveByUser(tenant, { ...draft({ sparkplug: false }), id: own.id })
    assert.ok(!('mqtt' in ((await found('N1'))[0] ?? {})))
  })

  test('has schemas of payloads, compiled once, other ones when the profile has changed, and none that can not be used', async () => {
    const { services, tenant } = platform
    const profiles = services.declared.of(deviceProfiles)
    const data = (deviceTelemetryProtoSchema: string) => ({
      ...{ configuration: { type: 'DEFAULT' }, alarms: null },
      provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
      transportConfiguration: {
        type: 'MQTT',
        transportPayloadTypeConfiguration: {
          ...{ transportPayloadType: 'PROTOBUF', deviceTelemetryProtoSchema },
          ...{ enableCompatibilityWithJsonPayloadFormat: false, useJsonPayloadFormatForDefaultDownlinkTopics: true },
        },
      },
    })
    const schema = (field: string) => `syntax = "proto3";\nmessage Values {\n  optional int32 ${field} = 1;\n}`
    const own = await profiles.saveByUser(tenant, { ...KIND, name: 'own schemas', profileData: data(schema('a')) })
    await services.devices.saveByUser(tenant, { name: 'p1', type: 'own schemas' }, 'P1')
    await services.devices.saveByUser(tenant, { name: 'p2', type: 'own schemas' }, 'P2')
    const [first, second] = await found('P1', 'P2')
    const fields = (device: DeviceIdentity | undefined) => device?.payloads?.telemetry?.types[0]?.get(1)?.key
    assert.equal(fields(first), 'a')
    assert.equal(second?.payloads, first?.payloads)
    // Needs that JSON is taken too (`device-api.md` 5.3).
    assert.deepEqual([first?.payloads?.readsJson, first?.payloads?.writesJsonByDefault], [false, false])
    const changed = (text: string) =>
      profiles.saveByUser(tenant, { ...{ ...KIND, id: own.id, name: 'own schemas' }, profileData: data(text) })
    await assert.rejects(changed(schema('= b')), {
      code: 'device.PROFILE_SCHEMA',
      message: /telemetry proto schema.*line 3/,
    })
    await assert.rejects(changed(`${schema('b')}// ${'x'.repeat(40_000)}`), { code: 'device.PROFILE_SCHEMA' })
    assert.equal(fields((await found('P1'))[0]), 'a')
    await changed(schema('b'))
    assert.equal(fields((await found('P1'))[0]), 'b')
  })
})
