/**
 * Where the key under all tokens comes from: the setting `JWT_TOKEN_SIGNING_KEY`, or one made at the first start and kept.
 * There is no default: a key in a shipped file is a key that everybody has.
 */
import { randomBytes } from 'node:crypto'
import { defineErrors } from '../../model/errors.ts'
import type { SettingsStore } from './settings-store.ts'
import { MIN_KEY_BYTES } from './tokens.ts'

export const SigningKeyErrors = defineErrors('signing-key', {
  NOT_BASE64: { kind: 'terminal', status: 500, text: '{source} is not Base64 text' },
  TOO_SHORT: {
    kind: 'terminal',
    status: 500,
    text: '{source} has {bytes} bytes; at least {least} random bytes are needed, as Base64',
  },
})

const SETTING = 'jwt.signingKey'

/** Throws `NOT_BASE64`, `TOO_SHORT`; no message ever holds the key. */
export async function resolveSigningKey(configured: string | undefined, settings: SettingsStore): Promise<Uint8Array> {
  if (configured !== undefined && configured !== '') return decodeKey(configured, 'JWT_TOKEN_SIGNING_KEY')
  const kept = await settings.putIfAbsent(SETTING, randomBytes(MIN_KEY_BYTES).toString('base64'))
  return decodeKey(typeof kept === 'string' ? kept : '', 'The stored token signing key')
}

/** Keys of before, joined by commas. Throws as above. */
export function formerSigningKeys(configured: string | undefined): readonly Uint8Array[] {
  const texts = (configured ?? '').split(',').map((text) => text.trim())
  return texts.filter((text) => text !== '').map((text) => decodeKey(text, 'JWT_TOKEN_FORMER_SIGNING_KEYS'))
}

function decodeKey(text: string, source: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw SigningKeyErrors.NOT_BASE64({ source })
  const key = Buffer.from(text, 'base64')
  if (key.byteLength < MIN_KEY_BYTES)
    throw SigningKeyErrors.TOO_SHORT({ source, bytes: key.byteLength, least: MIN_KEY_BYTES })
  return key
}
