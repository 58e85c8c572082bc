/** Publishes each message to an MQTT broker (`rule-nodes.md` 67). */
import { z } from 'zod'
import type { MqttTarget } from '../../engine/rulechain/capabilities/outbound.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { JsonObject } from '../../model/json.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import {
  bytesOf,
  callingNode,
  certificatesOf,
  checkCredentials,
  credentialsSchema,
  made,
  plainText,
  success,
  type Credentials,
} from './outcome.ts'

const NAME = 'mqtt'
export const MQTT_VERSIONS = { MQTT_3_1: 3, MQTT_3_1_1: 4, MQTT_5: 5 } as const

export const mqttMembers = {
  topicPattern: z.string().min(1).meta({ title: 'Topic', description: 'May hold ${metadata} and $[data].' }),
  host: z.string().nullish().meta({ title: 'Host', description: 'Of the broker.' }),
  port: orZero(z.int().min(1).max(65_535), 1883).meta({ title: 'Port', description: 'Of the broker.' }),
  connectTimeoutSec: orZero(z.int().min(1).max(200), 10).meta({
    title: 'Connection timeout',
    description: 'In seconds.',
  }),
  clientId: z.string().nullish().meta({ title: 'Client id', description: 'Empty: a random one.' }),
  appendClientIdSuffix: orZero(z.boolean(), false).meta({
    title: 'Process in the id',
    description: 'Adds the name of the process to the client id, so that several may connect.',
  }),
  retainedMessage: orZero(z.boolean(), false).meta({ title: 'Retained', description: 'The broker keeps the last.' }),
  cleanSession: orZero(z.boolean(), false).meta({ title: 'Clean session', description: 'Of MQTT.' }),
  ssl: orZero(z.boolean(), false).meta({ title: 'TLS', description: 'The connection is sealed.' }),
  parseToPlainText: orZero(z.boolean(), false).meta({
    title: 'Plain text',
    description: 'A JSON string is sent without its quotes.',
  }),
  protocolVersion: orZero(z.enum(['MQTT_3_1', 'MQTT_3_1_1', 'MQTT_5']), 'MQTT_3_1_1').meta({
    title: 'Protocol',
    description: 'MQTT_3_1, MQTT_3_1_1 or MQTT_5.',
  }),
  credentials: credentialsSchema,
}
const configuration = z.looseObject(mqttMembers)
export type MqttConfiguration = z.output<typeof configuration>

export const mqtt = defineNode({
  type: 'org.thingsboard.rule.engine.mqtt.TbMqttNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Publishes the body at QoS 1; Success when the broker confirms it. Messages fail while there is no connection.',
  triedWith: 'mosquitto',
  configurationVersion: 2,
  configuration,
  editor: { clustering: 'USER_PREFERENCE' },
  defaults: {
    topicPattern: 'my-topic',
    host: null,
    port: 1883,
    connectTimeoutSec: 10,
    clientId: null,
    appendClientIdSuffix: false,
    retainedMessage: false,
    cleanSession: true,
    ssl: false,
    parseToPlainText: false,
    protocolVersion: 'MQTT_3_1_1',
    credentials: { type: 'anonymous' },
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  upgrade: (before, fromVersion): JsonObject => {
    const plain = fromVersion < 1 ? { parseToPlainText: false } : {}
    const version = fromVersion < 2 ? { protocolVersion: 'MQTT_3_1' } : {}
    return { ...plain, ...version, ...before }
  },
  create: (config, context) => {
    const credentials = config.credentials ?? { type: 'anonymous' }
    checkCredentials(NAME, credentials, ['anonymous', 'basic', 'cert.PEM'])
    return publisher(config, context, targetOf(config, credentials, context))
  },
})

function targetOf(config: MqttConfiguration, credentials: Credentials, context: NodeContext<'outbound'>): MqttTarget {
  const { username, password } = credentials
  const certificates = certificatesOf(credentials)
  return {
    host: hostOf(NAME, config),
    port: config.port,
    version: MQTT_VERSIONS[config.protocolVersion],
    clientId: clientIdOf(NAME, config, context),
    cleanSession: config.cleanSession,
    connectTimeoutMs: config.connectTimeoutSec * 1000,
    tls: config.ssl,
    ...(certificates === undefined ? {} : { certificates }),
    ...(credentials.type === 'basic'
      ? { username: username ?? '', password: () => password ?? '', secret: password ?? '' }
      : {}),
  }
}

/** Connects at once, so that a broker that is away is seen at the start. */
export async function publisher(
  config: MqttConfiguration,
  { services: { outbound } }: NodeContext<'outbound'>,
  target: MqttTarget,
) {
  const topicOf = pattern(config.topicPattern)
  const client = await made(outbound.open('mqtt', target))
  return callingNode(outbound, client, async (message) => {
    const payload = config.parseToPlainText ? plainText(message.data) : message.data
    const topic = topicOf(message)
    checkTopic(topic)
    const publication = { topic, payload, retain: config.retainedMessage }
    await client.call(publication, bytesOf(publication.topic, payload))
    return success(message)
  })
}

const LONGEST_TOPIC_BYTES = 65_535

/**
 * A broker ends the connection for such a topic, and with it what others have under way; the client would send it again with each new one (MQTT 3.1.1,
 * sections 4.7.1 and 4.7.3).
 */
function checkTopic(topic: string): void {
  const refused = (expected: string) => NodeErrors.VALUE_INVALID({ key: topic.slice(0, 100), expected })
  if (topic === '' || /[+#\0]/.test(topic)) throw refused('a topic: it is empty, or holds +, # or a null character')
  if (Buffer.byteLength(topic) > LONGEST_TOPIC_BYTES) throw refused(`a topic of at most ${LONGEST_TOPIC_BYTES} bytes`)
}

export function hostOf(node: string, { host }: Pick<MqttConfiguration, 'host'>): string {
  if (!host) throw NodeErrors.CONFIGURATION_INVALID({ node, field: 'host', reason: 'is missing' })
  return host
}

/** MQTT 3.1, section 3.1: of up to 23 characters. */
const LONGEST_ID = { MQTT_3_1: 23, MQTT_3_1_1: 256, MQTT_5: 256 } as const

export function clientIdOf(
  node: string,
  { clientId, appendClientIdSuffix, protocolVersion }: MqttConfiguration,
  { random, services }: NodeContext<'outbound'>,
): string {
  const suffix = appendClientIdSuffix ? `_${services.outbound.serviceId}` : ''
  const limit = LONGEST_ID[protocolVersion]
  if (!clientId) return random.uuid().replaceAll('-', '').slice(0, 23)
  const id = `${clientId}${suffix}`
  if (id.length > limit) {
    const reason = `'${id}' is longer than ${limit} characters`
    throw NodeErrors.CONFIGURATION_INVALID({ node, field: 'clientId', reason })
  }
  return id
}
