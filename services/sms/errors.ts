import { defineErrors } from '../../model/errors.ts'

export const SmsErrors = defineErrors('sms', {
  NOT_SET_UP: { kind: 'terminal', status: 500, text: 'Unable to send SMS: no SMS provider configured!' },
})
