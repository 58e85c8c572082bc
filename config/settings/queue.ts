import { settingsOf } from '../define.ts'

const queue = settingsOf('Queue')

export const QUEUE_SETTINGS = {
  queuePartitions: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PARTITIONS',
    default: 10,
    min: 1,
    max: 1000,
    unit: 'partitions',
    description:
      'Partitions of the link: messages of one originator are in one of them, in order. Fixed at the first start on a JetStream.',
  }),
  queueRetries: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRIES',
    default: 10,
    min: 0,
    max: 1000,
    unit: 'tries',
    description:
      'How often a failed message is tried again before it goes to the dead letters; 0 is without end. Like the other settings of Main it counts for the first start: afterwards its record does (REST, /api/queues).',
  }),
  queueRetryPauseSeconds: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE',
    default: 1,
    min: 0,
    max: 3600,
    unit: 's',
    description:
      'Pause before a failed message is tried again, doubled for each further try; only its own originator waits.',
  }),
  queueMaxRetryPauseSeconds: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE',
    default: 30,
    min: 0,
    max: 3600,
    unit: 's',
    description: 'Longest pause between two tries.',
  }),
  queueTimeoutMs: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PACK_PROCESSING_TIMEOUT_MS',
    default: 30_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description: 'A message that did not end in this time counts as failed.',
  }),
  queueStrictOrder: queue.flag({
    name: 'QUEUE_STRICT_ORDER',
    default: false,
    description:
      'Whether a message starts only when the one before it of the same originator is done with, so that a retry never comes behind its successors. It costs parallelism: an originator then gets one message through per processing time, some 200 a second.',
  }),
  queueTriesBeforeParking: queue.integer({
    name: 'QUEUE_TRIES_BEFORE_PARKING',
    default: 3,
    min: 1,
    max: 1000,
    unit: 'tries',
    description:
      'After so many failed tries a message is parked with all that waits behind it, so that the link goes on without them. Fewer tries cost more writes; more of them keep the link from being emptied for longer.',
  }),
  queueTenantRoomPercent: queue.integer({
    name: 'QUEUE_TENANT_ROOM_PERCENT',
    default: 25,
    min: 1,
    max: 100,
    unit: '%',
    description:
      "What a tenant may hold of a queue's memory before its failing messages are parked at once. Less leaves more room to the others, and parks failures of a busy tenant earlier.",
  }),
  queueParkedMiB: queue.integer({
    name: 'QUEUE_PARKED_MIB',
    default: 512,
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Parked messages of all tenants that a process keeps; beyond it the devices of those who have most are refused. The store takes up to twice as much, and about a tenth of it in memory for small messages.',
  }),
  queueParkedTenantMiB: queue.integer({
    name: 'QUEUE_PARKED_TENANT_MIB',
    default: 64,
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Parked messages of one tenant that a process keeps; beyond it the devices of this tenant are refused, and of no other.',
  }),
} as const
