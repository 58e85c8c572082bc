/**
 * Pages of other origins may call the APIs: they know their callers by a header or a token in the path, never by a cookie, so an
 * origin proves and risks nothing. Source: `rest-api.md` 1.2, `device-api.md` 6.
 */
import type { HttpReply, HttpRequest } from './http-server.ts'

/** Headers that a route must read for {@link sendPreflight}. */
export const PREFLIGHT_REQUEST_HEADERS: readonly string[] = ['origin', 'access-control-request-headers']

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,OPTIONS',
  'Access-Control-Max-Age': '1800',
} as const

const PUBLISHED = 'Allow,Content-Disposition'

/** The reply, with the origin echoed on whatever is sent, errors too. */
export function withCors(request: HttpRequest, reply: HttpReply): HttpReply {
  const origin = request.header('origin')
  if (origin === '' || !request.path.startsWith('/api/')) return reply
  return {
    get open() {
      return reply.open
    },
    onClosed: (listener) => reply.onClosed(listener),
    send: (status, contentType, body, headers, left) => {
      const withOrigin = {
        ...headers,
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Expose-Headers': PUBLISHED,
        Vary: headers?.['Vary'] === undefined ? 'Origin' : `${headers['Vary']}, Origin`,
      }
      reply.send(status, contentType, body, withOrigin, left)
    },
  }
}

/** Answers a preflight, without a login: browsers send none with it. */
export function sendPreflight(request: HttpRequest, reply: HttpReply): void {
  const asked = request.header('access-control-request-headers')
  withCors(request, reply).send(200, undefined, '', {
    ...PREFLIGHT_HEADERS,
    ...(asked === '' ? {} : { 'Access-Control-Allow-Headers': asked }),
  })
}
