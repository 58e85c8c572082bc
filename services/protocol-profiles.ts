/**
 * What the profiles of devices say of their protocol, as sessions get it with the identity of the device: read with the credentials, and one
 * object a profile as long as the profile stays what it is.
 */
import { z } from 'zod'
import { isJsonObject, stringifyJson } from '../model/json.ts'
import { ByteCache, textBytes } from '../model/byte-cache.ts'
import type { DeviceIdentity } from '../engine/device/gateway.ts'
import { STANDARD_MQTT, type MqttProfile } from '../engine/device/mqtt-profile.ts'
import { deviceProfiles, type DeviceProfile } from './entities/device-profile.ts'
import type { EntityRegistry } from './entities/entity-registry.ts'

interface Known {
  readonly version: number
  /** Undefined where it is the standard. */
  readonly said: Said | undefined
  readonly bytes: number
}

type Said = Pick<DeviceIdentity, 'mqtt' | 'lwm2m'>

const MAX_BYTES = 4 << 20
const KNOWN_BYTES = 200
/** What an object takes beside its text, about. */
const PARSED_FACTOR = 4

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

export class ProtocolProfiles {
  private readonly declared: EntityRegistry
  private readonly known = new ByteCache<Known>({ maxBytes: MAX_BYTES, sizeOf: ({ bytes }) => bytes })

  constructor(declared: EntityRegistry) {
    this.declared = declared
  }

  /** The same devices; those whose profile says something of its own, with it. */
  async completed(found: ReadonlyMap<string, DeviceIdentity>): Promise<ReadonlyMap<string, DeviceIdentity>> {
    const wanted = new Map<string, Set<string>>()
    for (const { tenantId, transportType, deviceProfileId } of found.values()) {
      if (transportType !== 'MQTT' && transportType !== 'LWM2M') continue
      const ids = wanted.get(tenantId)
      if (ids === undefined) wanted.set(tenantId, new Set([deviceProfileId]))
      else ids.add(deviceProfileId)
    }
    if (wanted.size === 0) return found
    const own = new Map<string, Said>()
    for (const [tenantId, ids] of wanted) {
      for (const record of await this.declared.of(deviceProfiles).findByIds(tenantId, [...ids])) {
        const said = this.saidBy(record)
        if (said !== undefined) own.set(record.id, said)
      }
    }
    if (own.size === 0) return found
    return new Map(
      [...found].map(([key, device]): [string, DeviceIdentity] => {
        const said = own.get(device.deviceProfileId)
        return [key, said === undefined ? device : { ...device, ...said }]
      }),
    )
  }

  private saidBy({ id, version, transportType, profileData }: DeviceProfile): Said | undefined {
    const known = this.known.get(id)
    if (known?.version === version) return known.said
    const { said, bytes } = transportType === 'LWM2M' ? ofLwm2m(profileData) : ofMqtt(profileData)
    this.known.set(id, { version, said, bytes: KNOWN_BYTES + bytes })
    return said
  }
}

interface Read {
  readonly said: Said | undefined
  readonly bytes: number
}

function ofLwm2m(data: DeviceProfile['profileData']): Read {
  const lwm2m = data?.['transportConfiguration']
  if (lwm2m === undefined || !isJsonObject(lwm2m)) return { said: undefined, bytes: 0 }
  return { said: { lwm2m }, bytes: PARSED_FACTOR * textBytes(stringifyJson(lwm2m)) }
}

function ofMqtt(data: DeviceProfile['profileData']): Read {
  const mqtt = mqttProfileOf(data)
  if (mqtt === undefined) return { said: undefined, bytes: 0 }
  const { telemetryTopic, attributesTopic, attributesSubscribeTopic } = mqtt
  return {
    said: { mqtt },
    bytes: textBytes(telemetryTopic) + textBytes(attributesTopic) + textBytes(attributesSubscribeTopic),
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
