/** What models of artificial intelligence refuse. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const AiErrors = defineErrors('ai', {
  NAME_TAKEN: { ...BAD_REQUEST, text: 'AI model with such name already exists!' },
  INVALID: { ...BAD_REQUEST, text: 'Validation error: {member}: {reason}' },
  SECRET_MASKED: { ...BAD_REQUEST, text: 'Validation error: {member} is masked: fill it in' },
  TOO_MANY: { ...BAD_REQUEST, text: 'At most {limit} AI models are allowed' },
  NOT_SERVED: { ...BAD_REQUEST, text: 'Models of {provider} are not asked by Millrace' },
  REFUSED: { kind: 'retryable', status: 502, text: '{provider} answered {status}{reason}' },
  ANSWER_MALFORMED: { kind: 'invalid', status: 502, text: 'What {provider} answered is no answer of a model' },
})
