/** Publishes each message to an exchange of RabbitMQ (`rule-nodes.md` 71). */
import { z } from 'zod'
import type { RabbitMessage } from '../../engine/rulechain/capabilities/outbound.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { SECRET, SECRET_BY_NAME } from '../secrets.ts'
import { bytesOf, callingNode, made, success } from './outcome.ts'

const NAME = 'rabbitmq'

type Properties = Pick<RabbitMessage, 'contentType' | 'priority' | 'deliveryMode'>

/** The sets of properties that the broker's Java client has names for. */
const PROPERTIES = {
  BASIC: { contentType: 'application/octet-stream', deliveryMode: 1, priority: 0 },
  TEXT_PLAIN: { contentType: 'text/plain', deliveryMode: 1, priority: 0 },
  MINIMAL_BASIC: {},
  MINIMAL_PERSISTENT_BASIC: { deliveryMode: 2 },
  PERSISTENT_BASIC: { contentType: 'application/octet-stream', deliveryMode: 2, priority: 0 },
  PERSISTENT_TEXT_PLAIN: { contentType: 'text/plain', deliveryMode: 2, priority: 0 },
} as const satisfies Record<string, Properties>

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

const configuration = z.looseObject({
  exchangeNamePattern: text.meta({
    title: 'Exchange',
    description: 'May hold ${metadata} and $[data]. Empty: the default one, whose routing keys are names of queues.',
  }),
  routingKeyPattern: text.meta({ title: 'Routing key', description: 'May hold ${metadata} and $[data].' }),
  messageProperties: z
    .enum([
      'BASIC',
      'TEXT_PLAIN',
      'MINIMAL_BASIC',
      'MINIMAL_PERSISTENT_BASIC',
      'PERSISTENT_BASIC',
      'PERSISTENT_TEXT_PLAIN',
    ])
    .nullish()
    .meta({ title: 'Properties', description: 'PERSISTENT: the broker keeps the message on its disk.' }),
  host: z.string().nullish().meta({ title: 'Host', description: 'Of the broker.' }),
  port: orZero(z.int().min(1).max(65_535), 5672).meta({ title: 'Port', description: 'Of the broker.' }),
  virtualHost: z.string().nullish().meta({ title: 'Virtual host', description: 'Empty: the one named /.' }),
  username: text.meta({ title: 'User', description: 'Of the broker.' }),
  password: text.meta({ ...SECRET, title: 'Password', description: 'Of the user.' }),
  automaticRecoveryEnabled: orZero(z.boolean(), false).meta({
    title: 'Recovery',
    description: 'Unused: the next message renews a lost connection.',
  }),
  connectionTimeout: orZero(z.int().min(0), 0).meta({ title: 'Connection timeout', description: 'In ms.' }),
  handshakeTimeout: orZero(z.int().min(0), 0).meta({
    title: 'Handshake timeout',
    description: 'In ms. The connection timeout covers it.',
  }),
  clientProperties: z
    .record(z.string(), z.string())
    .nullish()
    .meta({ ...SECRET_BY_NAME, title: 'Client properties', description: 'Shown by the broker.' }),
})

export const rabbitMq = defineNode({
  type: 'org.thingsboard.rule.engine.rabbitmq.TbRabbitMqNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Publishes the body to an exchange; Success when it is sent: the broker is not asked to confirm, so a message to a missing exchange or queue is lost. A redelivered message is published twice.',
  triedWith: 'RabbitMQ',
  configuration,
  defaults: {
    exchangeNamePattern: '',
    routingKeyPattern: '',
    messageProperties: null,
    host: null,
    port: 5672,
    virtualHost: '/',
    username: 'guest',
    password: 'guest',
    automaticRecoveryEnabled: false,
    connectionTimeout: 60_000,
    handshakeTimeout: 10_000,
    clientProperties: {},
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: async (config, { services: { outbound } }) => {
    const { host, port, virtualHost, username, password, connectionTimeout, clientProperties, messageProperties } =
      config
    if (!host) throw NodeErrors.CONFIGURATION_INVALID({ node: NAME, field: 'host', reason: 'is missing' })
    const target = {
      ...{ host, port, username, password, connectTimeoutMs: connectionTimeout },
      ...{ virtualHost: virtualHost || '/', clientProperties: clientProperties ?? {} },
    }
    // At once, so that a broker that is away is seen at the start.
    const client = await made(outbound.open('rabbitmq', target))
    const exchangeOf = pattern(config.exchangeNamePattern)
    const routingKeyOf = pattern(config.routingKeyPattern)
    const properties: Properties = messageProperties ? PROPERTIES[messageProperties] : {}
    return callingNode(outbound, client, async (message) => {
      const call = { exchange: exchangeOf(message), routingKey: routingKeyOf(message), body: message.data }
      await client.call({ ...call, ...properties }, bytesOf(message.data))
      return success(message)
    })
  },
})
