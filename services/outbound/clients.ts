/** Which file knows which client library. None is loaded before a node uses it: most processes call nobody. */
import type { OutboundKind } from '../../engine/rulechain/capabilities/outbound.ts'
import type { OpenClient } from './raw-client.ts'

export const LOADERS: { readonly [Kind in OutboundKind]: () => Promise<OpenClient<Kind>> } = {
  http: async () => (await import('./clients/http.ts')).openHttp,
  mqtt: async () => (await import('./clients/mqtt.ts')).openMqtt,
  sqs: async () => (await import('./clients/aws.ts')).openSqs,
  sns: async () => (await import('./clients/aws.ts')).openSns,
  lambda: async () => (await import('./clients/aws.ts')).openLambda,
  kafka: async () => (await import('./clients/kafka.ts')).openKafka,
  rabbitmq: async () => (await import('./clients/rabbitmq.ts')).openRabbitMq,
  twilio: async () => (await import('./clients/twilio.ts')).openTwilio,
  smpp: async () => (await import('./clients/smpp.ts')).openSmpp,
  pubsub: async () => (await import('./clients/pubsub.ts')).openPubSub,
  smtp: async () => (await import('./clients/smtp.ts')).openSmtp,
}
