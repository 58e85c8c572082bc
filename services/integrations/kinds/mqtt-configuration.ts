/** How another MQTT broker is joined. */
import { z } from 'zod'

const short = z.string().min(1).max(512)
const MAX_TOPICS = 100

const members = z.object({
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535).default(1883),
  tls: z.boolean().default(false),
  /** PEM of who signed the broker's certificate, where that is nobody whom everybody knows. */
  caCertificate: z.string().max(65_536).nullish(),
  /** Default: made of the integration's id, so that the broker keeps what comes while Millrace is away. */
  clientId: short.nullish(),
  username: short.nullish(),
  password: short.nullish(),
  /** Filters. With QoS 0 what comes while Millrace is away, or is being stored, may be lost. */
  topics: z
    .array(z.object({ filter: short, qos: z.union([z.literal(0), z.literal(1)]).default(1) }))
    .min(1)
    .max(MAX_TOPICS),
  /** False: the broker keeps what comes while Millrace is away. */
  cleanSession: z.boolean().default(false),
})

/** MQTT 3.1.1 has no password without a user name [MQTT-3.1.2-22]. */
export const mqttConfiguration = members.refine(
  ({ username, password }) => (password ?? null) === null || (username ?? null) !== null,
  { path: ['password'], error: 'a password needs a user name' },
)

export type MqttSourceConfiguration = z.output<typeof mqttConfiguration>
