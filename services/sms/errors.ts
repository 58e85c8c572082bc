import { defineErrors } from '../../model/errors.ts'

export const SmsErrors = defineErrors('sms', {
  NUMBER: { kind: 'invalid', status: 400, text: "'{number}' is no phone number in the international form" },
  NOT_SET_UP: { kind: 'terminal', status: 500, text: 'Unable to send SMS: no SMS provider configured!' },
})
