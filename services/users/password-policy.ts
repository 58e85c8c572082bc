/** What a password must be like. The texts are the reference's (`rest-api.md` 1.6). */
import { ServiceErrors } from '../errors.ts'
import { UserErrors } from './errors.ts'
import { LONGEST_PASSWORD, type PasswordPolicy } from './security-settings.ts'

/** Throws `PASSWORD_SHORT`, `PASSWORD_LONG`, `PASSWORD_CHARACTERS`, `PASSWORD_WHITESPACE`. */
export function checkPassword(password: string, policy: PasswordPolicy): void {
  const longest = policy.maximumLength ?? LONGEST_PASSWORD
  if (password.length < policy.minimumLength) throw ServiceErrors.PASSWORD_SHORT({ limit: policy.minimumLength })
  if (password.length > longest) throw ServiceErrors.PASSWORD_LONG({ limit: longest })
  const kinds = [
    { least: policy.minimumUppercaseLetters, pattern: /\p{Lu}/gu, kind: 'uppercase' },
    { least: policy.minimumLowercaseLetters, pattern: /\p{Ll}/gu, kind: 'lowercase' },
    { least: policy.minimumDigits, pattern: /\p{Nd}/gu, kind: 'digit' },
    { least: policy.minimumSpecialCharacters, pattern: /[^\p{L}\p{Nd}\s]/gu, kind: 'special' },
  ]
  for (const { least, pattern, kind } of kinds)
    if ((password.match(pattern) ?? []).length < (least ?? 0))
      throw UserErrors.PASSWORD_CHARACTERS({ least: least ?? 0, kind })
  if (!policy.allowWhitespaces && /\s/.test(password)) throw UserErrors.PASSWORD_WHITESPACE()
}
