/** MQTT as one of the device protocols. */
import { defineTransport } from '../define-transport.ts'
import { startMqttTransport } from './server.ts'
import { MQTT_SETTINGS } from './settings.ts'

export const mqtt = defineTransport({
  name: 'mqtt',
  label: 'MQTT',
  settings: MQTT_SETTINGS,
  figures: {
    connections: 'connections',
    accepted: 'accepted_connections_total',
    overConnectionLimit: 'connections_over_limit_total',
    overTenantLimit: 'connections_over_tenant_limit_total',
    silentDropped: 'dropped_silent_connections_total',
    unauthenticated: 'refused_connects_total',
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
  listener: ({ mqttEnabled, mqttBindAddress, mqttBindPort }) =>
    mqttEnabled
      ? {
          scheme: 'mqtt',
          over: 'tcp',
          address: mqttBindAddress,
          addressName: MQTT_SETTINGS.mqttBindAddress.name,
          port: mqttBindPort,
          portName: MQTT_SETTINGS.mqttBindPort.name,
        }
      : undefined,
  open: ({ gateway, settings, payload, clock, log }) =>
    startMqttTransport({
      gateway,
      bindAddress: settings.mqttBindAddress,
      port: settings.mqttBindPort,
      limits: {
        maxPacketBytes: settings.mqttMaxPayloadBytes,
        maxInFlight: settings.mqttInFlightPerDevice,
        maxConnections: settings.mqttMaxConnections,
        maxConnectionsPerTenant: settings.mqttMaxConnectionsPerTenant,
        maxSilentConnections: settings.mqttMaxSilentConnections,
      },
      payload,
      clock,
      log,
    }),
})
