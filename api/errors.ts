/**
 * The one place that turns errors into REST answers. Two shapes exist: the error body of the whole API
 * (`rest-api.md` 2.1) and the bare text of the telemetry calls (2.6). What is no {@link MillraceError} is a defect of ours:
 * it is logged by the caller and answered without a word of its text.
 */
import { defineErrors, isMillraceError, type MillraceError } from '../model/errors.ts'
import type { HttpReply } from '../server/http-server.ts'

export const ApiErrors = defineErrors('api', {
  AUTHENTICATION_FAILED: { kind: 'denied', status: 401, text: 'Authentication failed' },
  METHOD_NOT_AUTHENTICATING: { kind: 'denied', status: 401, text: 'Authentication method not supported' },
  PERMISSION_DENIED: { kind: 'denied', status: 403, text: "You don't have permission to perform this operation!" },
  NOT_FOUND_BY_ID: { kind: 'invalid', status: 404, text: '{type} with id [{id}] is not found' },
  NOT_FOUND: { kind: 'invalid', status: 404, text: "Requested item wasn't found!" },
  UNKNOWN_PATH: { kind: 'invalid', status: 404, text: 'No static resource {path}.' },
  METHOD_NOT_ALLOWED: { kind: 'invalid', status: 405, text: "Request method '{method}' is not supported" },
  TOO_BUSY: { kind: 'retryable', status: 429, text: 'Too many requests are under way, try again later' },
  UNSUPPORTED: { kind: 'invalid', status: 400, text: '{what} is not supported' },
})

/** What a request says before anybody looks at entities: always answered with the error body, never as bare text. */
export const ParameterErrors = defineErrors('parameter', {
  MISSING: { kind: 'invalid', status: 400, text: "Required request parameter '{name}' is not present" },
  HEADER_MISSING: { kind: 'invalid', status: 400, text: "Required request header '{name}' is not present" },
  INVALID: { kind: 'invalid', status: 400, text: "Invalid value '{value}' of parameter '{name}': {expected}" },
  EMPTY: { kind: 'invalid', status: 400, text: "Parameter '{name}' can't be empty!" },
  UUID: { kind: 'invalid', status: 400, text: 'Invalid UUID string: {value}' },
  PAGE_SIZE: {
    kind: 'invalid',
    status: 400,
    text: "Incorrect page link page size '{value}'. Page size must be greater than zero.",
  },
  PAGE_TOO_LARGE: {
    kind: 'invalid',
    status: 400,
    text: "Incorrect page link page size '{value}'. Page size must be at most {limit}: ask for several pages.",
  },
  PAGE_TOO_FAR: {
    kind: 'invalid',
    status: 400,
    text: "Incorrect page link page '{value}'. There is no page so far behind.",
  },
  PAGE: { kind: 'invalid', status: 400, text: "Incorrect page link page '{value}'. Page must be positive integer." },
  SORT_ORDER: {
    kind: 'invalid',
    status: 400,
    text: "Unsupported sort order '{value}'! Only 'ASC' or 'DESC' types are allowed.",
  },
  SORT_PROPERTY: { kind: 'invalid', status: 400, text: 'Invalid sort property' },
  BODY_MISSING: { kind: 'invalid', status: 400, text: 'Required request body is missing' },
  BODY_NOT_JSON: { kind: 'invalid', status: 400, text: 'JSON parse error: {reason}' },
  /** Where the rule engine gets the body, as text. */
  BODY_REFUSED: { kind: 'invalid', status: 400, text: 'Invalid request body' },
  BODY_INVALID: { kind: 'invalid', status: 400, text: 'Invalid request body: {reason}' },
})

/** The usual `errorCode` of a status (`rest-api.md` 2.2); an error's own `restCode` goes before it. */
const CODE_OF_STATUS: Readonly<Record<number, number>> = {
  400: 31,
  401: 10,
  403: 20,
  404: 32,
  405: 31,
  409: 35,
  413: 31,
  429: 33,
  503: 2,
}
const GENERAL = 2
const DATABASE = 46

export interface ErrorAnswer {
  readonly status: number
  readonly message: string
  readonly errorCode: number
}

/** What a client is told of failures that are ours: their reasons may name files and queries, and go to the log alone. */
const OWN_FAILURES: Readonly<Record<number, string>> = {
  [GENERAL]: 'Internal server error',
  [DATABASE]: 'Database error',
}
const NOT_NOW = 'The server can not do this now: try again later'

export function errorAnswer(error: unknown): ErrorAnswer {
  if (!isMillraceError(error)) return ownFailure(500, GENERAL)
  if (error.status >= 500) return ownFailure(error.status, error.restCode ?? GENERAL)
  return {
    status: error.status,
    message: error.message,
    errorCode: error.restCode ?? CODE_OF_STATUS[error.status] ?? GENERAL,
  }
}

function ownFailure(status: number, errorCode: number): ErrorAnswer {
  const message = status === 503 ? NOT_NOW : (OWN_FAILURES[errorCode] ?? 'Internal server error')
  return { status, message, errorCode }
}

/**
 * The content type is the reference's: its clients see it, and since everything beyond ASCII is escaped the bytes are the
 * same in any character set.
 */
const ERROR_BODY_TYPE = 'application/json;charset=ISO-8859-1'

export function sendError(
  reply: HttpReply,
  error: unknown,
  now: number,
  headers?: Readonly<Record<string, string>>,
): void {
  const { status, message, errorCode } = errorAnswer(error)
  const body = asciiJson(JSON.stringify({ status, message, errorCode, timestamp: now, ...shownFields(error) }))
  reply.send(status, routingError(error) ? 'application/json' : ERROR_BODY_TYPE, body, headers)
}

function shownFields(error: unknown): Readonly<Record<string, unknown>> {
  if (!isMillraceError(error)) return {}
  return Object.fromEntries(error.shown.map((name) => [name, error.fields[name]]))
}

/** The telemetry calls' own errors: status and bare text. */
export function sendErrorText(reply: HttpReply, error: MillraceError): void {
  const { status, message } = errorAnswer(error)
  reply.send(status, 'text/plain;charset=UTF-8', message)
}

/** True where even the telemetry calls answer with the error body: who asks and how, not what is asked for. */
export function isRequestError(error: unknown): boolean {
  return isMillraceError(error) && (error.status === 401 || /^(parameter\.|rate\.|auth\.OTHER_SCOPE$)/.test(error.code))
}

/** An unknown path and a wrong method are answered by the reference's web framework: without a character set. */
function routingError(error: unknown): boolean {
  return isMillraceError(error) && (error.code === 'api.UNKNOWN_PATH' || error.code === 'api.METHOD_NOT_ALLOWED')
}

function asciiJson(text: string): string {
  return text.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
