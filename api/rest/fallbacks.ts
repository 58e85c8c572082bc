/**
 * What nobody serves: another method of a known path (405 with what is allowed), an unknown path (404), preflights. Paths
 * that need a login tell only those who have one whether they exist. Source: `rest-api.md` 1.2, 1.3, 2.3.
 */
import type { Clock } from '../../model/clock.ts'
import { sendPreflight, withCors } from '../../server/cors.ts'
import {
  COMMON_HEADERS,
  type HttpReply,
  type HttpRequest,
  type HttpServer,
  type RouteOptions,
} from '../../server/http-server.ts'
import type { Auth } from '../auth/auth.ts'
import { authenticated } from '../auth/request.ts'
import { ApiErrors, sendError } from '../errors.ts'

export interface FallbackOptions {
  readonly server: HttpServer
  readonly auth: Auth
  readonly clock: Clock
}

/** No body is looked at: as much of it is read as keeps the connection of a client that sent it by mistake. */
const ROUTE_OPTIONS: RouteOptions = {
  headers: [...COMMON_HEADERS, 'access-control-request-headers'],
  maxBodyBytes: 65_536,
}
/** Of parts of the reference that are not here: their last word would be read as an id. */
const NOT_HERE: ReadonlySet<string> = new Set([
  '/api/tenant/edge',
  '/api/tenant/edges',
  '/api/ruleChain/autoAssignToEdgeRuleChains',
])
const LOGIN_PATHS: ReadonlySet<string> = new Set(['/api/auth/login', '/api/auth/login/public'])

export function registerFallbacks({ server, auth, clock }: FallbackOptions): void {
  const refuse = (
    request: HttpRequest,
    plainReply: HttpReply,
    error: () => Error,
    headers?: Readonly<Record<string, string>>,
  ): void => {
    if (request.method === 'OPTIONS' && request.path.startsWith('/api/')) return sendPreflight(request, plainReply)
    const reply = withCors(request, plainReply)
    void mayKnow(auth, request).then(
      () => sendError(reply, error(), clock.now(), headers),
      (denied: unknown) => sendError(reply, denied, clock.now()),
    )
  }
  for (const { pattern, allowed } of unservedMethods(server)) {
    const Allow = allowed.join(', ')
    const handler = (request: HttpRequest, reply: HttpReply): void =>
      refuse(request, reply, () => wrongMethod(request), { Allow })
    server.route('ANY', pattern, handler, ROUTE_OPTIONS)
  }
  const unknown = (request: HttpRequest, reply: HttpReply): void => refuse(request, reply, () => unknownPath(request))
  server.route('ANY', '/*', unknown, ROUTE_OPTIONS)
}

/** Throws `UNKNOWN_PATH`. */
export function requireHere(request: HttpRequest): void {
  if (NOT_HERE.has(request.path)) throw unknownPath(request)
}

function unknownPath(request: HttpRequest): Error {
  return ApiErrors.UNKNOWN_PATH({ path: request.path.replace(/^\//, '') })
}

function wrongMethod(request: HttpRequest): Error {
  if (LOGIN_PATHS.has(request.path)) return ApiErrors.METHOD_NOT_AUTHENTICATING()
  return ApiErrors.METHOD_NOT_ALLOWED({ method: request.method })
}

/** Rejects where the path needs a login and the caller has none. */
async function mayKnow(auth: Auth, request: HttpRequest): Promise<void> {
  if (needsLogin(request.path)) await authenticated(auth, request)
}

function needsLogin(path: string): boolean {
  if (!path.startsWith('/api/')) return false
  return (
    !['/api/v1/', '/api/noauth/', '/api/ws/', '/api/auth/token'].some((open) => path.startsWith(open)) &&
    !LOGIN_PATHS.has(path)
  )
}

/** Every pattern served for some methods only, with those; patterns that differ only in parameter names are one. */
function unservedMethods(
  server: HttpServer,
): readonly { readonly pattern: string; readonly allowed: readonly string[] }[] {
  const shapes = new Map<string, { readonly pattern: string; readonly methods: Set<string> }>()
  for (const { method, pattern } of server.routes) {
    const shape = pattern.replace(/:[^/]+/g, ':')
    const known = shapes.get(shape)
    if (known === undefined) shapes.set(shape, { pattern, methods: new Set([method]) })
    else known.methods.add(method)
  }
  return [...shapes.values()]
    .filter(({ methods }) => !methods.has('ANY'))
    .map(({ pattern, methods }) => ({ pattern, allowed: [...methods].toSorted() }))
}
