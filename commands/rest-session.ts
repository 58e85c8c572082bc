/** A logged-in REST session for the commands that talk to a running Millrace. */
import { defineErrors } from '../model/errors.ts'

export const CommandErrors = defineErrors('command', {
  UNREACHABLE: {
    kind: 'retryable',
    status: 503,
    text: 'no Millrace answers at {url}: {reason}. Is it running? Name another with --url',
  },
  REFUSED: { kind: 'invalid', status: 400, text: '{method} {path} answered {status}: {message}' },
  USAGE: { kind: 'invalid', status: 400, text: '{reason}' },
})

export interface ServerOptions {
  readonly url: string
  readonly user: string
  readonly password: string
}

/** Where and as whom the commands connect unless told: the demo tenant of the local default. */
export const DEFAULT_SERVER: ServerOptions = {
  url: process.env['MILLRACE_URL'] ?? 'http://127.0.0.1:8080',
  user: process.env['MILLRACE_USER'] ?? 'tenant@millrace.local',
  password: process.env['MILLRACE_PASSWORD'] ?? 'tenant',
}

export class RestSession {
  readonly url: string
  readonly token: string

  private constructor(url: string, token: string) {
    this.url = url
    this.token = token
  }

  /** Throws UNREACHABLE, REFUSED. */
  static async open(server: ServerOptions): Promise<RestSession> {
    const url = server.url.replace(/\/+$/, '')
    const answer = await call(url, 'POST', '/api/auth/login', undefined, {
      username: server.user,
      password: server.password,
    })
    return new RestSession(url, (answer as { token: string }).token)
  }

  /** The parsed answer; undefined for an empty one. A text is sent as it is. Throws UNREACHABLE, REFUSED. */
  request(method: string, path: string, body?: unknown): Promise<unknown> {
    return call(this.url, method, path, this.token, body)
  }
}

async function call(
  url: string,
  method: string,
  path: string,
  token: string | undefined,
  body: unknown,
): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { 'x-authorization': `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  } catch (error) {
    const cause = (error as Error).cause
    throw CommandErrors.UNREACHABLE(
      { url, reason: cause instanceof Error ? cause.message : (error as Error).message },
      error,
    )
  }
  const text = await response.text()
  if (!response.ok) throw CommandErrors.REFUSED({ method, path, status: response.status, message: messageOf(text) })
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

function messageOf(text: string): string {
  try {
    const body = JSON.parse(text) as { message?: unknown }
    return typeof body.message === 'string' ? body.message : text
  } catch {
    return text
  }
}
