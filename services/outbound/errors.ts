/** What the outbound policy refuses, and what a service outside does not do. */
import { defineErrors } from '../../model/errors.ts'

export const OutboundErrors = defineErrors('outbound', {
  ADDRESS_INTERNAL: {
    kind: 'denied',
    status: 403,
    text: "'{host}' is an internal address: the operator allows it by OUTBOUND_ALLOWED_ADDRESSES",
  },
  ADDRESS_DENIED: { kind: 'denied', status: 403, text: "'{host}' may not be called: the operator denies it" },
  ADDRESS_INVALID: { kind: 'invalid', status: 400, text: "'{address}' is no address to call: {reason}" },
  LOGIN_INVALID: { kind: 'invalid', status: 400, text: '{reason}' },
  HOST_UNKNOWN: { kind: 'retryable', status: 502, text: "'{host}' has no address: {reason}" },
  TENANT_FULL: {
    kind: 'retryable',
    status: 429,
    text: '{waiting} calls of the tenant wait for a place, at most {limit} may',
  },
  CALL_TOO_BIG: { kind: 'invalid', status: 413, text: 'a call of {bytes} bytes, at most {limit} are allowed' },
  ANSWER_TOO_BIG: { kind: 'invalid', status: 502, text: 'the answer has more than {limit} bytes' },
  TIMEOUT: { kind: 'retryable', isTimeout: true, status: 504, text: 'no answer within {ms} ms' },
  TOO_MANY_CLIENTS: {
    kind: 'terminal',
    status: 429,
    text: '{count} nodes of the tenant call services outside, at most {limit} may',
  },
  CLOSED: { kind: 'retryable', status: 503, text: 'the connection is closed' },
  CALL_FAILED: { kind: 'retryable', status: 502, text: '{reason}' },
})
