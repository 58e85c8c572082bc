import { settingsOf } from '../define.ts'

const link = settingsOf('Link')

export const LINK_SETTINGS = {
  link: link.choice({
    name: 'LINK',
    default: 'segment-log',
    choices: ['segment-log', 'jetstream'],
    description:
      'What carries messages to the rule engine: segment-log is a log in the data folder, jetstream the NATS servers of NATS_URL.',
  }),
  natsUrl: link.url({
    name: 'NATS_URL',
    default: 'nats://127.0.0.1:4222',
    schemes: ['nats', 'tls'],
    description:
      'NATS servers, separated by commas, with user:password@ or token@ where they ask for it; JetStream must be on. tls:// refuses servers without TLS, nats:// takes it where it is offered. Their sync_interval decides what a power cut loses.',
  }),
  natsCaFile: link.file({
    name: 'NATS_TLS_CA_FILE',
    description:
      'PEM file of the authority that the NATS servers’ certificates are of, where the system does not know it. Servers without TLS are refused then.',
  }),
  natsCertFile: link.file({
    name: 'NATS_TLS_CERT_FILE',
    description: 'PEM file of the client certificate, for NATS servers that ask for one.',
  }),
  natsKeyFile: link.file({ name: 'NATS_TLS_KEY_FILE', description: 'PEM file of the key of that certificate.' }),
  natsCredsFile: link.file({
    name: 'NATS_CREDS_FILE',
    description: 'Credentials file for NATS (JWT and nkey), or one with the seed of an nkey alone.',
  }),
  natsPrefix: link.word({
    name: 'NATS_PREFIX',
    default: 'millrace',
    description: 'First word of the names of streams and subjects: two clusters may share the servers under two names.',
  }),
  natsReplicas: link.choice({
    name: 'NATS_REPLICAS',
    default: '1',
    choices: ['1', '3', '5'],
    description: 'Copies of each stream, each on a server of its own: 3 survives the loss of any one server.',
  }),
  natsMonitorUrls: link.urls({
    name: 'NATS_MONITOR_URLS',
    schemes: ['http', 'https'],
    description:
      'HTTP monitoring addresses of the NATS servers (their http_port), by which it is checked at the start that they sync what they store.',
  }),
  natsSynced: link.choice({
    name: 'NATS_SYNCED',
    default: 'unknown',
    choices: ['unknown', 'always'],
    description:
      'always is your word that every NATS server runs with sync_interval always, where no monitoring address can tell.',
  }),
  natsStrict: link.flag({
    name: 'NATS_STRICT',
    default: false,
    description:
      'Refuse to start where it is not known that what NATS acknowledges survives a power cut; false warns in the log and in /health.',
  }),
  natsMaxPartitionMiB: link.integer({
    name: 'NATS_MAX_PARTITION_MIB',
    default: 256,
    min: 16,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Most that waits in one partition; over it devices are refused until the engine has caught up. NATS sets this much aside for each partition: its max_file_store must have room for all.',
  }),
  natsStreams: link.integer({
    name: 'NATS_STREAMS',
    default: 3,
    min: 1,
    max: 1000,
    unit: 'streams',
    description:
      'JetStream streams that the partitions are shared out to: at most so many engines share the work, and each stream costs a write of its own. Fixed at the first start.',
  }),
  linkRetentionMinutes: link.integer({
    name: 'LINK_RETENTION_MINUTES',
    default: 60,
    min: 0,
    max: 10_080,
    unit: 'minutes',
    description: 'How long processed messages stay in the link to be read again; 0 removes them at once.',
  }),
  linkRetentionMiB: link.integer({
    name: 'LINK_RETENTION_MIB',
    default: 256,
    min: 0,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Most that processed messages take in the link, whatever their age. NATS sets it aside beside the partitions; a larger one makes the start of the embedded link longer.',
  }),
  publishTimeoutMs: link.integer({
    name: 'LINK_PUBLISH_TIMEOUT_MS',
    default: 10_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    description: 'How long a message waits for NATS to come back before its device gets an error.',
  }),
} as const
