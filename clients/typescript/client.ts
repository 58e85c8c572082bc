/** A client of Millrace's REST API, with no dependencies: one method for each operation, logged in as a user or by an API key. */
import { addressOf, answerOf, requestOf, type CallOptions, type Given, type Operation } from './caller.ts'
import { ApiError } from './api-error.ts'
import { Operations } from './operations.ts'

export { ApiError } from './api-error.ts'
export type { CallOptions } from './caller.ts'
export type * from './types.ts'

export interface ClientOptions {
  /** Of the server, without a path: `http://localhost:8080`. */
  readonly url: string
  /** In the place of a log-in. */
  readonly apiKey?: string
  /** Of a log-in elsewhere. */
  readonly tokens?: Tokens
  /** Of one call with its answer; default {@link DEFAULT_TIMEOUT_MS}. */
  readonly timeoutMs?: number
}

export interface Tokens {
  readonly token: string
  /** Without it a token that is over is not renewed. */
  readonly refreshToken?: string | null
}

export const DEFAULT_TIMEOUT_MS = 30_000

const LOGIN: Operation = { method: 'POST', path: '/api/auth/login', body: 'json' }
const REFRESH: Operation = { method: 'POST', path: '/api/auth/token', body: 'json' }
/** These refuse what was sent, not the token: sent again it would count as another failed log-in. */
const LOGS_IN = /^\/api\/auth\/(login|token)/
const LOGOUT: Operation = { method: 'POST', path: '/api/auth/logout' }

export class MillraceClient extends Operations {
  private readonly url: string
  private readonly apiKey: string | undefined
  private readonly timeoutMs: number
  private tokens: Tokens | undefined
  /** One for all calls that find their token over. */
  private renewal: Promise<void> | undefined

  constructor({ url, apiKey, tokens, timeoutMs = DEFAULT_TIMEOUT_MS }: ClientOptions) {
    super()
    this.url = url.replace(/\/+$/, '')
    this.apiKey = apiKey
    this.tokens = tokens
    this.timeoutMs = timeoutMs
  }

  async login(username: string, password: string, options?: CallOptions): Promise<void> {
    this.tokens = await this.send<Tokens>(LOGIN, { body: { username, password } }, options, false)
  }

  /** Ends the session on the server; forgets its tokens in any case. */
  async logout(options?: CallOptions): Promise<void> {
    try {
      await this.send(LOGOUT, {}, options, true)
    } finally {
      this.tokens = undefined
    }
  }

  /** Tokens from before are void then: the client goes on with those of the answer. */
  override async postAuthChangePassword(...given: Parameters<Operations['postAuthChangePassword']>) {
    const tokens = await super.postAuthChangePassword(...given)
    this.tokens = tokens
    return tokens
  }

  override async call<Answer>(operation: Operation, given: Given = {}, options?: CallOptions): Promise<Answer> {
    const { tokens } = this
    try {
      return await this.send<Answer>(operation, given, options, true)
    } catch (error) {
      const isOver = error instanceof ApiError && error.status === 401 && !LOGS_IN.test(operation.path)
      if (!isOver || !(await this.renewed(tokens))) throw error
      return this.send<Answer>(operation, given, options, true)
    }
  }

  /** Whether others than these tokens are there now. Throws what the renewal was refused with. */
  private async renewed(used: Tokens | undefined): Promise<boolean> {
    if (this.apiKey !== undefined) return false
    if (this.tokens === used) {
      const refreshToken = used?.refreshToken ?? undefined
      if (refreshToken === undefined) return false
      this.renewal ??= this.renew(refreshToken).finally(() => (this.renewal = undefined))
      await this.renewal
    }
    return this.tokens !== undefined
  }

  /** Not ended by the caller's signal: other calls wait for it too. */
  private async renew(refreshToken: string): Promise<void> {
    const before = this.tokens
    const renewed = await this.send<Tokens>(REFRESH, { body: { refreshToken } }, undefined, false)
    // Somebody logged in or out meanwhile: that is newer.
    if (this.tokens === before) this.tokens = renewed
  }

  private async send<Answer>(
    operation: Operation,
    given: Given,
    { signal, timeoutMs = this.timeoutMs }: CallOptions = {},
    isWithCredentials: boolean,
  ): Promise<Answer> {
    const { headers, body } = requestOf(operation, given)
    const credentials = isWithCredentials ? this.credentials() : undefined
    if (credentials !== undefined) headers.set('x-authorization', credentials)
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await fetch(addressOf(this.url, operation, given), {
      method: operation.method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    })
    return answerOf<Answer>(response, operation)
  }

  private credentials(): string | undefined {
    if (this.apiKey !== undefined) return `ApiKey ${this.apiKey}`
    return this.tokens === undefined ? undefined : `Bearer ${this.tokens.token}`
  }
}
