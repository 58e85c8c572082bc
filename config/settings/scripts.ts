import { settingsOf } from '../define.ts'

const scripts = settingsOf('Scripts')

export const SCRIPT_SETTINGS = {
  ruleNodeTimeoutMs: scripts.integer({
    name: 'RULE_NODE_TIMEOUT_MS',
    default: 20_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description:
      "Time of a rule node for a message or batch, up to an eighth less; then Failure, and later results are ignored. Keep it below the queues' timeouts.",
  }),
  ruleNodesDir: scripts.file({
    name: 'RULE_NODES_DIR',
    description:
      "Folder with rule nodes of the operator's own, loaded at the start: their code runs with all rights of the process. The same in each process.",
  }),
  jsThreads: scripts.integer({
    name: 'JS_WORKER_THREADS',
    default: 2,
    min: 1,
    max: 256,
    description:
      'JavaScript threads, each with a sandbox process of 100 MiB. With two, one slow script does not hold up the others.',
  }),
  jsMinThreads: scripts.integer({
    name: 'JS_WORKER_MIN_THREADS',
    default: 1,
    min: 1,
    max: 256,
    description: 'Of these, those that stay while idle.',
  }),
  jsIdleTimeoutMs: scripts.integer({
    name: 'JS_WORKER_IDLE_TIMEOUT_MS',
    default: 60_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    description: 'Idle time after which the others end, with their processes.',
  }),
  jsConcurrentTasks: scripts.integer({
    name: 'JS_WORKER_CONCURRENT_TASKS',
    default: 2,
    min: 1,
    max: 64,
    description: 'Tasks handed to a thread: one runs, the others wait there.',
  }),
  jsBatchMessages: scripts.integer({
    name: 'JS_WORKER_BATCH_MESSAGES',
    default: 512,
    min: 1,
    max: 10_000,
    description: 'Most messages in a task; an idle pool waits for no more.',
  }),
  jsMaxCpuTimeMs: scripts.integer({
    name: 'LOCAL_JS_SANDBOX_MAX_CPU_TIME',
    default: 1000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    description: 'Longest JavaScript call: a batch, or a message alone. What a stopped batch finished counts.',
  }),
  jsMemoryMb: scripts.integer({
    name: 'JS_SANDBOX_MAX_MEMORY_MB',
    default: 64,
    min: 8,
    max: 4096,
    unit: 'MiB',
    description: "Memory of a tenant's JavaScript on a thread.",
  }),
  jsQueueBound: scripts.integer({
    name: 'JS_QUEUE_MAX_MESSAGES',
    default: 50_000,
    min: 100,
    max: 10_000_000,
    description: 'Messages of a tenant that may wait for the pool; more fail and are retried.',
  }),
  tbelTimeoutMs: scripts.integer({
    name: 'TBEL_MAX_REQUESTS_TIMEOUT',
    default: 500,
    min: 1,
    max: 60_000,
    unit: 'ms',
    description: 'Longest run of a TBEL script.',
  }),
  tbelMemoryMb: scripts.integer({
    name: 'TBEL_MAX_MEMORY_LIMIT_MB',
    default: 8,
    min: 1,
    max: 1024,
    unit: 'MiB',
    description: 'Memory that it may allocate.',
  }),
  aggregationThreads: scripts.integer({
    name: 'AGGREGATION_THREADS',
    default: 2,
    min: 1,
    max: 256,
    description:
      'Threads for aggregations of many entities, each of 15 MiB. They start with the first that is large, and end after an idle minute.',
  }),
  aggregationTimeoutMs: scripts.integer({
    name: 'AGGREGATION_TIMEOUT_MS',
    default: 10_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description: 'Longest computing of one aggregation on its thread, which is ended then: the aggregation fails.',
  }),
  aggregationMaxEntities: scripts.integer({
    name: 'AGGREGATION_MAX_ENTITIES',
    default: 100_000,
    min: 100,
    max: 1_000_000,
    description: 'Entities of one aggregation; one of more fails.',
  }),
  aggregationMaxMb: scripts.integer({
    name: 'AGGREGATION_MAX_MB',
    default: 32,
    min: 1,
    max: 1024,
    unit: 'MiB',
    description: 'Values of one aggregation; two for each thread are in memory at a time.',
  }),
} as const
