/** What notifications refuse. Source: `rest-api.md` 15.4. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const NotificationErrors = defineErrors('notifications', {
  TAKEN: { ...BAD_REQUEST, text: '{what} with such name already exists!' },
  CONFIGURATION: { ...BAD_REQUEST, text: 'Validation error: {member} must not be empty' },
  TARGET_UNKNOWN: { ...BAD_REQUEST, text: 'There is no notification target {id}' },
  TEMPLATE_UNKNOWN: { ...BAD_REQUEST, text: 'There is no such notification template' },
  DELAYED: { ...BAD_REQUEST, text: 'Delayed notifications are not served: sendingDelayInSec must be 0' },
  TOO_MANY: { ...BAD_REQUEST, text: 'The targets name {count} users, at most {limit} are allowed' },
  NOT_FOUND: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
})
