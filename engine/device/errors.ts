/** What a device's session can be refused for. */
import { defineErrors } from '../../model/errors.ts'

export const DeviceErrors = defineErrors('device', {
  PACKAGE_ELSEWHERE: {
    kind: 'invalid',
    status: 404,
    text: 'The package is not here: the device is told its URL',
    restCode: 32,
  },
  NO_PACKAGES: { kind: 'invalid', status: 404, text: 'No packages are served here' },
  SESSION_ENDED: { kind: 'denied', status: 401, text: 'The session has ended' },
  /** As a rate that is exceeded: the connection ends without an answer, HTTP says 500. */
  USAGE_LIMIT: { kind: 'terminal', status: 500, text: 'The tenant has used up what its devices may send this month' },
  TOO_MANY_LOGINS: { kind: 'retryable', status: 503, text: 'More than {limit} logins are being looked up at once' },
  MAILBOX_FULL: { kind: 'retryable', status: 503, text: 'More of this device waits than there is room for' },
  SESSION_FAILED: { kind: 'terminal', status: 500, text: 'The session failed and was ended' },
  TOO_MANY_CALLS: {
    kind: 'retryable',
    status: 503,
    text: 'More calls of this device wait for an answer than there is room for',
  },
  TOO_MANY_OFFERS: {
    kind: 'retryable',
    status: 503,
    text: 'Too many claim requests of this device are under way: try again later',
  },
  OFFER_FAILED: { kind: 'retryable', status: 503, text: 'The offer of the device to be claimed was not stored' },
  RATE_LIMIT: {
    kind: 'retryable',
    status: 429,
    text: "Too many messages or values at once: the tenant's profile limits what its devices may send",
  },
  CHILD_LIMIT: { kind: 'denied', status: 403, text: "The tenant's limit of devices is reached" },
  CHILD_REFUSED: { kind: 'invalid', status: 400, text: 'A device of this name and type can not be made' },
  CHILD_GONE: { kind: 'retryable', status: 503, text: 'The device was deleted or renamed meanwhile' },
  CLOSED: { kind: 'retryable', status: 503, text: 'The server is shutting down' },
})
