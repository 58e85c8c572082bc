import { settingsOf } from '../define.ts'

const link = settingsOf('Link')

export const LINK_SETTINGS = {
  link: link.choice({
    name: 'LINK',
    default: 'segment-log',
    choices: ['segment-log', 'jetstream'],
    description: 'Carries messages to the rule engine: a log in the data folder, or NATS.',
  }),
  natsUrl: link.url({
    name: 'NATS_URL',
    default: 'nats://127.0.0.1:4222',
    schemes: ['nats', 'tls'],
    description:
      'Servers with JetStream and login, separated by commas. tls:// refuses servers without TLS, nats:// uses it where offered.',
  }),
  natsCaFile: link.file({
    name: 'NATS_TLS_CA_FILE',
    description: 'PEM file of an authority that the system does not know; servers without TLS are then refused.',
  }),
  natsCertFile: link.file({
    name: 'NATS_TLS_CERT_FILE',
    description: 'PEM file of a client certificate.',
  }),
  natsKeyFile: link.file({ name: 'NATS_TLS_KEY_FILE', description: 'PEM file of its key.' }),
  natsCredsFile: link.file({
    name: 'NATS_CREDS_FILE',
    description: "Credentials (JWT and nkey), or an nkey's seed.",
  }),
  natsPrefix: link.word({
    name: 'NATS_PREFIX',
    default: 'millrace',
    description: 'First word of streams and subjects: clusters can share servers.',
  }),
  natsReplicas: link.choice({
    name: 'NATS_REPLICAS',
    default: '1',
    choices: ['1', '3', '5'],
    description: 'Copies of each stream: 3 survive the loss of any one server.',
  }),
  natsMonitorUrls: link.urls({
    name: 'NATS_MONITOR_URLS',
    schemes: ['http', 'https'],
    description: 'Monitoring addresses (http_port), separated by commas: the start checks there that the servers sync.',
  }),
  natsSynced: link.choice({
    name: 'NATS_SYNCED',
    default: 'unknown',
    choices: ['unknown', 'always'],
    description: 'always vouches for sync_interval: always where no monitoring address can tell.',
  }),
  natsStrict: link.flag({
    name: 'NATS_STRICT',
    default: false,
    description:
      'Refuse to start where a power cut of one machine may lose acknowledged messages; false warns, in log and /health.',
  }),
  natsMaxPartitionMiB: link.integer({
    name: 'NATS_MAX_PARTITION_MIB',
    default: 256,
    min: 16,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'What may wait in a partition; beyond it devices are refused. NATS reserves it for each: max_file_store must have room.',
  }),
  natsStreams: link.integer({
    name: 'NATS_STREAMS',
    default: 3,
    min: 1,
    max: 1000,
    description:
      'Streams that share the partitions, fixed at the first start: at most as many engines share the work, and each costs its own writes.',
  }),
  linkRetentionMinutes: link.integer({
    name: 'LINK_RETENTION_MINUTES',
    default: 60,
    min: 0,
    max: 10_080,
    unit: 'minutes',
    description: 'How long processed messages can be read again; 0 removes them at once.',
  }),
  linkRetentionMiB: link.integer({
    name: 'LINK_RETENTION_MIB',
    default: 256,
    min: 0,
    max: 1_048_576,
    unit: 'MiB',
    description: 'Their most bytes. NATS reserves them beside the partitions; more make the embedded start longer.',
  }),
  deadLettersMax: link.integer({
    name: 'DEAD_LETTERS_MAX',
    default: 100_000,
    min: 100,
    max: 100_000_000,
    description: 'Dead letters kept; beyond it the oldest of the tenant with most are dropped and counted.',
  }),
  deadLettersMiB: link.integer({
    name: 'DEAD_LETTERS_MIB',
    default: 1024,
    min: 64,
    max: 1_048_576,
    unit: 'MiB',
    description: 'Their disk space; over it the same, on JetStream the oldest of all tenants go.',
  }),
  publishTimeoutMs: link.integer({
    name: 'LINK_PUBLISH_TIMEOUT_MS',
    default: 10_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    description: 'How long a message waits for NATS before its device gets an error.',
  }),
  linkRestMs: link.integer({
    name: 'LINK_REST_MS',
    default: 10,
    min: 0,
    max: 1000,
    unit: 'ms',
    description:
      'JetStream: longest pause of a stream after a frame, so that more messages share the next. Less answers sooner and syncs more; 0: none.',
  }),
  linkOwnFramesMiB: link.integer({
    name: 'LINK_OWN_FRAMES_MIB',
    default: 12,
    min: 0,
    max: 65_536,
    unit: 'MiB',
    description:
      'JetStream: own frames kept until they are delivered; others are decoded. In memory they take up to three times as much.',
  }),
} as const
