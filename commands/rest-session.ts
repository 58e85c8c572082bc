/** A logged-in REST session for the commands that talk to a running Millrace. */
import { defineErrors, errorText, isMillraceError } from '../model/errors.ts'

export const CommandErrors = defineErrors('command', {
  UNREACHABLE: {
    kind: 'retryable',
    status: 503,
    text: 'no Millrace answers at {url}: {reason}. Is it running? Name another with --url',
  },
  REFUSED: { kind: 'invalid', status: 400, text: '{method} {path} answered {status}: {message}' },
  FAILED: { kind: 'terminal', status: 500, text: 'the backup could not be taken: {reason}' },
  USAGE: { kind: 'invalid', status: 400, text: '{reason}' },
})

export interface Login {
  readonly user: string
  readonly password: string
}

export interface ServerOptions extends Login {
  readonly url: string
}

/** Where and as whom the commands connect unless told: the demo tenant of the local default. */
export const DEFAULT_SERVER: ServerOptions = {
  url: process.env['MILLRACE_URL'] ?? 'http://127.0.0.1:8080',
  user: process.env['MILLRACE_USER'] ?? 'tenant@millrace.local',
  password: process.env['MILLRACE_PASSWORD'] ?? 'tenant',
}

/** As whom what belongs to the system administrator is asked: the demo's unless told otherwise. */
export const SYSTEM_LOGIN: Login = {
  user: process.env['MILLRACE_SYSTEM_USER'] ?? 'sysadmin@millrace.local',
  password: process.env['MILLRACE_SYSTEM_PASSWORD'] ?? 'sysadmin',
}

export class RestSession {
  readonly url: string
  private readonly server: ServerOptions
  private held: string

  private constructor(url: string, server: ServerOptions, token: string) {
    this.url = url
    this.server = server
    this.held = token
  }

  /** Throws UNREACHABLE, REFUSED. */
  static async open(server: ServerOptions): Promise<RestSession> {
    const url = server.url.replace(/\/+$/, '')
    return new RestSession(url, server, await tokenOf(url, server))
  }

  get token(): string {
    return this.held
  }

  /** The parsed answer; undefined for an empty one. A text is sent as it is. Throws UNREACHABLE, REFUSED. */
  request(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.asked((token) => call(this.url, method, path, token, body))
  }

  /** The bytes of an answer. Throws UNREACHABLE, REFUSED. */
  bytes(path: string): Promise<Uint8Array> {
    return this.asked(async (token) => {
      const response = await send(this.url, 'GET', path, token, undefined)
      if (!response.ok) throw await refusal(this.url, response, 'GET', path)
      return new Uint8Array(await whole(this.url, response.arrayBuffer()))
    })
  }

  /** A token lives for hours, a large export or import may take longer: it logs in again. */
  private async asked<Answer>(ask: (token: string) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(this.held)
    } catch (error) {
      if (!isMillraceError(error) || error.code !== 'command.REFUSED' || error.fields['status'] !== 401) throw error
      this.held = await tokenOf(this.url, this.server)
      return ask(this.held)
    }
  }
}

async function tokenOf(url: string, { user, password }: ServerOptions): Promise<string> {
  const answer = await call(url, 'POST', '/api/auth/login', undefined, { username: user, password })
  return (answer as { token: string }).token
}

async function call(
  url: string,
  method: string,
  path: string,
  token: string | undefined,
  body: unknown,
): Promise<unknown> {
  const response = await send(url, method, path, token, body)
  if (!response.ok) throw await refusal(url, response, method, path)
  const text = await whole(url, response.text())
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

async function send(
  url: string,
  method: string,
  path: string,
  token: string | undefined,
  body: unknown,
): Promise<Response> {
  try {
    return await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { 'x-authorization': `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  } catch (error) {
    throw unreachable(url, error)
  }
}

/** A server may be gone in the middle of its answer. */
async function whole<Content>(url: string, content: Promise<Content>): Promise<Content> {
  try {
    return await content
  } catch (error) {
    throw unreachable(url, error)
  }
}

function unreachable(url: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return CommandErrors.UNREACHABLE({ url, reason: errorText(cause) }, error)
}

async function refusal(url: string, response: Response, method: string, path: string): Promise<Error> {
  const text = await whole(url, response.text())
  return CommandErrors.REFUSED({ method, path, status: response.status, message: messageOf(text) })
}

function messageOf(text: string): string {
  try {
    const body = JSON.parse(text) as { message?: unknown }
    return typeof body.message === 'string' ? body.message : text
  } catch {
    return text
  }
}
