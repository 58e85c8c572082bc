/** The part of a device profile that its transport type shapes: defaults as the reference fills them in (`rest-api.md` 5.4), and checks. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { DeviceErrors } from './device-errors.ts'
import { compilePayloadSchema } from './payload-schemas.ts'

export const TRANSPORT_TYPES = ['DEFAULT', 'MQTT', 'COAP', 'LWM2M', 'SNMP'] as const
export type TransportType = (typeof TRANSPORT_TYPES)[number]

export const PROVISION_TYPES = [
  'DISABLED',
  'ALLOW_CREATE_NEW_DEVICES',
  'CHECK_PRE_PROVISIONED_DEVICES',
  'X509_CERTIFICATE_CHAIN',
] as const

const JSON_PAYLOAD = { transportPayloadType: 'JSON' }

const TRANSPORT_DEFAULTS: Readonly<Record<TransportType, JsonObject>> = {
  DEFAULT: {},
  MQTT: {
    deviceTelemetryTopic: 'v1/devices/me/telemetry',
    deviceAttributesTopic: 'v1/devices/me/attributes',
    deviceAttributesSubscribeTopic: 'v1/devices/me/attributes',
    sparkplug: false,
    sparkplugAttributesMetricNames: null,
    sendAckOnValidationException: false,
    transportPayloadTypeConfiguration: JSON_PAYLOAD,
  },
  COAP: {
    coapDeviceTypeConfiguration: { coapDeviceType: 'DEFAULT', transportPayloadTypeConfiguration: JSON_PAYLOAD },
    clientSettings: null,
  },
  LWM2M: {},
  SNMP: {},
}

/** What a save means by the data it sent; with none it is that of a new profile. */
export function profileDataOf(sent: JsonObject | null, transportType: TransportType): JsonObject {
  const data: JsonObject = sent ?? { provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null } }
  const transport = data['transportConfiguration']
  return {
    ...data,
    configuration: data['configuration'] ?? { type: 'DEFAULT' },
    transportConfiguration: {
      ...TRANSPORT_DEFAULTS[transportType],
      ...(isJsonObject(transport) && transport['type'] === transportType ? transport : {}),
      type: transportType,
    },
    provisionConfiguration: data['provisionConfiguration'] ?? null,
    alarms: data['alarms'] ?? null,
  }
}

/** Of a profile that nobody filled in: a client of LwM2M is registered by it, and nothing of it is observed. */
export function newProfileData(transportType: TransportType): JsonObject {
  if (transportType !== 'LWM2M') return profileDataOf(null, transportType)
  return profileDataOf(
    {
      provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
      transportConfiguration: {
        type: 'LWM2M',
        observeAttr: { observe: [], attribute: [], telemetry: [], keyName: {}, attributeLwm2m: {} },
        bootstrap: [],
        clientLwM2mSettings: {
          clientOnlyObserveAfterConnect: 1,
          fwUpdateStrategy: 1,
          swUpdateStrategy: 1,
          powerMode: 'DRX',
          defaultObjectIDVer: '1.0',
        },
      },
    },
    transportType,
  )
}

/** Of those metrics of Sparkplug that are attributes. */
const MAX_METRIC_NAMES = 1000
const MAX_METRIC_NAME = 1024

/** Throws `PROFILE_SPARKPLUG`. */
export function checkSparkplug(data: JsonObject): void {
  const { sparkplug, sparkplugAttributesMetricNames: names } = objectIn(data, 'transportConfiguration')
  if (sparkplug !== undefined && sparkplug !== null && typeof sparkplug !== 'boolean')
    throw DeviceErrors.PROFILE_SPARKPLUG({ member: 'sparkplug', allowed: 'true or false' })
  if (names === undefined || names === null) return
  const isName = (name: JsonValue): boolean =>
    typeof name === 'string' && name !== '' && name.length <= MAX_METRIC_NAME && !name.includes('\u0000')
  if (Array.isArray(names) && names.length <= MAX_METRIC_NAMES && names.every(isName)) return
  const allowed = `a list of at most ${MAX_METRIC_NAMES} names of up to ${MAX_METRIC_NAME} characters`
  throw DeviceErrors.PROFILE_SPARKPLUG({ member: 'sparkplugAttributesMetricNames', allowed })
}

const SCHEMAS: Readonly<Record<string, string>> = {
  deviceTelemetryProtoSchema: 'telemetry proto schema',
  deviceAttributesProtoSchema: 'attributes proto schema',
  deviceRpcRequestProtoSchema: 'rpc request proto schema',
  deviceRpcResponseProtoSchema: 'rpc response proto schema',
}

/** Throws `PROFILE_SCHEMA` where a schema of Protobuf payloads is none. */
export async function checkPayloadSchemas(data: JsonObject): Promise<void> {
  const transport = objectIn(data, 'transportConfiguration')
  const payload = objectIn(transport, 'transportPayloadTypeConfiguration')
  const ofCoap = objectIn(objectIn(transport, 'coapDeviceTypeConfiguration'), 'transportPayloadTypeConfiguration')
  for (const configuration of [payload, ofCoap]) {
    if (configuration['transportPayloadType'] !== 'PROTOBUF') continue
    for (const [member, property] of Object.entries(SCHEMAS)) {
      const schema = configuration[member]
      if (typeof schema === 'string' && schema !== '') await checkSchema(schema, property)
    }
  }
}

async function checkSchema(schema: string, property: string): Promise<void> {
  try {
    await compilePayloadSchema(schema)
  } catch (error) {
    throw DeviceErrors.PROFILE_SCHEMA({ property, reason: error instanceof Error ? error.message : String(error) })
  }
}

function objectIn(object: JsonObject, member: string): JsonObject {
  const value: JsonValue | undefined = object[member]
  return value !== undefined && isJsonObject(value) ? value : {}
}
