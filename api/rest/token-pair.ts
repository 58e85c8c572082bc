/** A pair of tokens as answers show it. Source: `rest-api.md` 1.3. */
import type { JsonObject } from '../../model/json.ts'
import { HALF_SCOPES, type TokenPair } from '../auth/tokens.ts'
import { rawAnswer } from './declared/declare.ts'
import { jsonAnswer, type Answer } from './route.ts'

export const pairShape: JsonObject = {
  type: 'object',
  properties: { token: { type: 'string' }, refreshToken: { type: 'string' } },
  required: ['token', 'refreshToken'],
}

/** Of a log-in: where a second factor is asked for or has to be set up, the token is good for that alone, and `scope` says so. */
export const loginShape: JsonObject = {
  type: 'object',
  properties: { token: { type: 'string' }, refreshToken: { type: 'string' }, scope: { enum: [...HALF_SCOPES] } },
  required: ['token'],
}

export function pairAnswer({ token, refreshToken, scope }: TokenPair): Answer {
  const members = scope === undefined ? { token, refreshToken } : { token, scope }
  // The reference's login handlers answer with this character set; the body is ASCII in any.
  return rawAnswer({ ...jsonAnswer(members), contentType: 'application/json;charset=ISO-8859-1' })
}
