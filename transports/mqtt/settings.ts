import { settingsOf } from '../../config/define.ts'

const mqtt = settingsOf('MQTT')

export const MQTT_SETTINGS = {
  mqttEnabled: mqtt.flag({ name: 'MQTT_ENABLED', default: true, description: 'Run the MQTT transport.' }),
  mqttBindAddress: mqtt.address({
    name: 'MQTT_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Its address; a public one is refused as for HTTP.',
  }),
  mqttBindPort: mqtt.port({ name: 'MQTT_BIND_PORT', default: 1883, description: 'Its port.' }),
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
  mqttMaxSilentConnections: mqtt.integer({
    name: 'MQTT_MAX_SILENT_CONNECTIONS',
    default: 10_000,
    min: 1,
    max: 10_000_000,
    description:
      'Connections before CONNECT; one more closes the oldest. Too few cut off slow devices in a wave of reconnects.',
  }),
} as const
