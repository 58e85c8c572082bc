/**
 * What the profiles of devices say of their protocol, as sessions get it with the identity of the device: read with the credentials, and one
 * object a profile as long as the profile stays what it is.
 */
import { z } from 'zod'
import { isJsonObject, stringifyJson } from '../../model/json.ts'
import { ByteCache, textBytes } from '../../model/byte-cache.ts'
import type { DeviceIdentity } from '../../engine/device/gateway.ts'
import { STANDARD_MQTT, type MqttProfile } from '../../engine/device/mqtt-profile.ts'
import type { DevicePayloads, PayloadSchema } from '../../engine/device/payload-schemas.ts'
import { deviceProfiles, type DeviceProfile } from '../entities/device-profile.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { compilePayloadSchema } from '../entities/payload-schemas.ts'

interface Read {
  /** Undefined where it is the standard. */
  readonly said: Said | undefined
  /** Of what it was made of, about. */
  readonly bytes: number
}

interface Known extends Read {
  readonly version: number
}

type Said = Pick<DeviceIdentity, 'mqtt' | 'lwm2m' | 'payloads'>

const MAX_BYTES = 4 << 20
const KNOWN_BYTES = 200
/** What an object takes beside its text, about. */
const PARSED_FACTOR = 4
/** What a table takes for a byte of its schema, about. */
const TABLE_BYTES = 20

/** What is missing, empty or of another type is the standard, as an import may have it. */
const topic = z.string().min(1).nullish().catch(null)
const flag = z.boolean().nullish().catch(null)
const payloadConfiguration = z
  .object({
    transportPayloadType: topic,
    deviceTelemetryProtoSchema: topic,
    deviceAttributesProtoSchema: topic,
    deviceRpcRequestProtoSchema: topic,
    deviceRpcResponseProtoSchema: topic,
    enableCompatibilityWithJsonPayloadFormat: flag,
    useJsonPayloadFormatForDefaultDownlinkTopics: flag,
  })
  .nullish()
  .catch(null)
const stored = z.object({
  transportConfiguration: z
    .object({
      transportPayloadTypeConfiguration: payloadConfiguration,
      coapDeviceTypeConfiguration: z
        .object({ transportPayloadTypeConfiguration: payloadConfiguration })
        .nullish()
        .catch(null),
      deviceTelemetryTopic: topic,
      deviceAttributesTopic: topic,
      deviceAttributesSubscribeTopic: topic,
      sendAckOnValidationException: flag,
      sparkplug: flag,
      sparkplugAttributesMetricNames: z.array(z.string()).nullish().catch(null),
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
      if (transportType !== 'MQTT' && transportType !== 'COAP' && transportType !== 'LWM2M') continue
      const ids = wanted.get(tenantId)
      if (ids === undefined) wanted.set(tenantId, new Set([deviceProfileId]))
      else ids.add(deviceProfileId)
    }
    if (wanted.size === 0) return found
    const own = new Map<string, Said>()
    for (const [tenantId, ids] of wanted) {
      for (const record of await this.declared.of(deviceProfiles).findByIds(tenantId, [...ids])) {
        const said = await this.saidBy(record)
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

  private async saidBy({ id, version, transportType, profileData }: DeviceProfile): Promise<Said | undefined> {
    const known = this.known.get(id)
    if (known?.version === version) return known.said
    const { said, bytes } =
      transportType === 'LWM2M' ? ofLwm2m(profileData) : await ofPayloads(transportType, profileData)
    // Two at once may have compiled it: the first one stays, so that all devices have the same.
    const meanwhile = this.known.get(id)
    if (meanwhile?.version === version) return meanwhile.said
    this.known.set(id, { version, said, bytes: KNOWN_BYTES + bytes })
    return said
  }
}

function ofLwm2m(data: DeviceProfile['profileData']): Read {
  const lwm2m = data?.['transportConfiguration']
  if (lwm2m === undefined || !isJsonObject(lwm2m)) return { said: undefined, bytes: 0 }
  return { said: { lwm2m }, bytes: PARSED_FACTOR * textBytes(stringifyJson(lwm2m)) }
}

async function ofPayloads(transportType: string | undefined, data: DeviceProfile['profileData']): Promise<Read> {
  const { transportConfiguration } = stored.parse(data ?? {})
  const mqtt = transportType === 'MQTT' ? mqttProfileOf(transportConfiguration) : undefined
  const configuration =
    transportType === 'MQTT'
      ? transportConfiguration.transportPayloadTypeConfiguration
      : transportConfiguration.coapDeviceTypeConfiguration?.transportPayloadTypeConfiguration
  const payloads = await payloadsOf(configuration)
  if (mqtt === undefined && payloads === undefined) return { said: undefined, bytes: 0 }
  return {
    said: { ...(mqtt === undefined ? {} : { mqtt }), ...(payloads === undefined ? {} : { payloads }) },
    bytes: bytesOf(mqtt, configuration),
  }
}

type Stored = z.infer<typeof stored>['transportConfiguration']
type StoredPayloads = z.infer<typeof payloadConfiguration>

function mqttProfileOf(transportConfiguration: Stored): MqttProfile | undefined {
  const profile: MqttProfile = {
    telemetryTopic: transportConfiguration.deviceTelemetryTopic ?? STANDARD_MQTT.telemetryTopic,
    attributesTopic: transportConfiguration.deviceAttributesTopic ?? STANDARD_MQTT.attributesTopic,
    attributesSubscribeTopic:
      transportConfiguration.deviceAttributesSubscribeTopic ?? STANDARD_MQTT.attributesSubscribeTopic,
    acknowledgesUndecodable: transportConfiguration.sendAckOnValidationException ?? false,
    ...(transportConfiguration.sparkplug === true
      ? { sparkplug: { attributesMetricNames: transportConfiguration.sparkplugAttributesMetricNames ?? [] } }
      : {}),
  }
  const isStandard =
    profile.telemetryTopic === STANDARD_MQTT.telemetryTopic &&
    profile.attributesTopic === STANDARD_MQTT.attributesTopic &&
    profile.attributesSubscribeTopic === STANDARD_MQTT.attributesSubscribeTopic &&
    !profile.acknowledgesUndecodable &&
    profile.sparkplug === undefined
  return isStandard ? undefined : profile
}

const DEFAULT_CALL =
  'syntax = "proto3"; message RpcRequestMsg { optional string method = 1; optional int32 requestId = 2; optional string params = 3; }'
const DEFAULT_CALL_ANSWER = 'syntax = "proto3"; message RpcResponseMsg { optional string payload = 1; }'

/** Undefined where payloads are JSON. */
async function payloadsOf(configuration: StoredPayloads | undefined): Promise<DevicePayloads | undefined> {
  if (configuration?.transportPayloadType !== 'PROTOBUF') return undefined
  const readsJson = configuration.enableCompatibilityWithJsonPayloadFormat ?? false
  return {
    telemetry: await schemaOf(configuration.deviceTelemetryProtoSchema),
    attributes: await schemaOf(configuration.deviceAttributesProtoSchema),
    call: await schemaOf(configuration.deviceRpcRequestProtoSchema ?? DEFAULT_CALL),
    callAnswer: await schemaOf(configuration.deviceRpcResponseProtoSchema ?? DEFAULT_CALL_ANSWER),
    readsJson,
    writesJsonByDefault: readsJson && (configuration.useJsonPayloadFormatForDefaultDownlinkTopics ?? false),
  }
}

/** One that is none came past the check of a save, with an import: its devices' payloads cannot be decoded, their credentials still count. */
async function schemaOf(text: string | null | undefined): Promise<PayloadSchema | undefined> {
  if (text === null || text === undefined) return undefined
  try {
    return await compilePayloadSchema(text)
  } catch {
    return undefined
  }
}

function bytesOf(mqtt: MqttProfile | undefined, configuration: StoredPayloads | undefined): number {
  const topics =
    mqtt === undefined
      ? []
      : [
          ...[mqtt.telemetryTopic, mqtt.attributesTopic, mqtt.attributesSubscribeTopic],
          ...(mqtt.sparkplug?.attributesMetricNames ?? []),
        ]
  const texts = Object.values(configuration ?? {}).map((text) =>
    typeof text === 'string' ? TABLE_BYTES * textBytes(text) : 0,
  )
  return topics.reduce((sum, text) => sum + textBytes(text), 0) + texts.reduce((sum, bytes) => sum + bytes, 0)
}
