/** How a cluster of Kafka is joined. */
import { z } from 'zod'
import { KAFKA_MECHANISMS } from '../../../engine/rulechain/capabilities/outbound.ts'

const short = z.string().min(1).max(512)
const pem = z.string().max(65_536)
const MAX_BROKERS = 20
const MAX_TOPICS = 100

const broker = z
  .string()
  .max(300)
  .regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/\\[\]]+):\d{1,5}$/, 'host:port is expected')
  .refine((text) => portOf(text) >= 1 && portOf(text) <= 65_535, 'a port from 1 to 65535 is expected')

const members = z.object({
  /** `host:port` of some of them: they name the others. */
  brokers: z.array(broker).min(1).max(MAX_BROKERS),
  topics: z
    .array(z.string().regex(/^[A-Za-z0-9._-]{1,249}$/, 'the name of a topic is expected'))
    .min(1)
    .max(MAX_TOPICS),
  /** Default: made of the integration's id. */
  groupId: short.nullish(),
  /** Where the group has no offset yet. */
  autoOffsetReset: z.enum(['EARLIEST', 'LATEST']).default('EARLIEST'),
  tls: z.boolean().default(false),
  /** PEM of who signed the brokers' certificates, where that is nobody whom everybody knows. */
  caCertificate: pem.nullish(),
  /** PEM, with its key, by which the brokers know Millrace. */
  certificate: pem.nullish(),
  privateKey: pem.nullish(),
  sasl: z.object({ mechanism: z.enum(KAFKA_MECHANISMS).default('PLAIN'), username: short, password: short }).nullish(),
})

export const kafkaConfiguration = members.refine(
  ({ certificate, privateKey }) => ((certificate ?? null) === null) === ((privateKey ?? null) === null),
  { path: ['privateKey'], error: 'a certificate and its key go together' },
)

export type KafkaConfiguration = z.output<typeof kafkaConfiguration>

export function brokersOf({
  brokers,
}: KafkaConfiguration): readonly { readonly host: string; readonly port: number }[] {
  return brokers.map((text) => ({ host: hostOf(text), port: portOf(text) }))
}

function hostOf(text: string): string {
  return text.slice(0, text.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1')
}

function portOf(text: string): number {
  return Number(text.slice(text.lastIndexOf(':') + 1))
}
