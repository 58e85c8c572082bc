import { settingsOf } from '../define.ts'

const queue = settingsOf('Queue')

export const QUEUE_SETTINGS = {
  queuePartitions: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PARTITIONS',
    default: 10,
    min: 1,
    max: 1000,
    description:
      "Partitions of the link; an originator's messages are in one, in order. On JetStream fixed at the first start.",
  }),
  queueRetries: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRIES',
    default: 10,
    min: 0,
    max: 1000,
    description:
      'Retries before a message becomes a dead letter; 0: endless. Settings of Main count at the first start, its record (/api/queues) afterwards.',
  }),
  queueRetryPauseSeconds: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE',
    default: 1,
    min: 0,
    max: 3600,
    unit: 's',
    description: 'Pause before a retry, doubled each time; only its originator waits.',
  }),
  queueMaxRetryPauseSeconds: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE',
    default: 30,
    min: 0,
    max: 3600,
    unit: 's',
    description: 'Longest such pause.',
  }),
  queueTimeoutMs: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PACK_PROCESSING_TIMEOUT_MS',
    default: 30_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description: 'A message that takes longer counts as failed.',
  }),
  queueStrictOrder: queue.flag({
    name: 'QUEUE_STRICT_ORDER',
    default: false,
    description:
      'Start a message only when the one before of its originator is settled: a retry never follows its successors. Costs parallelism: 200 messages/s each.',
  }),
  queueTriesBeforeParking: queue.integer({
    name: 'QUEUE_TRIES_BEFORE_PARKING',
    default: 3,
    min: 1,
    max: 1000,
    description:
      'Failed tries before a message is parked with all behind it. Fewer cost writes; more hold the link longer.',
  }),
  queueTenantRoomPercent: queue.integer({
    name: 'QUEUE_TENANT_ROOM_PERCENT',
    default: 25,
    min: 1,
    max: 100,
    unit: '%',
    description: "A tenant's share of a queue's memory; beyond it, its failing messages are parked at once.",
  }),
  queueCrowdingTimeoutMs: queue.integer({
    name: 'QUEUE_CROWDING_TIMEOUT_MS',
    default: 5000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description:
      'In a full or crowded queue, a message in process for longer, of a tenant over its share, is parked; no try is counted. Shorter frees the others sooner; a slow node may run twice.',
  }),
  queueParkedMiB: queue.integer({
    name: 'QUEUE_PARKED_MIB',
    default: 512,
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Parked messages of this process; beyond it, devices of the tenants with most are refused. Takes up to twice as much on disk, a tenth in memory.',
  }),
  queueParkedTenantMiB: queue.integer({
    name: 'QUEUE_PARKED_TENANT_MIB',
    default: 64,
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    description: "Of these, one tenant's; beyond it, its devices alone are refused.",
  }),
  queueParkedRestMs: queue.integer({
    name: 'QUEUE_PARKED_REST_MS',
    default: 100,
    min: 0,
    max: 10_000,
    unit: 'ms',
    description:
      'Pause of parked messages and tries after a write, to share the next sync. Longer syncs less, and the link keeps them longer.',
  }),
} as const
