import { settingsOf } from '../define.ts'

const ROLES = ['transport', 'engine', 'api'] as const
const start = settingsOf('Start')

export const START_SETTINGS = {
  dataDir: start.text({
    name: 'DATA_DIR',
    default: 'data',
    description: 'Folder of the embedded stores; made if absent.',
  }),
  serviceId: start.optionalWord({
    name: 'TB_SERVICE_ID',
    description: 'Name of this process in events and queue statistics. Default: the host name.',
  }),
  demo: start.flag({
    name: 'DEMO',
    default: true,
    description: 'First start: demo tenant, logins and device; false: one system administrator with a random password.',
  }),
  roles: start.choices({
    name: 'MILLRACE_ROLES',
    default: ROLES,
    choices: ROLES,
    description:
      'transport serves devices, engine runs rule chains, api serves users. Fewer than all need LINK=jetstream and shared stores.',
  }),
  readyJson: start.flag({
    name: 'READY_JSON',
    default: false,
    description: 'Print the real ports as JSON once ready.',
  }),
  logLevel: start.choice({
    name: 'LOG_LEVEL',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    description: 'Least severe lines in the log.',
  }),
  nodeLogLinesPerSecond: start.integer({
    name: 'LOG_NODE_LINES_PER_SECOND',
    default: 200,
    min: 1,
    max: 100_000,
    unit: 'lines/s',
    description: 'Lines of all log nodes together; more are counted in one line.',
  }),
  stopTimeoutMs: start.integer({
    name: 'STOP_TIMEOUT_MS',
    default: 10_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    description: 'Longest stop, half of it for requests under way. What is unsettled then runs at the next start.',
  }),
} as const
