/**
 * Lets the platform send mails by an account of a provider that takes no passwords: the system administrator is sent to the provider, comes
 * back with a code, and the code becomes a refresh token among the mail settings. Source: RFC 6749, section 4.1; `rest-api.md` 13.1.
 */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { parseJson, type JsonObject } from '../../model/json.ts'
import { AdminErrors } from '../admin/errors.ts'
import type { AdminSettings } from '../admin/admin-settings.ts'
import type { Vault } from '../vault/vault.ts'
import { MAIL_SETTINGS } from './mail-settings.ts'

/** Where a provider sends the administrator back to, on this server. */
export const MAIL_OAUTH2_PATH = '/api/admin/mail/oauth2/code'

const STATE_PLACE = 'mail/oauth2/state'
const STATE_LIFETIME_MS = 10 * 60_000
const EXCHANGE_MS = 10_000
/** Characters of a provider's answer. */
const MAX_ANSWER = 64 * 1024

const address = z.url({ protocol: /^https?$/ })
const clientSchema = z.object({
  enableOauth2: z.literal(true),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  authUri: address,
  tokenUri: address,
  redirectUri: address,
  scope: z.array(z.string()).min(1),
})
type OAuth2Client = z.infer<typeof clientSchema>
const answerSchema = z.object({ refresh_token: z.string().min(1) })

/** Gives a form to a provider and answers what it said: its status and text. */
export type PostForm = (
  url: string,
  form: URLSearchParams,
) => Promise<{ readonly status: number; readonly text: string }>

export interface MailOAuth2Parts {
  readonly settings: Pick<AdminSettings, 'find' | 'change'>
  readonly vault: Vault
  readonly clock: Clock
  readonly post?: PostForm
}

export class MailOAuth2 {
  private readonly parts: MailOAuth2Parts

  constructor(parts: MailOAuth2Parts) {
    this.parts = parts
  }

  /** Where the administrator lets the platform send mails. Throws `admin.MAIL`. */
  async authorizationUrl(): Promise<string> {
    const { clientId, authUri, redirectUri, scope } = await this.client()
    const { vault, clock } = this.parts
    const url = new URL(authUri)
    const asked = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: scope.join(' '),
      // Sealed: only this platform can have made it, a short while ago, for an administrator.
      state: vault.seal(String(clock.now()), STATE_PLACE),
      // Without both some providers give a token for an hour alone.
      access_type: 'offline',
      prompt: 'consent',
    }
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
    return url.href
  }

  /** The administrator is back. Throws `admin.MAIL_STATE`, `admin.MAIL`, `admin.MAIL_CODE`. */
  async takeCode(code: string, state: string): Promise<void> {
    this.checkState(state)
    const { clientId, clientSecret, tokenUri, redirectUri } = await this.client()
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      client_secret: clientSecret,
    })
    const refreshToken = await this.exchange(tokenUri, form)
    await this.parts.settings.change(MAIL_SETTINGS, (before): JsonObject => ({
      ...before,
      refreshToken,
      tokenGenerated: true,
    }))
  }

  private checkState(state: string): void {
    const { vault, clock } = this.parts
    let madeAt = NaN
    try {
      // What was never sealed opens as itself, so it must not be taken for a time.
      if (vault.isCurrent(state)) madeAt = Number(vault.open(state, STATE_PLACE))
    } catch (error) {
      throw AdminErrors.MAIL_STATE({}, error)
    }
    if (!(clock.now() - madeAt < STATE_LIFETIME_MS)) throw AdminErrors.MAIL_STATE()
  }

  private async exchange(tokenUri: string, form: URLSearchParams): Promise<string> {
    const { post = postForm } = this.parts
    try {
      const { status, text } = await post(tokenUri, form)
      if (status !== 200) throw new Error(`the provider answered ${status}`)
      return answerSchema.parse(parseJson(text)).refresh_token
    } catch (error) {
      throw AdminErrors.MAIL_CODE({ reason: errorText(error) }, error)
    }
  }

  private async client(): Promise<OAuth2Client> {
    const result = clientSchema.safeParse((await this.parts.settings.find(MAIL_SETTINGS))?.value ?? {})
    if (result.success) return result.data
    const [issue] = result.error.issues
    throw AdminErrors.MAIL({ reason: `OAuth 2 needs ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}` })
  }
}

async function postForm(
  url: string,
  form: URLSearchParams,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    body: form,
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(EXCHANGE_MS),
  })
  const text = await response.text()
  return { status: response.status, text: text.slice(0, MAX_ANSWER) }
}
