/** What notifications refuse. Source: `rest-api.md` 15.4. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const NotificationErrors = defineErrors('notifications', {
  TAKEN: { ...BAD_REQUEST, text: '{what} with such name already exists' },
  CONFIGURATION: { ...BAD_REQUEST, text: 'Validation error: {member} must not be empty' },
  TARGET_UNKNOWN: { ...BAD_REQUEST, text: 'There is no notification target {id}' },
  TEMPLATE_MISSING: { ...BAD_REQUEST, text: 'Template is missing' },
  NO_METHOD: { ...BAD_REQUEST, text: 'No delivery methods to send notification with' },
  NOT_CONFIGURED: { ...BAD_REQUEST, text: '{reason}' },
  NOBODY_BY: { ...BAD_REQUEST, text: 'Recipients for {method} delivery method not chosen' },
  REQUEST_FIXED: { ...BAD_REQUEST, text: 'Notification request cannot be updated. You may only cancel/delete it' },
  TEMPLATE_UNKNOWN: { ...BAD_REQUEST, text: 'There is no such notification template' },
  DELAY: { ...BAD_REQUEST, text: 'sendingDelayInSec must be a whole number from 0 to {limit}' },
  TOO_MANY: { ...BAD_REQUEST, text: 'The targets name {count} users, at most {limit} are allowed' },
  TOO_MANY_WAITING: { ...BAD_REQUEST, text: 'At most {limit} notification requests may wait to be sent' },
  TOO_MANY_RULES: { ...BAD_REQUEST, text: 'At most {limit} notification rules are allowed' },
  INVALID: { ...BAD_REQUEST, text: 'Validation error: {member}: {reason}' },
  TRIGGER_UNAVAILABLE: { ...BAD_REQUEST, text: 'Trigger type {type} is not available' },
  TYPE_FIXED: { ...BAD_REQUEST, text: 'Notification type cannot be updated' },
  ONE_OF_TYPE: { ...BAD_REQUEST, text: 'There can only be one notification template of this type' },
  TRIGGER_FIXED: { ...BAD_REQUEST, text: 'Trigger type of a notification rule cannot be changed' },
  IN_USE: { ...BAD_REQUEST, text: '{what} is {used} {by}' },
  TOO_SLOW: { kind: 'retryable', status: 503, text: 'The {service} took longer than {seconds} s' },
  NO_PHONE: { ...BAD_REQUEST, text: 'User does not have phone number' },
  SLACK: { ...BAD_REQUEST, text: 'Slack is not configured' },
  NOT_FOUND: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
})
