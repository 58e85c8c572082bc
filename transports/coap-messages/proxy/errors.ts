import { defineErrors } from '../../../model/errors.ts'

export const ProxyErrors = defineErrors('dtls-proxy', {
  BAD_FRAME: { kind: 'invalid', status: 400, text: 'The proxy said what means nothing here: {reason}' },
  LISTEN_FAILED: {
    kind: 'terminal',
    status: 500,
    text: '{label} can not listen for its DTLS proxy at {path}: {reason}. Set {setting}',
  },
})
