/** The caller of an HTTP request. Source: `rest-api.md` 1.1; the bare token of the requirements is taken too. */
import type { Principal } from '../../model/principal.ts'
import type { HttpRequest } from '../../server/http-server.ts'
import { ApiErrors } from '../errors.ts'
import type { Auth } from './auth.ts'

const API_KEY = 'ApiKey '

/** `X-Authorization` is looked at first, and a bad one is not rescued by a good `Authorization`. */
export function credentialsOf(request: HttpRequest): string {
  return request.header('x-authorization') || request.header('authorization')
}

/** Throws `AUTHENTICATION_FAILED` where no credentials came at all, else what `Auth.authenticate` throws. */
export async function authenticated(auth: Auth, request: HttpRequest): Promise<Principal> {
  const credentials = credentialsOf(request)
  if (credentials === '') throw ApiErrors.AUTHENTICATION_FAILED()
  if (credentials.startsWith(API_KEY)) return auth.authenticateApiKey(credentials.slice(API_KEY.length))
  return auth.authenticate(credentials)
}
