/** The call that reaches a handler, the answer it gives, and who may make it. */
import type { Authority } from '../../model/entities.ts'
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
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
