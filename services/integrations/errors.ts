/** What integrations refuse, and why a frame of one fails. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const IntegrationErrors = defineErrors('integration', {
  NAME_TAKEN: { ...BAD_REQUEST, text: 'Integration with such name already exists!' },
  KEY_TAKEN: { ...BAD_REQUEST, text: 'The key of the webhook is taken, try again' },
  INVALID: { ...BAD_REQUEST, text: 'Validation error: {member}: {reason}' },
  SECRET_MASKED: { ...BAD_REQUEST, text: 'Validation error: {member} is masked: fill it in' },
  TOO_MANY: { ...BAD_REQUEST, text: 'At most {limit} integrations are allowed' },
  NO_WEBHOOK: { ...BAD_REQUEST, text: 'An integration of type {type} has no webhook' },
  PAYLOAD: { ...BAD_REQUEST, text: 'The payload is not {format}: {reason}' },
  RESULT: { ...BAD_REQUEST, text: 'What the converter returned is wrong: {place}: {reason}' },
  DEVICE_UNKNOWN: {
    kind: 'invalid',
    status: 404,
    text: "There is no device '{name}', and the integration may not make it",
  },
  FRAME_TOO_LARGE: { kind: 'invalid', status: 413, text: 'A payload of {bytes} bytes, at most {limit} are allowed' },
  UNKNOWN: { kind: 'invalid', status: 404, text: 'There is no such webhook' },
  SECRET_WRONG: { kind: 'denied', status: 401, text: 'The secret of the webhook is missing or wrong' },
  TENANT_FULL: { kind: 'invalid', status: 429, text: 'Too much of this tenant waits to be stored, try again later' },
  FULL: { kind: 'retryable', status: 503, text: 'Too much waits to be stored, try again later' },
  SCRIPT_PAUSED: { kind: 'retryable', status: 503, text: 'The converter is paused: {reason}' },
  CLOSED: { kind: 'retryable', status: 503, text: 'The integration was stopped' },
  PORT_NOT_ALLOWED: {
    ...BAD_REQUEST,
    text: 'The operator does not allow integrations to listen at port {port} (INTEGRATION_PORTS)',
  },
  ADDRESS_NOT_ALLOWED: {
    ...BAD_REQUEST,
    text: 'The operator does not allow integrations to listen at {address} (INTEGRATION_ADDRESSES)',
  },
  NO_CERTIFICATE: {
    ...BAD_REQUEST,
    text: 'The operator names no certificate for integrations with tls (INTEGRATION_SSL_PEM_CERT)',
  },
  NO_FOLDER: {
    ...BAD_REQUEST,
    text: 'The operator names no folder whose files integrations may read (INTEGRATION_FOLDER)',
  },
  FOLDER: { kind: 'retryable', status: 503, text: "The folder '{folder}' cannot be used: {reason}" },
  TOO_MANY_PORTS: { kind: 'retryable', status: 503, text: 'At most {limit} ports of one tenant are listened at' },
  TOO_MANY_CONNECTIONS: { kind: 'retryable', status: 503, text: 'Too many connections are open: one was ended' },
  DROPPED: { kind: 'retryable', status: 503, text: 'A datagram came while too much waited to be stored: it is lost' },
  SOURCE: { kind: 'retryable', status: 502, text: '{source}: {reason}' },
})
