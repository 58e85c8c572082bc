/**
 * Tokens of a Google service account: JSON web tokens that it signs itself, which Google's services take without an exchange
 * (https://google.aip.dev/auth/4111). They need a signature and nothing else, so there is no library.
 */
import { createPrivateKey, sign } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../../model/clock.ts'
import { OutboundErrors } from '../errors.ts'

const LIFETIME_SECONDS = 3600
/** A token is made anew so long before it ends: a call takes some time, and clocks differ. */
const EARLY_SECONDS = 300

const keySchema = z.looseObject({
  client_email: z.string().min(1),
  private_key_id: z.string().optional(),
  private_key: z.string().min(1),
})

/** Answers a token for `audience` that is good for some minutes at least. Throws `LOGIN_INVALID` where `account` is no key file of a service account. */
export function googleTokens(account: string, audience: string, clock: Clock): () => string {
  const key = keyOf(account)
  let [token, until] = ['', 0]
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now >= until) {
      const claims = { iss: key.email, sub: key.email, aud: audience, iat: now, exp: now + LIFETIME_SECONDS }
      token = signed({ alg: 'RS256', typ: 'JWT', ...(key.id === undefined ? {} : { kid: key.id }) }, claims, key.key)
      until = now + LIFETIME_SECONDS - EARLY_SECONDS
    }
    return token
  }
}

/** What is wrong with it is said without quoting it. */
function keyOf(account: string) {
  const refuse = (reason: string) => OutboundErrors.LOGIN_INVALID({ reason })
  let json: unknown
  try {
    json = JSON.parse(account)
  } catch {
    throw refuse('the key of the service account is no JSON')
  }
  const read = keySchema.safeParse(json)
  if (!read.success) throw refuse('the key of the service account needs client_email and private_key')
  const { client_email: email, private_key_id: id, private_key: pem } = read.data
  try {
    return { email, id, key: createPrivateKey(pem) }
  } catch {
    throw refuse('the private key of the service account can not be read')
  }
}

function signed(header: object, claims: object, key: ReturnType<typeof createPrivateKey>): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
