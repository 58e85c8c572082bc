import { defineErrors } from '../../model/errors.ts'

/** Of messages, whatever they are for. */
export const MessageErrors = defineErrors('coap', {
  LISTEN_FAILED: {
    kind: 'terminal',
    status: 500,
    text: '{label} can not listen on {address}:{port}: {reason}. Set {addressName} or {portName}',
  },
  TOO_LARGE: { kind: 'invalid', status: 413, text: 'A payload has at most {limit} bytes' },
  BLOCK_MISSING: { kind: 'invalid', status: 408, text: 'Block {wanted} was next: begin again with block 0' },
  BAD_BLOCK: { kind: 'invalid', status: 400, text: 'This block option means nothing here' },
  CRITICAL_OPTION: { kind: 'invalid', status: 402, text: 'Option {number} is not known here' },
  BUSY: { kind: 'retryable', status: 503, text: 'The server has no room for this now' },
  NO_ANSWER: { kind: 'retryable', status: 504, text: 'The client did not answer', isTimeout: true },
  ASKED_REFUSED: { kind: 'invalid', status: 400, text: 'The client refused the message' },
  CHANGED_MEANWHILE: { kind: 'retryable', status: 503, text: 'The blocks that came are of two answers: ask again' },
  CLOSED: { kind: 'retryable', status: 503, text: 'The server stops' },
})
