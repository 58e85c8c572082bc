import { defineErrors } from '../../model/errors.ts'

export const NodeCapabilityErrors = defineErrors('node-capability', {
  DEVICE_ELSEWHERE: { kind: 'retryable', status: 503, text: 'Another process keeps the state of device {device}' },
  NO_CUSTOM_TABLES: {
    kind: 'invalid',
    status: 400,
    text: 'custom tables need PostgreSQL: set DATABASE_ENTITIES_TYPE=postgres, or DATABASE_TS_TYPE=sql or questdb',
  },
})
