import { defineErrors } from '../../model/errors.ts'

export const MailErrors = defineErrors('mail', {
  NOT_SET_UP: { kind: 'terminal', status: 500, text: 'No mail server is set' },
  /** Tried again it would come twice to those who have it. */
  PARTLY_REFUSED: {
    kind: 'invalid',
    status: 502,
    text: 'the mail server refuses {recipients}; the others have the mail, so it is not sent again',
  },
})
