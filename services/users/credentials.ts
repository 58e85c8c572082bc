/** The credentials of a new user, and the tokens by which a password is chosen. */
import { createHash } from 'node:crypto'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { OneTimeToken, UserCredentials } from '../../storage/entities/users.ts'
import { randomText } from './secrets.ts'
import { readSecuritySettings } from './security-settings.ts'

const TOKEN_LENGTH = 30
export const HOUR_MS = 3_600_000

/** Without a password: the user chooses it with the activation token. */
export async function newCredentials(
  store: Pick<EntityStore, 'rows'>,
  user: { readonly id: string; readonly createdTime: number },
): Promise<UserCredentials> {
  return {
    userId: user.id,
    passwordHash: null,
    tokensValidFrom: 0,
    isEnabled: false,
    activation: await newActivation(store, user.createdTime),
    reset: null,
    lastLoginTime: null,
    passwordTime: null,
    failures: 0,
    formerPasswords: [],
  }
}

export async function newActivation(store: Pick<EntityStore, 'rows'>, now: number): Promise<OneTimeToken> {
  const { userActivationTokenTtl } = await readSecuritySettings(store)
  return { token: randomText(TOKEN_LENGTH), expires: now + userActivationTokenTtl * HOUR_MS }
}

/** The token for the mail, and its hash to keep. */
export function newResetToken(): { readonly token: string; readonly hash: string } {
  const token = randomText(TOKEN_LENGTH)
  return { token, hash: hashOfToken(token) }
}

/** A token is long and random: one round is enough. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
