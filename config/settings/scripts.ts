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
      "How long a rule node may take for a message or batch, up to an eighth less; then the message takes Failure and later results are ignored. Keep it below the queues' processing timeouts.",
  }),
  jsThreads: scripts.integer({
    name: 'JS_WORKER_THREADS',
    default: 2,
    min: 1,
    max: 256,
    unit: 'threads',
    description:
      'Threads for JavaScript of rule nodes, each with a sandbox process of some 100 MiB. With two, one slow script does not hold up the others.',
  }),
  jsMinThreads: scripts.integer({
    name: 'JS_WORKER_MIN_THREADS',
    default: 1,
    min: 1,
    max: 256,
    unit: 'threads',
    description: 'Threads that stay while idle; never more than JS_WORKER_THREADS.',
  }),
  jsIdleTimeoutMs: scripts.integer({
    name: 'JS_WORKER_IDLE_TIMEOUT_MS',
    default: 60_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    description: 'Idle time after which the other threads end, with their processes.',
  }),
  jsConcurrentTasks: scripts.integer({
    name: 'JS_WORKER_CONCURRENT_TASKS',
    default: 2,
    min: 1,
    max: 64,
    unit: 'tasks a thread',
    description: 'Tasks handed to a thread: one runs, the others wait there.',
  }),
  jsBatchMessages: scripts.integer({
    name: 'JS_WORKER_BATCH_MESSAGES',
    default: 512,
    min: 1,
    max: 10_000,
    unit: 'messages',
    description: 'Most messages in one task; an idle pool waits for no more.',
  }),
  jsMaxCpuTimeMs: scripts.integer({
    name: 'LOCAL_JS_SANDBOX_MAX_CPU_TIME',
    default: 1000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    description: 'Longest JavaScript call: a batch, or a message tried alone. What a stopped batch finished counts.',
  }),
  jsMemoryMb: scripts.integer({
    name: 'JS_SANDBOX_MAX_MEMORY_MB',
    default: 64,
    min: 8,
    max: 4096,
    unit: 'MiB',
    description: "Memory of one tenant's JavaScript on one thread.",
  }),
  jsQueueBound: scripts.integer({
    name: 'JS_QUEUE_MAX_MESSAGES',
    default: 50_000,
    min: 100,
    max: 10_000_000,
    unit: 'messages',
    description: 'Messages of one tenant that may wait for the pool; more fail and are retried.',
  }),
  tbelTimeoutMs: scripts.integer({
    name: 'TBEL_MAX_REQUESTS_TIMEOUT',
    default: 500,
    min: 1,
    max: 60_000,
    unit: 'ms',
    description: 'Longest run of an expression-language script.',
  }),
  tbelMemoryMb: scripts.integer({
    name: 'TBEL_MAX_MEMORY_LIMIT_MB',
    default: 8,
    min: 1,
    max: 1024,
    unit: 'MiB',
    description: 'Memory that such a run may allocate.',
  }),
} as const
