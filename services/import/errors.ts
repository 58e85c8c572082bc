/** What may be wrong with a transfer that goes piece by piece. */
import { defineErrors } from '../../model/errors.ts'

export const TransferErrors = defineErrors('transfer', {
  ELSEWHERE: {
    kind: 'invalid',
    status: 409,
    text: 'The transfer is at {position}, not at {from}: ask where it is, and go on from there',
    restCode: 31,
  },
  QUOTE: {
    kind: 'invalid',
    status: 400,
    text: 'Line {line} has a quote that nothing ends: all behind it would be one cell. Nothing of this was imported',
    restCode: 31,
  },
  TOO_MANY: { kind: 'denied', status: 429, text: 'At most {limit} imports may be under way', restCode: 33 },
  OTHERS: { kind: 'invalid', status: 409, text: 'The transfer is going on elsewhere', restCode: 31 },
})
