/** Another MQTT broker: subscribes there, and acknowledges what came with QoS 1 when it is stored here. */
import { defineIntegration } from '../define-integration.ts'
import { mqttConfiguration } from './mqtt-configuration.ts'

export const mqtt = defineIntegration({
  type: 'MQTT',
  label: 'MQTT broker',
  configuration: mqttConfiguration,
  secrets: {},
  placeOf: ({ host, port, tls }) => `${host}:${port}:${tls}`,
  example: { host: 'broker.example', port: 1883, topics: [{ filter: 'plant/+/measurement', qos: 1 }] },
  open: async (parts) => (await import('./mqtt-source.ts')).openMqttSource(parts),
})
