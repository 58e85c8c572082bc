import { settingsOf, type ValuesOf } from '../../config/define.ts'
import type { CertificateSettings } from '../../server/certificate.ts'

const mqtt = settingsOf('MQTT')

export const MQTT_SETTINGS = {
  mqttEnabled: mqtt.flag({ name: 'MQTT_ENABLED', default: true, description: 'MQTT without TLS, on MQTT_BIND_PORT.' }),
  mqttBindAddress: mqtt.address({
    name: 'MQTT_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Its address; a public one is refused as for HTTP.',
  }),
  mqttBindPort: mqtt.port({ name: 'MQTT_BIND_PORT', default: 1883, description: 'Its port.' }),
  mqttSslEnabled: mqtt.flag({
    name: 'MQTT_SSL_ENABLED',
    default: false,
    description: 'MQTT over TLS, on MQTT_SSL_BIND_PORT.',
  }),
  mqttSslBindAddress: mqtt.address({
    name: 'MQTT_SSL_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Address of MQTT over TLS; a public one is refused as for HTTP.',
  }),
  mqttSslBindPort: mqtt.port({ name: 'MQTT_SSL_BIND_PORT', default: 8883, description: 'Its port.' }),
  mqttSslProtocol: mqtt.choice({
    name: 'MQTT_SSL_PROTOCOL',
    default: 'TLSv1.2',
    choices: ['TLSv1.2', 'TLSv1.3'],
    description: 'The oldest version of TLS that is spoken.',
  }),
  mqttSslCredentialsType: mqtt.choice({
    name: 'MQTT_SSL_CREDENTIALS_TYPE',
    default: 'PEM',
    choices: ['PEM'],
    description: 'Kind of the files, as SSL_CREDENTIALS_TYPE.',
  }),
  mqttSslCertFile: mqtt.file({
    name: 'MQTT_SSL_PEM_CERT',
    description: 'Certificate with its chain; read again when it changes.',
  }),
  mqttSslKeyFile: mqtt.file({
    name: 'MQTT_SSL_PEM_KEY',
    description: 'Its private key; none: it is in the file of the certificate.',
  }),
  mqttSslKeyPassword: mqtt.secret({
    name: 'MQTT_SSL_PEM_KEY_PASSWORD',
    default: undefined,
    absent: 'none',
    allowed: 'a text that is not empty',
    accepts: (text) => text !== '',
    description: 'Opens the private key.',
  }),
  mqttSslSkipClientDates: mqtt.flag({
    name: 'MQTT_SSL_SKIP_VALIDITY_CHECK_FOR_CLIENT_CERT',
    default: false,
    description: "Take devices' certificates before and after their dates too.",
  }),
  mqttWsEnabled: mqtt.flag({
    name: 'MQTT_WS_ENABLED',
    default: false,
    description: 'MQTT over WebSocket without TLS for browsers, at `/mqtt` on MQTT_WS_BIND_PORT.',
  }),
  mqttWsBindAddress: mqtt.address({
    name: 'MQTT_WS_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Address of MQTT over WebSocket; a public one is refused as for HTTP.',
  }),
  mqttWsBindPort: mqtt.port({ name: 'MQTT_WS_BIND_PORT', default: 8083, description: 'Its port.' }),
  mqttMaxHandshakes: mqtt.integer({
    name: 'MQTT_SSL_MAX_HANDSHAKES',
    default: 2000,
    min: 1,
    max: 1_000_000,
    description:
      'Handshakes under way, of TLS (60 KiB each) and of WebSocket each; one more cuts off the oldest silent one, or the newest of the address with most.',
  }),
  mqttIpLimitsEnabled: mqtt.flag({
    name: 'TB_TRANSPORT_IP_RATE_LIMITS_ENABLED',
    default: false,
    description:
      'Close new MQTT connections of an address whose log-ins failed too often in a row. Not behind a proxy, where all devices share its address.',
  }),
  mqttMaxWrongCredentialsPerIp: mqtt.integer({
    name: 'TB_TRANSPORT_MAX_WRONG_CREDENTIALS_PER_IP',
    default: 10,
    min: 1,
    max: 1_000_000,
    description: 'So many failures in a row; a good log-in begins anew.',
  }),
  mqttIpBlockMs: mqtt.integer({
    name: 'TB_TRANSPORT_IP_BLOCK_TIMEOUT',
    default: 60_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    description: 'So long after the last of them.',
  }),
  mqttMaxPayloadBytes: mqtt.integer({
    name: 'NETTY_MAX_PAYLOAD_SIZE',
    default: 65_536,
    min: 1024,
    max: 268_435_455,
    unit: 'bytes',
    description: 'Largest MQTT packet; a larger one closes the connection (MQTT 5: 0x95).',
  }),
  mqttInFlightPerDevice: mqtt.integer({
    name: 'MQTT_MSG_QUEUE_SIZE_PER_DEVICE_LIMIT',
    default: 1000,
    min: 1,
    max: 65_535,
    description: 'Unacknowledged publishes of a session; beyond them its socket is not read.',
  }),
  mqttMaxConnections: mqtt.integer({
    name: 'MQTT_MAX_CONNECTIONS',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    description: 'MQTT connections; more are closed at once.',
  }),
  mqttMaxConnectionsPerTenant: mqtt.integer({
    name: 'MQTT_MAX_CONNECTIONS_PER_TENANT',
    default: 75_000,
    min: 1,
    max: 10_000_000,
    description: "Of these, one tenant's; more get CONNACK 3 (MQTT 5: 0x97).",
  }),
  mqttMaxChildrenPerGateway: mqtt.integer({
    name: 'MQTT_MAX_CHILDREN_PER_GATEWAY',
    default: 10_000,
    min: 1,
    max: 10_000_000,
    description: 'Devices connected through one gateway; more are acknowledged and dropped (MQTT 5: 0x97).',
  }),
  mqttMaxChildren: mqtt.integer({
    name: 'MQTT_MAX_CHILDREN',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    description: 'Devices connected through gateways; more are answered as for one gateway.',
  }),
  mqttMaxChildrenPerTenant: mqtt.integer({
    name: 'MQTT_MAX_CHILDREN_PER_TENANT',
    default: 75_000,
    min: 1,
    max: 10_000_000,
    description: "Of these, one tenant's.",
  }),
  mqttSparkplugBirthsMb: mqtt.integer({
    name: 'MQTT_SPARKPLUG_MAX_MEMORY_MB',
    default: 128,
    min: 8,
    max: 65_536,
    unit: 'MiB',
    description:
      "Births of Sparkplug edge nodes; three quarters may be one tenant's, an eighth one node's. More are acknowledged and dropped (MQTT 5: 0x97).",
  }),
  mqttMaxSessionExpirySeconds: mqtt.integer({
    name: 'MQTT_MAX_SESSION_EXPIRY',
    default: 3600,
    min: 0,
    max: 604_800,
    unit: 's',
    description:
      'Longest Session Expiry Interval of MQTT 5, and that of MQTT 3.1.1 without a clean session; 0 keeps none. Subscriptions are stored, what waits is in memory.',
  }),
  mqttMaxTopicAliases: mqtt.integer({
    name: 'MQTT_MAX_TOPIC_ALIASES',
    default: 16,
    min: 0,
    max: 1000,
    description: 'Topic aliases of an MQTT 5 connection, of 8 KiB together; 0: none.',
  }),
  mqttMaxSilentConnections: mqtt.integer({
    name: 'MQTT_MAX_SILENT_CONNECTIONS',
    default: 10_000,
    min: 1,
    max: 10_000_000,
    description:
      'Connections before CONNECT; one more closes the oldest. Too few cut off slow devices in a wave of reconnects.',
  }),
} as const

/** Undefined where MQTT over TLS is off. */
export function mqttCertificate(settings: ValuesOf<typeof MQTT_SETTINGS>): CertificateSettings | undefined {
  if (!settings.mqttSslEnabled) return undefined
  return {
    certFile: settings.mqttSslCertFile,
    keyFile: settings.mqttSslKeyFile,
    keyPassword: settings.mqttSslKeyPassword,
    names: {
      enabled: MQTT_SETTINGS.mqttSslEnabled.name,
      certFile: MQTT_SETTINGS.mqttSslCertFile.name,
      keyFile: MQTT_SETTINGS.mqttSslKeyFile.name,
    },
  }
}
