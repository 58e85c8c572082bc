/** What the HTTP device API answers. Errors have the body that every error of the platform has (`rest-api.md` 2). */
import type { Clock } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { PackagePart } from '../../engine/device/gateway.ts'
import type { HttpReply } from '../../server/http-server.ts'

const CONTENT_TYPE = /^[\w.+-]+\/[\w.+-]+( *;[\x20-\x7e]*)?$/
const JSON_TYPE = 'application/json'
const TOO_MANY = 429
const GENERAL = 2
const BAD_PARAMETERS = 31
const NOT_FOUND = 32

export class DeviceApiAnswers {
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  json(reply: HttpReply, text: string): void {
    reply.send(200, JSON_TYPE, text)
  }

  file(reply: HttpReply, { fileName, contentType, bytes, release }: PackagePart): void {
    const name = fileName.replace(/[^\x20-\x7e]|["\\;]/g, '_')
    const type = CONTENT_TYPE.test(contentType) ? contentType : 'application/octet-stream'
    const headers = { 'content-disposition': `attachment;filename=${name}`, 'x-filename': name }
    reply.send(200, type, bytes, headers, release)
  }

  /** Nobody has this token. */
  unauthorized(reply: HttpReply): void {
    reply.send(401, undefined, '')
  }

  wrongMethod(reply: HttpReply, method: string, allowed: string): void {
    const message = `Request method '${method}' is not supported`
    reply.send(405, JSON_TYPE, this.errorBody(405, BAD_PARAMETERS, message), { allow: allowed })
  }

  notFound(reply: HttpReply, path: string): void {
    reply.send(404, JSON_TYPE, this.errorBody(404, NOT_FOUND, `No static resource ${path.replace(/^\//, '')}.`))
  }

  badParameter(reply: HttpReply, message: string): void {
    reply.send(400, JSON_TYPE, this.errorBody(400, BAD_PARAMETERS, message))
  }

  busy(reply: HttpReply): void {
    const body = this.errorBody(503, GENERAL, 'The server has no room for this now')
    reply.send(503, JSON_TYPE, body, { 'retry-after': '1' })
  }

  /** An error of the project says itself what it is; anything else is ours, and tells the client nothing. */
  error(reply: HttpReply, error: unknown): void {
    if (!isMillraceError(error)) {
      reply.send(500, JSON_TYPE, this.errorBody(500, GENERAL, 'Internal error'))
    } else if (error.kind === 'retryable' && error.status !== TOO_MANY) this.busy(reply)
    else {
      const code = error.restCode ?? (error.kind === 'invalid' ? BAD_PARAMETERS : GENERAL)
      const headers = error.status === TOO_MANY ? { 'retry-after': '1' } : undefined
      reply.send(error.status, JSON_TYPE, this.errorBody(error.status, code, error.message), headers)
    }
  }

  private errorBody(status: number, errorCode: number, message: string): string {
    return JSON.stringify({ message, errorCode, status, timestamp: this.clock.now() })
  }
}
