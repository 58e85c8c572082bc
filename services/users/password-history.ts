/** Passwords that a user had: none of them again before the policy's days are over. */
import type { UserCredentials } from '../../storage/entities/users.ts'
import { hashPassword, verifyPassword } from './secrets.ts'
import { UserErrors } from './errors.ts'
import type { PasswordPolicy } from './security-settings.ts'

const DAY_MS = 86_400_000
/** Each costs a hash at every change. */
const MAX_FORMER = 10

/** What a changed password changes. Throws `PASSWORD_USED`. */
export async function withPassword(
  before: UserCredentials,
  password: string,
  { passwordReuseFrequencyDays }: PasswordPolicy,
  now: number,
): Promise<UserCredentials> {
  const days = passwordReuseFrequencyDays ?? 0
  const { passwordHash, formerPasswords } = before
  const held = passwordHash === null ? formerPasswords : [{ hash: passwordHash, until: now }, ...formerPasswords]
  for (const { hash, until } of days === 0 ? [] : held)
    if (until > now - days * DAY_MS && (await verifyPassword(password, hash))) throw UserErrors.PASSWORD_USED({ days })
  return {
    ...before,
    passwordHash: await hashPassword(password),
    passwordTime: now,
    failures: 0,
    formerPasswords: held.slice(0, MAX_FORMER),
  }
}

/** `chosen` is Unix ms. */
export function isExpired(chosen: number, { passwordExpirationPeriodDays }: PasswordPolicy, now: number): boolean {
  const days = passwordExpirationPeriodDays ?? 0
  return days > 0 && chosen < now - days * DAY_MS
}
