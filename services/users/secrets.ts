/**
 * Tokens, passwords and their hashes. What must not be guessed comes from the system's secure source, never from the
 * handed-in chance, which a simulation repeats from a seed.
 */
import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto'

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
export const ACCESS_TOKEN_LENGTH = 20

/** RFC 7914 parameters: some 16 MiB and 50 ms a hash. */
const COST = { N: 16_384, r: 8, p: 1 }
const HASH_BYTES = 32
const SALT_BYTES = 16

export function randomText(length: number): string {
  let text = ''
  for (let index = 0; index < length; index++) text += ALPHANUMERIC.charAt(randomInt(ALPHANUMERIC.length))
  return text
}

/** `scrypt$N$r$p$salt$hash`, so that the parameters may grow and old hashes still be checked. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, COST.N, COST.r, COST.p)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$')
}

/** Takes the same time whether the password is right or wrong. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, N, r, p, salt, hash] = stored.split('$')
  if (scheme !== 'scrypt' || salt === undefined || hash === undefined)
    throw new Error('A stored password hash is damaged')
  const expected = Buffer.from(hash, 'base64')
  const actual = await derive(password, Buffer.from(salt, 'base64'), Number(N), Number(r), Number(p))
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

function derive(password: string, salt: Buffer, N: number, r: number, p: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
