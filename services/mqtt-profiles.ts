/**
 * What the profiles of devices say of MQTT, as sessions get it with the identity of the device: read with the credentials, and one object a
 * profile as long as the profile stays what it is.
 */
import { z } from 'zod'
import { ByteCache, textBytes } from '../model/byte-cache.ts'
import type { DeviceIdentity } from '../engine/device/gateway.ts'
import { STANDARD_MQTT, type MqttProfile } from '../engine/device/mqtt-profile.ts'
import { deviceProfiles, type DeviceProfile } from './entities/device-profile.ts'
import type { EntityRegistry } from './entities/entity-registry.ts'

interface Known {
  readonly version: number
  /** Undefined where it is the standard. */
  readonly profile: MqttProfile | undefined
}

const MAX_BYTES = 4 << 20
const KNOWN_BYTES = 200

/** What is missing, empty or of another type is the standard, as an import may have it. */
const topic = z.string().min(1).nullish().catch(null)
const stored = z.object({
  transportConfiguration: z
    .object({
      deviceTelemetryTopic: topic,
      deviceAttributesTopic: topic,
      deviceAttributesSubscribeTopic: topic,
      sendAckOnValidationException: z.boolean().nullish().catch(null),
    })
    .catch({}),
})

export class MqttProfiles {
  private readonly declared: EntityRegistry
  private readonly known = new ByteCache<Known>({ maxBytes: MAX_BYTES, sizeOf: bytesOf })

  constructor(declared: EntityRegistry) {
    this.declared = declared
  }

  /** The same devices; those whose profile says something of its own, with it. */
  async completed(found: ReadonlyMap<string, DeviceIdentity>): Promise<ReadonlyMap<string, DeviceIdentity>> {
    const wanted = new Map<string, Set<string>>()
    for (const { tenantId, transportType, deviceProfileId } of found.values()) {
      if (transportType !== 'MQTT') continue
      const ids = wanted.get(tenantId)
      if (ids === undefined) wanted.set(tenantId, new Set([deviceProfileId]))
      else ids.add(deviceProfileId)
    }
    if (wanted.size === 0) return found
    const own = new Map<string, MqttProfile>()
    for (const [tenantId, ids] of wanted) {
      for (const record of await this.declared.of(deviceProfiles).findByIds(tenantId, [...ids])) {
        const profile = this.profileOf(record)
        if (profile !== undefined) own.set(record.id, profile)
      }
    }
    if (own.size === 0) return found
    return new Map(
      [...found].map(([key, device]): [string, DeviceIdentity] => {
        const mqtt = own.get(device.deviceProfileId)
        return [key, mqtt === undefined ? device : { ...device, mqtt }]
      }),
    )
  }

  private profileOf({ id, version, profileData }: DeviceProfile): MqttProfile | undefined {
    const known = this.known.get(id)
    if (known?.version === version) return known.profile
    const profile = mqttProfileOf(profileData)
    this.known.set(id, { version, profile })
    return profile
  }
}

function mqttProfileOf(data: DeviceProfile['profileData']): MqttProfile | undefined {
  const { transportConfiguration } = stored.parse(data ?? {})
  const profile: MqttProfile = {
    telemetryTopic: transportConfiguration.deviceTelemetryTopic ?? STANDARD_MQTT.telemetryTopic,
    attributesTopic: transportConfiguration.deviceAttributesTopic ?? STANDARD_MQTT.attributesTopic,
    attributesSubscribeTopic:
      transportConfiguration.deviceAttributesSubscribeTopic ?? STANDARD_MQTT.attributesSubscribeTopic,
    acknowledgesUndecodable: transportConfiguration.sendAckOnValidationException ?? false,
  }
  const isStandard =
    profile.telemetryTopic === STANDARD_MQTT.telemetryTopic &&
    profile.attributesTopic === STANDARD_MQTT.attributesTopic &&
    profile.attributesSubscribeTopic === STANDARD_MQTT.attributesSubscribeTopic &&
    !profile.acknowledgesUndecodable
  return isStandard ? undefined : profile
}

function bytesOf({ profile }: Known): number {
  if (profile === undefined) return KNOWN_BYTES
  const { telemetryTopic, attributesTopic, attributesSubscribeTopic } = profile
  return KNOWN_BYTES + textBytes(telemetryTopic) + textBytes(attributesTopic) + textBytes(attributesSubscribeTopic)
}
