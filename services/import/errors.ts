/** What may be wrong with a transfer that goes piece by piece. */
import { defineErrors } from '../../model/errors.ts'

export const TransferErrors = defineErrors('transfer', {
  ELSEWHERE: {
    kind: 'invalid',
    status: 409,
    text: 'The transfer is at {position}, not at {from}: ask where it is, and go on from there',
    restCode: 31,
  },
  OTHERS: { kind: 'invalid', status: 409, text: 'The transfer is going on elsewhere', restCode: 31 },
})
