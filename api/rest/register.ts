/**
 * Puts the REST API on the HTTP server: every row of the route table, with login and authority checked before its handler
 * runs, and in the end an answer to every path and method that nobody serves. Call it after all others declared their routes.
 */
import { isMillraceError } from '../../model/errors.ts'
import { parseJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { withCors } from '../../server/cors.ts'
import {
  COMMON_HEADERS,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  type HttpServer,
  type RouteOptions,
} from '../../server/http-server.ts'
import type { Auth } from '../auth/auth.ts'
import { authenticated, credentialsOf } from '../auth/request.ts'
import { ParameterErrors, errorAnswer, isRequestError, sendError, sendErrorText } from '../errors.ts'
import { isDeclared } from './declared/table.ts'
import { requireAuthority } from './authorize.ts'
import { registerFallbacks, requireHere } from './fallbacks.ts'
import { MAX_PAGE_SIZE, Query } from './query.ts'
import type { Answer, PublicCall } from './route.ts'
import type { RestRoute } from './rows.ts'
import { restRoutes, type ApiLog, type RestRoutesOptions } from './rest-routes.ts'

export interface RestApiOptions extends RestRoutesOptions {
  readonly server: HttpServer
  /** Largest body of a call that needs no login; default 64 KiB. */
  readonly maxPublicBodyBytes?: number
  /** Rows of one page; default {@link MAX_PAGE_SIZE}. */
  readonly maxPageSize?: number
}

export function registerRestApi(options: RestApiOptions): readonly RestRoute[] {
  const { server, auth, clock, log, maxPageSize = MAX_PAGE_SIZE } = options
  const routes = restRoutes(options)
  for (const route of routes) {
    const handler: HttpHandler = (request, plainReply) => {
      const reply = withCors(request, plainReply)
      void answer(route, request, options, maxPageSize).then(
        ({ status, contentType, body, bytes, headers, release }) =>
          reply.send(status, contentType, bytes ?? body, { ...NO_STORE, ...headers }, release),
        (error: unknown) => refuse(route, request, reply, error, clock.now(), log),
      )
    }
    const admit = async (request: HttpRequest, plainReply: HttpReply): Promise<boolean> => {
      try {
        await callerOf(route, request, auth)
        return true
      } catch (error) {
        refuse(route, request, withCors(request, plainReply), error, clock.now(), log)
        return false
      }
    }
    server.route(route.method, route.pattern, handler, bodyOptions(route, options.maxPublicBodyBytes ?? 65_536, admit))
  }
  registerFallbacks({ server, auth, clock })
  return routes
}

/** Nobody is known who calls a public route, nor will be: a login is small. */
function bodyOptions(route: RestRoute, maxPublicBodyBytes: number, admit: RouteOptions['admit']): RouteOptions {
  const own = isDeclared(route)
    ? route.declared.flatMap(({ headers = [], alsoReads = [] }) => [...headers, ...alsoReads])
    : []
  const isGzipped = route.authorities !== 'public' && route.declared.some((declared) => declared.isGzipped === true)
  const encoding = isGzipped ? ['accept-encoding'] : []
  const headers = { headers: [...COMMON_HEADERS, ...encoding, ...own.map((name) => name.toLowerCase())] }
  if (route.authorities === 'public') return { ...headers, maxBodyBytes: maxPublicBodyBytes, clientAddress: true }
  return {
    ...headers,
    clientAddress: true,
    ...(admit === undefined ? {} : { admit }),
    ...(route.maxBodyBytes === undefined ? {} : { maxBodyBytes: route.maxBodyBytes }),
  }
}

/** Answers hold tenants' data and tokens: nothing between here and the client may keep them or guess their type. */
const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

async function answer(
  route: RestRoute,
  request: HttpRequest,
  { auth, services }: Pick<RestApiOptions, 'auth' | 'services'>,
  maxPageSize: number,
): Promise<Answer> {
  const call = callOf(request, maxPageSize)
  if (route.authorities === 'public') return route.handle(call)
  const caller = await whoCalls(route, request, auth)
  await services.restRates.check(caller)
  requireHere(request)
  return route.handle({ ...call, principal: callerFor(route, request, caller) })
}

async function callerOf(route: RestRoute, request: HttpRequest, auth: Auth): Promise<Principal> {
  return callerFor(route, request, await whoCalls(route, request, auth))
}

async function whoCalls(route: RestRoute, request: HttpRequest, auth: Auth): Promise<Principal> {
  try {
    return await authenticated(auth, request)
  } catch (error) {
    const isHalf = isMillraceError(error) && error.code === 'auth.OTHER_SCOPE'
    if (!isHalf || route.authorities === 'public' || route.setsUpSecondFactor !== true) throw error
    return auth.authenticateToSetUp(credentialsOf(request))
  }
}

function callerFor(route: RestRoute, request: HttpRequest, principal: Principal): Principal {
  if (route.authorities !== 'public') requireAuthority(principal, route.authorities)
  return { ...principal, clientAddress: request.clientAddress }
}

function callOf(request: HttpRequest, maxPageSize: number): PublicCall {
  // Clients on Windows begin a text with a mark of its byte order.
  const text = (): string => request.body.toString('utf8').replace(/^\ufeff/, '')
  return {
    query: new Query(request.query, maxPageSize),
    credentials: credentialsOf(request),
    header: (name) => request.header(name.toLowerCase()),
    clientAddress: request.clientAddress,
    isLocal: request.isLocal,
    parameter: (index) => request.parameters[index] ?? '',
    text,
    bytes: () => request.body,
    json: () => {
      const body = text()
      if (body.trim() === '') throw ParameterErrors.BODY_MISSING()
      try {
        return parseJson(body)
      } catch (error) {
        if (isMillraceError(error)) throw ParameterErrors.BODY_NOT_JSON({ reason: error.message }, error)
        throw error
      }
    },
  }
}

function refuse(
  route: RestRoute,
  request: HttpRequest,
  reply: HttpReply,
  error: unknown,
  now: number,
  log: ApiLog,
): void {
  if (errorAnswer(error).status >= 500)
    log.error({ err: error, method: request.method, path: request.path }, 'call failed')
  const asText = route.authorities !== 'public' && route.errorsAsText === true
  if (asText && isMillraceError(error) && !isRequestError(error)) sendErrorText(reply, error)
  else sendError(reply, error, now, NO_STORE)
}
