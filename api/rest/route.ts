/** What one REST call is: a row of the route table, the call that reaches its handler, and the answer it gives. */
import type { Authority } from '../../model/entities.ts'
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { HttpMethod } from '../../server/http-server.ts'
import type { Query } from './query.ts'

export interface PublicCall {
  readonly query: Query
  /** The decoded parameter of that position in the pattern; '' where the pattern has none. */
  parameter(index: number): string
  /** The body's text. */
  text(): string
  /** The body as it came. */
  bytes(): Buffer
  /** The parsed body. Throws `BODY_MISSING`, `BODY_NOT_JSON`. */
  json(): JsonValue
  /** '' where there is none. */
  header(name: string): string
  /** The value of `Authorization` or `X-Authorization`, '' when there is none. */
  readonly credentials: string
  /** As `HttpRequest` has them. */
  readonly clientAddress: string
  readonly isLocal: boolean
}

export interface UserCall extends PublicCall {
  readonly principal: Principal
}

export interface Answer {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: string
  /** Sent in the place of `body`. */
  readonly bytes?: Uint8Array
  /** Called once `bytes` were sent or have nobody to go to. */
  readonly release?: () => void
  readonly headers?: Readonly<Record<string, string>>
}

interface RouteShape {
  readonly method: HttpMethod
  /** As `HttpServer.route` takes it. */
  readonly pattern: string
}

export interface PublicRoute extends RouteShape {
  readonly authorities: 'public'
  handle(call: PublicCall): Promise<Answer>
}

export interface UserRoute extends RouteShape {
  /** Who may call it at all; what they may do to which entity the handler asks of access control. */
  readonly authorities: readonly Authority[]
  /** The telemetry calls answer their own errors as bare text (`rest-api.md` 2.6). */
  readonly errorsAsText?: boolean
  /** Where it is not the server's bound. */
  readonly maxBodyBytes?: number
  /** Who gave the password and must still set up a second factor may call it too. */
  readonly setsUpSecondFactor?: boolean
  handle(call: UserCall): Promise<Answer>
}

export type RestRoute = PublicRoute | UserRoute

export const EVERYBODY: readonly Authority[] = ['SYS_ADMIN', 'TENANT_ADMIN', 'CUSTOMER_USER']
export const TENANT_AND_CUSTOMER: readonly Authority[] = ['TENANT_ADMIN', 'CUSTOMER_USER']
export const TENANT: readonly Authority[] = ['TENANT_ADMIN']
export const SYSTEM: readonly Authority[] = ['SYS_ADMIN']
export const SYSTEM_AND_TENANT: readonly Authority[] = ['SYS_ADMIN', 'TENANT_ADMIN']

export function jsonAnswer(value: JsonValue): Answer {
  return jsonTextAnswer(stringifyJson(value))
}

/** For what was rendered to JSON text already. */
export function jsonTextAnswer(body: string, status = 200): Answer {
  return { status, contentType: 'application/json', body }
}

export function textAnswer(body: string): Answer {
  return { status: 200, contentType: 'text/plain;charset=UTF-8', body }
}

export const EMPTY_ANSWER: Answer = { status: 200, contentType: undefined, body: '' }
