import { defineErrors } from '../../model/errors.ts'

export const NodeCapabilityErrors = defineErrors('node-capability', {
  DEVICE_ELSEWHERE: { kind: 'retryable', status: 503, text: 'Another process keeps the state of device {device}' },
  NO_CUSTOM_TABLES: {
    kind: 'invalid',
    status: 400,
    text: 'custom tables are kept in PostgreSQL, and nothing of this Millrace is: DATABASE_ENTITIES_TYPE or DATABASE_TS_TYPE says so',
  },
})
