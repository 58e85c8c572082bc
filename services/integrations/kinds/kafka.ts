/** Topics of a Kafka cluster: reads them as a member of a group, and commits an offset when all before it is stored here. */
import { defineIntegration } from '../define-integration.ts'
import { kafkaConfiguration } from './kafka-configuration.ts'

export const kafka = defineIntegration({
  type: 'KAFKA',
  label: 'Kafka',
  configuration: kafkaConfiguration,
  secrets: {},
  placeOf: ({ brokers, tls }) => `${brokers.join()}:${tls}`,
  example: { brokers: ['broker.example:9092'], topics: ['measurements'] },
  open: async (parts) => (await import('./kafka-source.ts')).openKafkaSource(parts),
})
