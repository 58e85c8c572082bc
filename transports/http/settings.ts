import { settingsOf } from '../../config/define.ts'

const http = settingsOf('HTTP device API')

export const HTTP_DEVICE_SETTINGS = {
  httpMaxPayloadBytes: http.integer({
    name: 'HTTP_TRANSPORT_MAX_PAYLOAD_SIZE',
    default: 4_194_304,
    min: 1024,
    max: 1 << 30,
    unit: 'bytes',
    description: 'Largest body of a device; more is 413.',
  }),
  httpRequestTimeoutMs: http.integer({
    name: 'HTTP_MAX_REQUEST_TIMEOUT',
    default: 300_000,
    min: 1000,
    max: 3_600_000,
    unit: 'ms',
    description: 'Longest long poll.',
  }),
  httpMaxLongPolls: http.integer({
    name: 'HTTP_MAX_LONG_POLLS',
    default: 10_000,
    min: 1,
    max: 10_000_000,
    description: 'Long polls that wait, a connection each; more are 503.',
  }),
  httpMaxLongPollsPerTenant: http.integer({
    name: 'HTTP_MAX_LONG_POLLS_PER_TENANT',
    default: 7500,
    min: 1,
    max: 10_000_000,
    description: "Of these, one tenant's.",
  }),
} as const
