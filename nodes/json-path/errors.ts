import { defineErrors } from '../../model/errors.ts'

export const JsonPathErrors = defineErrors('json-path', {
  PATH_INVALID: { kind: 'invalid', status: 400, text: 'The JSON path is wrong at position {position}: {reason}' },
  NOT_FOUND: { kind: 'invalid', status: 400, text: 'The JSON path leads nowhere: {reason}' },
  TOO_COSTLY: { kind: 'invalid', status: 400, text: 'The JSON path visits too much of this message' },
})
