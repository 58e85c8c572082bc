/**
 * The properties of Kafka's Java client that a node may carry, in the words of ours. Those that only tune the Java client are taken and not used; any
 * other is refused with its name, since a node without what it asked for could send to where it should not.
 */
import { KAFKA_COMPRESSIONS, KAFKA_MECHANISMS, type KafkaTarget } from '../../engine/rulechain/capabilities/outbound.ts'
import { NodeErrors } from '../errors.ts'

/** They change when records go out or how long the client waits, and the outbound policy decides both. */
const TUNING: ReadonlySet<string> = new Set([
  ...['batch.size', 'linger.ms', 'buffer.memory', 'retries', 'acks', 'retry.backoff.ms', 'max.block.ms'],
  ...['request.timeout.ms', 'delivery.timeout.ms', 'connections.max.idle.ms', 'metadata.max.age.ms'],
  ...['max.in.flight.requests.per.connection', 'max.request.size', 'send.buffer.bytes', 'receive.buffer.bytes'],
  ...['reconnect.backoff.ms', 'reconnect.backoff.max.ms', 'key.serializer', 'value.serializer', 'enable.idempotence'],
])
const SECURITY: ReadonlySet<string> = new Set([
  ...['security.protocol', 'sasl.mechanism', 'sasl.jaas.config', 'compression.type', 'client.id'],
  ...['ssl.truststore.certificates', 'ssl.keystore.certificate.chain', 'ssl.keystore.key', 'ssl.key.password'],
  ...['ssl.truststore.type', 'ssl.keystore.type'],
])
const PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']

type Properties = Readonly<Record<string, string>>
type Security = Pick<KafkaTarget, 'tls' | 'certificates' | 'sasl' | 'compression'>

/** Throws `CONFIGURATION_INVALID`. */
export function propertiesOf(node: string, properties: Properties): Security & { readonly clientId?: string } {
  const refuse = (name: string, reason: string): never => {
    throw NodeErrors.CONFIGURATION_INVALID({ node, field: `otherProperties.${name}`, reason })
  }
  for (const name of Object.keys(properties))
    if (!TUNING.has(name) && !SECURITY.has(name)) refuse(name, 'is not served')
  for (const name of ['ssl.truststore.type', 'ssl.keystore.type'])
    if ((properties[name] ?? 'PEM') !== 'PEM') refuse(name, 'only PEM is served')
  const oneOf = <Value extends string>(name: string, values: readonly Value[], zero: Value): Value =>
    values.find((value) => value === (properties[name] ?? zero)) ?? refuse(name, `is none of ${values.join(', ')}`)
  const protocol = oneOf('security.protocol', PROTOCOLS, 'PLAINTEXT')
  const certificates = certificatesOf(properties)
  const clientId = properties['client.id']
  const saslOf = (): NonNullable<KafkaTarget['sasl']> => {
    const login = loginOf(properties['sasl.jaas.config'] ?? '')
    if (login === undefined) return refuse('sasl.jaas.config', 'holds no username="…" password="…"')
    return { mechanism: oneOf('sasl.mechanism', KAFKA_MECHANISMS, 'PLAIN'), ...login }
  }
  return {
    tls: protocol.endsWith('SSL'),
    compression: oneOf('compression.type', KAFKA_COMPRESSIONS, 'none'),
    ...(certificates === undefined ? {} : { certificates }),
    ...(protocol.startsWith('SASL') ? { sasl: saslOf() } : {}),
    ...(clientId === undefined ? {} : { clientId }),
  }
}

function certificatesOf(properties: Properties): KafkaTarget['certificates'] {
  const given = Object.entries({
    ca: properties['ssl.truststore.certificates'],
    certificate: properties['ssl.keystore.certificate.chain'],
    privateKey: properties['ssl.keystore.key'],
    password: properties['ssl.key.password'],
  }).filter(([, value]) => value !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

/** Of a line such as `…PlainLoginModule required username="u" password="p";` */
function loginOf(line: string): { readonly username: string; readonly password: string } | undefined {
  const [username, password] = ['username', 'password'].map((name) => {
    const [, value] = new RegExp(`\\b${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(line) ?? []
    return value?.replaceAll(/\\(.)/g, '$1')
  })
  return username === undefined || password === undefined ? undefined : { username, password }
}
