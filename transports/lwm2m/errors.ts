import { defineErrors } from '../../model/errors.ts'

export const Lwm2mErrors = defineErrors('lwm2m', {
  BAD_PAYLOAD: { kind: 'invalid', status: 400, text: 'The payload is no {format}: {reason}' },
  TOO_MANY_VALUES: { kind: 'invalid', status: 413, text: 'A payload has at most {limit} values' },
  WRONG_VALUE: { kind: 'invalid', status: 400, text: '{path} is {type}: {reason}' },
  UNKNOWN_FORMAT: { kind: 'invalid', status: 415, text: 'Content-Format {format} is not understood here' },
})
