import { settingsOf } from '../define.ts'

const ROLES = ['transport', 'engine', 'api'] as const
const start = settingsOf('Start')

export const START_SETTINGS = {
  dataDir: start.text({
    name: 'DATA_DIR',
    default: 'data',
    description: 'Folder in which the embedded default keeps its files; made where it is absent.',
  }),
  demo: start.flag({
    name: 'DEMO',
    default: true,
    description:
      'First start seeds the demo tenant, its logins and device; false seeds one system administrator with a random password.',
  }),
  roles: start.choices({
    name: 'MILLRACE_ROLES',
    default: ROLES,
    choices: ROLES,
    description:
      'What this process does: transport takes what devices send, engine runs rule chains, api serves REST, WebSocket and the web page. Anything less than all needs LINK=jetstream and shared stores.',
  }),
  readyJson: start.flag({
    name: 'READY_JSON',
    default: false,
    description: 'Print one line of JSON with the real ports once ready, instead of the friendly text.',
  }),
  logLevel: start.choice({
    name: 'LOG_LEVEL',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    description: 'Least severe lines that the system log (standard error, JSON lines) shows.',
  }),
  nodeLogLinesPerSecond: start.integer({
    name: 'LOG_NODE_LINES_PER_SECOND',
    default: 200,
    min: 1,
    max: 100_000,
    unit: 'lines/s',
    description:
      'Lines a second that all log nodes together may write; what is beyond is counted and told in one line.',
  }),
  stopTimeoutMs: start.integer({
    name: 'STOP_TIMEOUT_MS',
    default: 10_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    description:
      'How long a stop may take. Half of it is for requests under way; after it the process ends hard, and what was not settled is delivered again at the next start.',
  }),
} as const
