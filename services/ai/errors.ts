/** What models of artificial intelligence refuse. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const AiErrors = defineErrors('ai', {
  NAME_TAKEN: { ...BAD_REQUEST, text: 'AI model with such name already exists!' },
  INVALID: { ...BAD_REQUEST, text: 'Validation error: {member}: {reason}' },
  SECRET_MASKED: { ...BAD_REQUEST, text: 'Validation error: {member} is masked: fill it in' },
  TOO_MANY: { ...BAD_REQUEST, text: 'At most {limit} AI models are allowed' },
  FILE_MISSING: { ...BAD_REQUEST, text: 'There is no file with the id {id}, of the tenant or the system' },
  FILE_KIND: { ...BAD_REQUEST, text: 'The file {id} is a {type}: only those of the type GENERAL go with a question' },
  FILE_TYPELESS: { ...BAD_REQUEST, text: "The file '{name}' has no mediaType in its descriptor" },
  FILE_TYPE: { ...BAD_REQUEST, text: "Models of {provider} are given no {mediaType}: '{name}'" },
  REFUSED: { kind: 'retryable', status: 502, text: '{provider} answered {status}{reason}' },
  ANSWER_MALFORMED: { kind: 'invalid', status: 502, text: 'What {provider} answered is no answer of a model' },
})
