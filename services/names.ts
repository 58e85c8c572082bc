/** What names and keys may be (`rest-api.md` 2.4, 4.5): compared and stored as sent, never trimmed. */
import type { MillraceError } from '../model/errors.ts'
import { ServiceErrors, TelemetryErrors } from './errors.ts'

export const MAX_NAME_LENGTH = 255

/** Mark-up, or a template that a browser or a mail could run. */
const MALFORMED = /<[a-z/!?]|\{\{[\s\S]*\}\}/i

/** Throws `NAME_MISSING`, `NAME_TOO_LONG`, `NAME_MALFORMED`. `entity` as the message says it: `Rule chain`. */
export function checkName(entity: string, property: string, name: string): void {
  if (name.trim() === '') throw ServiceErrors.NAME_MISSING({ entity, property })
  checkText(property, name)
}

/** Optional text fields: label, type. */
export function checkText(property: string, text: string | null | undefined): void {
  if (text === null || text === undefined) return
  if (text.length > MAX_NAME_LENGTH) throw ServiceErrors.NAME_TOO_LONG({ property, limit: MAX_NAME_LENGTH })
  if (MALFORMED.test(text) || text.includes('\u0000')) throw ServiceErrors.NAME_MALFORMED({ property })
}

/** Throws `blank()`, `KEY_MALFORMED`, `KEY_TOO_LONG`. */
export function checkKey(key: string, blank: () => MillraceError): void {
  if (key.trim() === '') throw blank()
  if (key.length > MAX_NAME_LENGTH) throw TelemetryErrors.KEY_TOO_LONG({ limit: MAX_NAME_LENGTH })
  if (MALFORMED.test(key) || key.includes('\u0000')) throw TelemetryErrors.KEY_MALFORMED()
}
