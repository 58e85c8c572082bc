/** MQTT as one of the device protocols. */
import type { ValuesOf } from '../../config/define.ts'
import { defineTransport, type Listener } from '../define-transport.ts'
import type { ListenOnTls } from './listeners/tls.ts'
import { startMqttTransport } from './server.ts'
import { MQTT_SETTINGS, mqttCertificate } from './settings.ts'

const BYTES_PER_MB = 2 ** 20
/** Of the room for births: one tenant's, and one edge node's. */
const TENANT_SHARE = 3 / 4
const NODES_A_SHARE = 8

type Settings = ValuesOf<typeof MQTT_SETTINGS>

function plainOf(settings: Settings): Listener | undefined {
  if (!settings.mqttEnabled) return undefined
  return {
    name: 'mqtt',
    label: 'MQTT',
    scheme: 'mqtt',
    over: 'tcp',
    address: settings.mqttBindAddress,
    addressName: MQTT_SETTINGS.mqttBindAddress.name,
    port: settings.mqttBindPort,
    portName: MQTT_SETTINGS.mqttBindPort.name,
  }
}

function tlsOf(settings: Settings): (Listener & ListenOnTls) | undefined {
  const certificate = mqttCertificate(settings)
  if (certificate === undefined) return undefined
  return {
    name: 'mqtts',
    label: 'MQTT over TLS',
    scheme: 'mqtts',
    over: 'tcp',
    address: settings.mqttSslBindAddress,
    addressName: MQTT_SETTINGS.mqttSslBindAddress.name,
    port: settings.mqttSslBindPort,
    portName: MQTT_SETTINGS.mqttSslBindPort.name,
    certificate,
    oldestVersion: settings.mqttSslProtocol,
    skipsClientDates: settings.mqttSslSkipClientDates,
  }
}

function webSocketOf(settings: Settings): Listener | undefined {
  if (!settings.mqttWsEnabled) return undefined
  return {
    name: 'mqttws',
    label: 'MQTT over WebSocket',
    scheme: 'ws',
    over: 'tcp',
    address: settings.mqttWsBindAddress,
    addressName: MQTT_SETTINGS.mqttWsBindAddress.name,
    port: settings.mqttWsBindPort,
    portName: MQTT_SETTINGS.mqttWsBindPort.name,
  }
}

export const mqtt = defineTransport({
  name: 'mqtt',
  label: 'MQTT',
  settings: MQTT_SETTINGS,
  figures: {
    connections: 'connections',
    handshakes: 'handshakes',
    children: 'gateway_children',
    birthBytes: 'sparkplug_birth_bytes',
    keptSessions: 'kept_sessions',
    keptBytes: 'kept_session_bytes',
    keptWaiting: 'waiting_kept_sessions',
    restoredSessions: 'restored_sessions_total',
    aliasBytes: 'topic_alias_bytes',
    accepted: 'accepted_connections_total',
    overConnectionLimit: 'connections_over_limit_total',
    overTenantLimit: 'connections_over_tenant_limit_total',
    failedHandshakes: 'failed_handshakes_total',
    silentDropped: 'dropped_silent_connections_total',
    unauthenticated: 'refused_connects_total',
    addressBlocked: 'connections_of_blocked_addresses_total',
    received: 'received_publishes_total',
    acknowledged: 'acknowledged_publishes_total',
    storedUnacknowledged: 'stored_unacknowledged_publishes_total',
    refused: 'refused_publishes_total',
    undecodable: 'undecodable_publishes_total',
    unknownTopics: 'unknown_topic_publishes_total',
    malformed: 'malformed_packets_total',
    pushed: 'pushes_total',
    pushesDropped: 'dropped_pushes_total',
    slowConsumers: 'slow_consumers_total',
  },
  listeners: (settings) => [plainOf(settings), tlsOf(settings), webSocketOf(settings)].filter((at) => at !== undefined),
  open: ({ gateway, settings, payload, clock, log }) =>
    startMqttTransport({
      gateway,
      plain: plainOf(settings),
      tls: tlsOf(settings),
      webSocket: webSocketOf(settings),
      limits: {
        maxPacketBytes: settings.mqttMaxPayloadBytes,
        maxInFlight: settings.mqttInFlightPerDevice,
        maxConnections: settings.mqttMaxConnections,
        maxConnectionsPerTenant: settings.mqttMaxConnectionsPerTenant,
        maxChildrenPerGateway: settings.mqttMaxChildrenPerGateway,
        maxChildren: settings.mqttMaxChildren,
        maxChildrenPerTenant: settings.mqttMaxChildrenPerTenant,
        maxBirthBytesPerNode: (settings.mqttSparkplugBirthsMb * BYTES_PER_MB) / NODES_A_SHARE,
        maxBirthBytes: settings.mqttSparkplugBirthsMb * BYTES_PER_MB,
        maxBirthBytesPerTenant: settings.mqttSparkplugBirthsMb * BYTES_PER_MB * TENANT_SHARE,
        maxSessionExpirySeconds: settings.mqttMaxSessionExpirySeconds,
        maxTopicAliases: settings.mqttMaxTopicAliases,
        maxSilentConnections: settings.mqttMaxSilentConnections,
        maxHandshakes: settings.mqttMaxHandshakes,
        loginFailures: settings.mqttIpLimitsEnabled
          ? { failures: settings.mqttMaxWrongCredentialsPerIp, blockMs: settings.mqttIpBlockMs }
          : undefined,
      },
      payload,
      clock,
      log,
    }),
})
