import { defineErrors } from '../../model/errors.ts'

export const MailErrors = defineErrors('mail', {
  NOT_SET_UP: { kind: 'terminal', status: 500, text: 'No mail server is set' },
})
