/** Why a chain is not tried on messages of the log. */
import { defineErrors } from '../../model/errors.ts'

export const TrialErrors = defineErrors('trial', {
  UNKNOWN: { kind: 'invalid', status: 404, text: 'There is no such trial; its report is kept for some minutes' },
  RUNNING: { kind: 'retryable', status: 429, text: 'Another trial of the tenant runs: wait for it, or stop it' },
  FULL: { kind: 'retryable', status: 429, text: 'This process runs {limit} trials already: try again later' },
  TOO_MANY_CHAINS: {
    kind: 'invalid',
    status: 400,
    text: 'The tenant has over {limit} rule chains: too many for a trial',
  },
  STOPPED: { kind: 'retryable', status: 503, text: 'Millrace stops' },
})
