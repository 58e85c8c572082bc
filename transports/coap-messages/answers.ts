/** What requests are answered with. The one place that maps errors to CoAP's codes. */
import { isMillraceError } from '../../model/errors.ts'
import { ContentFormat, type CoapResponse } from './message.ts'

/** Response codes by the HTTP status of an error, where it is not the same number. */
const CODES: ReadonlyMap<number, string> = new Map([
  [401, '4.01'],
  [402, '4.02'],
  [403, '4.03'],
  [404, '4.04'],
  [405, '4.05'],
  [406, '4.06'],
  [408, '4.08'],
  [412, '4.12'],
  [413, '4.13'],
  [415, '4.15'],
  [429, '4.29'],
  [503, '5.03'],
  [504, '5.04'],
])

/** Seconds after which a client may try again. */
const RETRY_AFTER = 1

/** With a text that says what to do; an error that is none of the project's tells nothing. */
export function errorResponse(error: unknown): CoapResponse {
  if (!isMillraceError(error)) return textResponse('5.00', 'Internal error')
  const { kind, status, message, fields } = error
  const code = CODES.get(status) ?? (kind === 'retryable' ? '5.03' : kind === 'terminal' ? '5.00' : '4.00')
  const limit = fields['limit']
  return {
    ...textResponse(code, message),
    ...(code === '5.03' ? { maxAge: RETRY_AFTER } : {}),
    ...(code === '4.13' && typeof limit === 'number' ? { size1: limit } : {}),
  }
}

/** Of errors, with a diagnostic text: it has no content format (RFC 7252, 5.5.2). */
function textResponse(code: string, text: string): CoapResponse {
  return { code, payload: Buffer.from(text) }
}

/** In the form that the request had, or JSON. */
export function jsonResponse(text: string, format: number | undefined): CoapResponse {
  return { code: '2.05', contentFormat: format ?? ContentFormat.JSON, payload: Buffer.from(text) }
}

export function protobufResponse(payload: Buffer): CoapResponse {
  return { code: '2.05', contentFormat: ContentFormat.OCTETS, payload }
}
