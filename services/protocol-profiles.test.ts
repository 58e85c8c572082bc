import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DeviceIdentity } from '../engine/device/gateway.ts'
import { deviceProfiles } from './entities/device-profile.ts'
import { openTestPlatform, type TestPlatform } from './testkit.ts'

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
})
