import { defineErrors } from '../../model/errors.ts'

export const NodeCapabilityErrors = defineErrors('node-capability', {
  DEVICE_ELSEWHERE: { kind: 'retryable', status: 503, text: 'Another process keeps the state of device {device}' },
})
