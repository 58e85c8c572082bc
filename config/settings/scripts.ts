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
      'How long a rule node may take for a message or a batch, up to an eighth less. Then the message takes Failure, and what the node does later is ignored. Keep it below the processing timeout of the queues, at which a message is tried again whatever its node does; a store that takes longer makes messages be tried again.',
  }),
  jsThreads: scripts.integer({
    name: 'JS_WORKER_THREADS',
    default: 2,
    min: 1,
    max: 256,
    unit: 'threads',
    description:
      'Threads of the pool that runs JavaScript of rule nodes, each with a sandbox process (some 100 MiB once a script is there). With two, one slow script does not hold up the others.',
  }),
  jsMinThreads: scripts.integer({
    name: 'JS_WORKER_MIN_THREADS',
    default: 1,
    min: 1,
    max: 256,
    unit: 'threads',
    description: 'Threads of that pool that stay when there is nothing to do; never more than JS_WORKER_THREADS.',
  }),
  jsIdleTimeoutMs: scripts.integer({
    name: 'JS_WORKER_IDLE_TIMEOUT_MS',
    default: 60_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    description: 'After this time without work a thread beyond the least ends, and its sandbox process with it.',
  }),
  jsConcurrentTasks: scripts.integer({
    name: 'JS_WORKER_CONCURRENT_TASKS',
    default: 2,
    min: 1,
    max: 64,
    unit: 'tasks a thread',
    description: 'Tasks handed out for each thread: one is worked on, the others are there when it ends.',
  }),
  jsBatchMessages: scripts.integer({
    name: 'JS_WORKER_BATCH_MESSAGES',
    default: 512,
    min: 1,
    max: 10_000,
    unit: 'messages',
    description: 'Most messages in one task. What waits is one task, up to this; an idle pool waits for no more.',
  }),
  jsMaxCpuTimeMs: scripts.integer({
    name: 'LOCAL_JS_SANDBOX_MAX_CPU_TIME',
    default: 1000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    description: 'Longest one JavaScript call may run.',
  }),
  jsMemoryMb: scripts.integer({
    name: 'JS_SANDBOX_MAX_MEMORY_MB',
    default: 64,
    min: 8,
    max: 4096,
    unit: 'MiB',
    description: 'Memory of one tenant’s JavaScript isolate on one thread.',
  }),
  jsQueueBound: scripts.integer({
    name: 'JS_QUEUE_MAX_MESSAGES',
    default: 50_000,
    min: 100,
    max: 10_000_000,
    unit: 'messages',
    description: 'Messages of one tenant that may wait for the JavaScript pool; more fail and are tried again.',
  }),
  tbelTimeoutMs: scripts.integer({
    name: 'TBEL_MAX_REQUESTS_TIMEOUT',
    default: 500,
    min: 1,
    max: 60_000,
    unit: 'ms',
    description: 'Longest one expression-language script may run.',
  }),
  tbelMemoryMb: scripts.integer({
    name: 'TBEL_MAX_MEMORY_LIMIT_MB',
    default: 8,
    min: 1,
    max: 1024,
    unit: 'MiB',
    description: 'Memory that one run of an expression-language script may allocate.',
  }),
} as const
