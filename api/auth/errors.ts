/** Why a login or a token is refused. Source: `rest-api.md` 1.5. */
import { defineErrors } from '../../model/errors.ts'

export const AuthErrors = defineErrors('auth', {
  /** A wrong password, an unknown user and text that is no token at all are told apart by nobody. */
  BAD_CREDENTIALS: { kind: 'denied', status: 401, text: 'Invalid username or password' },
  /** Expired, forged or withdrawn: `errorCode` 11 makes existing clients refresh and try again. */
  TOKEN_EXPIRED: { kind: 'denied', status: 401, restCode: 11, text: 'Token has expired' },
  /** A good token whose scope is another: of a login that is half done where a whole one is asked for, and the other way round. */
  OTHER_SCOPE: {
    kind: 'denied',
    status: 403,
    restCode: 20,
    text: "You don't have permission to perform this operation!",
  },
  /** To act as who may not log in. */
  NOT_ACTIVE: { kind: 'denied', status: 400, restCode: 31, text: 'User account is not active' },
  TOKEN_OUTDATED: { kind: 'denied', status: 401, text: 'Token is outdated' },
  API_KEY_UNKNOWN: { kind: 'denied', status: 401, text: 'User not found for the provided API key' },
  TOO_MANY_FAILURES: {
    kind: 'retryable',
    status: 429,
    text: 'Too many failed logins from this address, try again later',
  },
  LOCKED: { kind: 'denied', status: 401, text: 'User account is locked due to security policy' },
})
