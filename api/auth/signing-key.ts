/**
 * Keys under all tokens that the environment names. There is no default: a key in a shipped file is a key that everybody has. Where none is
 * named, one is made at the first start (`services/admin/jwt-settings.ts`).
 */
import { defineErrors } from '../../model/errors.ts'
import { MIN_SIGNING_KEY_BYTES } from '../../services/admin/jwt-settings.ts'

export const SigningKeyErrors = defineErrors('signing-key', {
  NOT_BASE64: { kind: 'terminal', status: 500, text: '{source} is not Base64 text' },
  TOO_SHORT: {
    kind: 'terminal',
    status: 500,
    text: '{source} has {bytes} bytes; at least {least} random bytes are needed, as Base64',
  },
})

/** Undefined where none is named. Throws `NOT_BASE64`, `TOO_SHORT`; no message ever holds the key. */
export function configuredKey(text: string | undefined): Uint8Array | undefined {
  return text === undefined || text === '' ? undefined : decodeKey(text, 'JWT_TOKEN_SIGNING_KEY')
}

/** Keys of before, joined by commas. Throws as above. */
export function formerSigningKeys(configured: string | undefined): readonly Uint8Array[] {
  const texts = (configured ?? '').split(',').map((text) => text.trim())
  return texts.filter((text) => text !== '').map((text) => decodeKey(text, 'JWT_TOKEN_FORMER_SIGNING_KEYS'))
}

function decodeKey(text: string, source: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw SigningKeyErrors.NOT_BASE64({ source })
  const key = Buffer.from(text, 'base64')
  if (key.byteLength < MIN_SIGNING_KEY_BYTES)
    throw SigningKeyErrors.TOO_SHORT({ source, bytes: key.byteLength, least: MIN_SIGNING_KEY_BYTES })
  return key
}
