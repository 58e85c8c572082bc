/** What the gateway API refuses; what a gateway is told of it is in `receipts.ts`. Source: `device-api.md` 4.3. */
import { defineErrors } from '../../../model/errors.ts'

export const GatewayErrors = defineErrors('gateway', {
  /** JSON, but not what the topic takes: the connection ends. */
  WRONG_STRUCTURE: { kind: 'invalid', status: 400, text: 'The payload is not what this topic takes: {reason}' },
  TOO_MANY_CHILDREN: {
    kind: 'denied',
    status: 403,
    text: 'More devices are connected through gateways than there is room for',
  },
  CONNECT_FAILED: { kind: 'retryable', status: 503, text: 'The device can not be connected now' },
  ATTRIBUTES_UNAVAILABLE: { kind: 'retryable', status: 503, text: 'The attributes can not be read now' },
})
