/** The caller of an HTTP request. Source: `rest-api.md` 1.1; the bare token of the requirements is taken too. */
import type { Principal } from '../../model/principal.ts'
import type { HttpRequest } from '../../server/http-server.ts'
import { ApiErrors } from '../errors.ts'
import type { Auth } from './auth.ts'
import { AuthErrors } from './errors.ts'

/** `X-Authorization` is looked at first, and a bad one is not rescued by a good `Authorization`. */
export function credentialsOf(request: HttpRequest): string {
  return request.header('x-authorization') || request.header('authorization')
}

/** Throws `AUTHENTICATION_FAILED` where no credentials came at all, else what `Auth.authenticate` throws. */
export async function authenticated(auth: Auth, request: HttpRequest): Promise<Principal> {
  const credentials = credentialsOf(request)
  if (credentials === '') throw ApiErrors.AUTHENTICATION_FAILED()
  // There are no API keys yet, so each one is unknown.
  if (credentials.startsWith('ApiKey ')) throw AuthErrors.BAD_CREDENTIALS()
  return auth.authenticate(credentials)
}
