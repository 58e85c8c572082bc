/** What calls to devices and to the rule engine are refused for. */
import { defineErrors } from '../../model/errors.ts'

export const RpcErrors = defineErrors('rpc', {
  TOO_MANY_WAITING: {
    kind: 'retryable',
    status: 503,
    text: 'More calls wait for an answer than there is room for: at most {limit} of a tenant',
  },
  ID_TAKEN: {
    kind: 'invalid',
    status: 409,
    text: 'Another call has the requestUUID {id}: leave it out, or take another',
    restCode: 35,
  },
  TOO_MANY_KEPT: {
    kind: 'invalid',
    status: 400,
    text: 'The device has {limit} persistent calls that are not over: delete some, or wait',
    restCode: 31,
  },
})
