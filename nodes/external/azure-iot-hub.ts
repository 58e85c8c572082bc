/** Publishes each message to Azure IoT Hub, which speaks MQTT with tokens of its own (`rule-nodes.md` 68). */
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { hostOf, MQTT_VERSIONS, mqttMembers, publisher } from './mqtt.ts'
import { certificatesOf, checkCredentials } from './outcome.ts'

const NAME = 'azure iot hub'
const PORT = 8883
const API_VERSION = '2021-04-12'
/** Each connection makes its own token. */
const TOKEN_LIFETIME_SECONDS = 3600

export const azureIotHub = defineNode({
  type: 'org.thingsboard.rule.engine.mqtt.azure.TbAzureIotHubNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description: 'Publishes the body as a device of an Azure IoT Hub, at QoS 1.',
  triedWith: 'mosquitto for the protocol, and the documented form of its user names and tokens; not with the service',
  configurationVersion: 1,
  configuration: z.looseObject(mqttMembers),
  editor: { clustering: 'SINGLETON' },
  defaults: {
    topicPattern: 'devices/<device_id>/messages/events/',
    host: '<iot-hub-name>.azure-devices.net',
    port: PORT,
    connectTimeoutSec: 10,
    clientId: null,
    appendClientIdSuffix: false,
    retainedMessage: false,
    cleanSession: true,
    ssl: true,
    parseToPlainText: false,
    protocolVersion: 'MQTT_3_1_1',
    credentials: { type: 'sas', sasKey: null, caCert: null },
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  upgrade: (before, fromVersion): JsonObject =>
    fromVersion < 1 ? { protocolVersion: 'MQTT_3_1_1', ...before } : before,
  create: (config, context) => {
    const credentials = config.credentials ?? { type: 'sas' }
    checkCredentials(NAME, credentials, ['sas', 'cert.PEM'])
    const { clientId } = config
    const refused = (field: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason: 'is missing' })
    if (!clientId) throw refused('clientId')
    const host = hostOf(NAME, config)
    const certificates = certificatesOf(credentials)
    const key = credentials.sasKey ?? ''
    if (credentials.type === 'sas' && key === '') throw refused('credentials.sasKey')
    return publisher(config, context, {
      ...{ host, port: PORT, version: MQTT_VERSIONS[config.protocolVersion], clientId, cleanSession: true, tls: true },
      connectTimeoutMs: config.connectTimeoutSec * 1000,
      username: `${host}/${clientId}/?api-version=${API_VERSION}`,
      ...(certificates === undefined ? {} : { certificates }),
      ...(credentials.type === 'sas' ? { password: (now: number) => sasToken(host, key, now), secret: key } : {}),
    })
  },
})

/** "Control access to IoT Hub by using Shared Access Signatures": the resource and its end, signed. */
export function sasToken(host: string, key: string, now: number): string {
  const resource = encodeURIComponent(host.toLowerCase())
  const end = Math.floor(now / 1000) + TOKEN_LIFETIME_SECONDS
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(`${resource}\n${end}`).digest('base64')
  return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${end}`
}
