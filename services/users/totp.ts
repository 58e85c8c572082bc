/** One-time codes by the clock: RFC 6238 with SHA-1, steps of 30 seconds and 6 digits, as authenticator apps have them. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
const SECRET_BYTES = 20
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32, as apps take it. */
export function newTotpSecret(): string {
  let bits = ''
  for (const byte of randomBytes(SECRET_BYTES)) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET.charAt(Number.parseInt(five, 2))).join('')
}

export function totpUrl(issuer: string, account: string, secret: string): string {
  const name = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${name}?issuer=${encodeURIComponent(issuer)}&secret=${secret}`
}

/** The secret of such an address; undefined where it has none. */
export function totpSecretOf(authUrl: string): string | undefined {
  const secret = /^otpauth:\/\/totp\/\S+[?&]secret=([A-Z2-7]{16,128})(&|$)/.exec(authUrl)?.[1]
  return secret
}

export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decoded(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** DIGITS
  return String(number).padStart(DIGITS, '0')
}

export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS)
}

/** The step whose code it is: of this one, the one before or after, behind `lastStep`; undefined where it is of none. */
export function matchingStep(secret: string, code: string, nowMs: number, lastStep: number): number | undefined {
  const now = totpStep(nowMs)
  return [now, now - 1, now + 1].find((step) => step > lastStep && isSame(totpCode(secret, step), code))
}

function isSame(expected: string, code: string): boolean {
  return /^\d{6}$/.test(code) && timingSafeEqual(Buffer.from(expected), Buffer.from(code))
}

function decoded(secret: string): Buffer {
  let bits = ''
  for (const letter of secret) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
