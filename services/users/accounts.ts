/** How users come to a password, and whether they may log in (`rest-api.md` 1.6, 12.1). */
import type { ActionType } from '../../model/audit.ts'
import type { Clock } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { OneTimeToken, UserCredentials } from '../../storage/entities/users.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import type { Mailer } from '../mail/mailer.ts'
import { hashPassword, verifyPassword } from './secrets.ts'
import { withPassword } from './password-history.ts'
import { checkPassword } from './password-policy.ts'
import { hashOfToken, HOUR_MS, newActivation, newResetToken } from './credentials.ts'
import { UserErrors } from './errors.ts'
import { readSecuritySettings, type PasswordPolicy, type SecuritySettings } from './security-settings.ts'

/** A link that ends sooner is replaced by a new one. */
const SHORTEST_LINK_MS = 15 * 60_000
/** Whoever asks again at once fills no mailbox. */
const LEAST_MS_BETWEEN_RESETS = 60_000

export interface AccountState {
  readonly isEnabled: boolean
  readonly isActivated: boolean
  /** Unix ms. */
  readonly lastLoginTime: number | null
}

/** The users' credentials, with those told who know a part of them. */
/** What a user did to the own credentials, or to another's. */
export interface CredentialsAct {
  readonly by: Principal
  readonly actionType: ActionType
}

export interface CredentialStore {
  find(id: string): Promise<User | undefined>
  /** Tells all who keep a part of them. `act`: what the audit log says of it. */
  replaceCredentials(before: UserCredentials, after: UserCredentials, act?: CredentialsAct): Promise<void>
  /** The same; every token that the user has is refused from now on. */
  withdrawTokens(before: UserCredentials, after: UserCredentials): Promise<void>
}

export class UserAccounts {
  private readonly entities: EntityStore
  private readonly users: CredentialStore
  private readonly mailer: Mailer
  private readonly clock: Clock

  constructor(entities: EntityStore, users: CredentialStore, mailer: Mailer, clock: Clock) {
    this.mailer = mailer
    this.entities = entities
    this.users = users
    this.clock = clock
  }

  async state(userId: string): Promise<AccountState> {
    const { isEnabled, passwordHash, lastLoginTime } = await this.credentials(userId)
    return { isEnabled, isActivated: passwordHash !== null, lastLoginTime }
  }

  securitySettings(): Promise<SecuritySettings> {
    return readSecuritySettings(this.entities)
  }

  async passwordPolicy(): Promise<PasswordPolicy> {
    return (await readSecuritySettings(this.entities)).passwordPolicy
  }

  /** Throws `ALREADY_ACTIVE`. */
  async activation(userId: string): Promise<{ readonly token: string; readonly ttlMs: number }> {
    const { token, expires } = await this.currentActivation(userId)
    return { token, ttlMs: expires - this.clock.now() }
  }

  async activationIsKnown(token: string): Promise<'known' | 'expired' | 'unknown'> {
    const credentials = await this.entities.users.credentialsByActivation(token)
    if (credentials?.activation === null || credentials === undefined) return 'unknown'
    return credentials.activation.expires > this.clock.now() ? 'known' : 'expired'
  }

  /** The user's first password. Throws `ACTIVATION_TOKEN`, `ACTIVATION_EXPIRED`, and what the policy refuses. */
  async activate(token: string, password: string): Promise<User> {
    const credentials = await this.entities.users.credentialsByActivation(token)
    if (credentials?.activation === null || credentials === undefined) throw UserErrors.ACTIVATION_TOKEN({ token })
    const now = this.clock.now()
    if (credentials.activation.expires <= now) throw UserErrors.ACTIVATION_EXPIRED()
    checkPassword(password, await this.passwordPolicy())
    await this.users.replaceCredentials(credentials, {
      ...credentials,
      passwordHash: await hashPassword(password),
      isEnabled: true,
      activation: null,
      passwordTime: now,
    })
    return this.user(credentials.userId)
  }

  /** For who is not activated yet. Throws `ALREADY_ACTIVE`. `baseUrl` is where people reach the platform. */
  async mailActivation({ id, email }: Pick<User, 'id' | 'email'>, baseUrl: string): Promise<void> {
    const { token } = await this.activation(id)
    await this.mailer.sendLink({
      to: email,
      subject: 'Your account activation',
      text: 'An account was made for you. Choose your password here:',
      link: activationLink(baseUrl, token),
    })
  }

  /** Makes the link and mails it. Who answers without waiting for it tells nobody whether there is such a user. */
  async requestReset(email: string, baseUrl: string): Promise<void> {
    const user = await this.entities.users.findByEmail(email)
    const credentials = user && (await this.entities.users.credentials(user.id))
    if (user === undefined || credentials === undefined || !credentials.isEnabled) return
    const now = this.clock.now()
    const lifetimeMs = (await readSecuritySettings(this.entities)).passwordResetTokenTtl * HOUR_MS
    if (credentials.reset !== null && credentials.reset.expires > now + lifetimeMs - LEAST_MS_BETWEEN_RESETS) return
    const { token, hash } = newResetToken()
    const reset = { token: hash, expires: now + lifetimeMs }
    await this.users.replaceCredentials(credentials, { ...credentials, reset })
    await this.mailer.sendLink({
      to: email,
      subject: 'Reset your password',
      text: 'Somebody asked for a new password of your account. If it was you, choose it here:',
      link: `${baseUrl}/api/noauth/resetPassword?resetToken=${token}`,
    })
  }

  /** Never rejects. */
  mailLockout(user: Pick<User, 'email'>, address: string): Promise<void> {
    const text = `User account '${user.email}' has been locked due to failed credentials. It can be switched on again.\n`
    return this.mailer.tell({ to: address, subject: 'User account has been locked', text })
  }

  async resetIsKnown(token: string): Promise<'known' | 'expired' | 'unknown'> {
    const credentials = await this.entities.users.credentialsByReset(hashOfToken(token))
    if (credentials?.reset === null || credentials === undefined) return 'unknown'
    return credentials.reset.expires > this.clock.now() ? 'known' : 'expired'
  }

  /** All tokens of the user are refused afterwards. Throws `RESET_TOKEN`, and what the policy refuses. */
  async resetPassword(token: string, password: string): Promise<void> {
    const credentials = await this.entities.users.credentialsByReset(hashOfToken(token))
    const now = this.clock.now()
    if (credentials === undefined || credentials.reset === null || credentials.reset.expires <= now)
      throw UserErrors.RESET_TOKEN()
    checkPassword(password, await this.passwordPolicy())
    const { passwordHash } = credentials
    if (passwordHash !== null && (await verifyPassword(password, passwordHash))) throw ServiceErrors.PASSWORD_SAME()
    const changed = await withPassword(credentials, password, await this.passwordPolicy(), now)
    await this.users.withdrawTokens(credentials, { ...changed, reset: null })
  }

  /** Who is switched off is logged out, and can not log in. `by`: absent where nobody does it. */
  async setEnabled(userId: string, isEnabled: boolean, by?: Principal): Promise<void> {
    const credentials = await this.credentials(userId)
    if (isEnabled && credentials.passwordHash === null) throw UserErrors.NOT_ACTIVATED_YET()
    if (credentials.isEnabled === isEnabled) return
    // While he is off no token is good; afterwards those of this second are, as whole seconds are all that tokens say (`rest-api.md` 1.3).
    const lastSecond = (Math.floor(this.clock.now() / 1000) - 1) * 1000
    const tokensValidFrom = isEnabled ? credentials.tokensValidFrom : Math.max(credentials.tokensValidFrom, lastSecond)
    const act = by && ({ by, actionType: isEnabled ? 'ACTIVATED' : 'SUSPENDED' } as const)
    await this.users.replaceCredentials(credentials, { ...credentials, isEnabled, tokensValidFrom }, act)
  }

  private async currentActivation(userId: string): Promise<OneTimeToken> {
    const credentials = await this.credentials(userId)
    if (credentials.passwordHash !== null) throw UserErrors.ALREADY_ACTIVE()
    const now = this.clock.now()
    if (credentials.activation !== null && credentials.activation.expires > now + SHORTEST_LINK_MS)
      return credentials.activation
    const activation = await newActivation(this.entities, now)
    await this.users.replaceCredentials(credentials, { ...credentials, activation })
    return activation
  }

  private async credentials(userId: string): Promise<UserCredentials> {
    const credentials = await this.entities.users.credentials(userId)
    if (credentials === undefined) throw itemNotFound({ entityType: 'USER', id: userId })
    return credentials
  }

  private async user(id: string): Promise<User> {
    const user = await this.users.find(id)
    if (user === undefined) throw itemNotFound({ entityType: 'USER', id })
    return user
  }
}

export function activationLink(baseUrl: string, token: string): string {
  return `${baseUrl}/api/noauth/activate?activateToken=${token}`
}
