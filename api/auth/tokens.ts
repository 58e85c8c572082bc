/**
 * Access and refresh tokens: signed JWTs with the reference's claims (`rest-api.md` 1.4), HS512 under one secret key.
 * Nothing in a token's own header chooses how it is verified: `alg`, `kid`, `jwk` and their like are compared, never obeyed.
 */
import { SignJWT, errors, jwtVerify } from 'jose'
import { z } from 'zod'
import { NULL_UUID } from '../../model/entity-id.ts'
import { AUTHORITIES, type Authority, type User } from '../../model/entities.ts'
import { AuthErrors } from './errors.ts'

/** What existing clients expect (`rest-api.md` 1.4). */
export const TOKEN_ISSUER = 'thingsboard.io'
export const ACCESS_LIFETIME_SECONDS = 9000
export const REFRESH_LIFETIME_SECONDS = 604_800
/** HS512 wants a key no shorter than its hash. */
export const MIN_KEY_BYTES = 64
/** A token of ours is below 1 KiB; no more is looked at. */
const MAX_TOKEN_LENGTH = 8192
/** How far another server's clock may be ahead. */
const CLOCK_TOLERANCE_SECONDS = 5
const REFRESH_SCOPE = 'REFRESH_TOKEN'
/** Who has it gave the password and must still give a second factor. */
export const VERIFICATION_SCOPE = 'PRE_VERIFICATION_TOKEN'
/** At most. */
const VERIFICATION_LIFETIME_SECONDS = 3600

const uuid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const common = { sub: z.string(), userId: uuid, sessionId: uuid, iat: z.int(), exp: z.int() }
const accessSchema = z.object({ ...common, scopes: z.tuple([z.enum(AUTHORITIES)]), tenantId: uuid, customerId: uuid })
const refreshSchema = z.object({ ...common, scopes: z.tuple([z.literal(REFRESH_SCOPE)]) })

const verificationSchema = z.object({ ...common, scopes: z.tuple([z.literal(VERIFICATION_SCOPE)]) })

/** What a verified access token says; the user behind it is still to be looked up. */
export interface AccessClaims {
  readonly email: string
  readonly userId: string
  readonly sessionId: string
  readonly authority: Authority
  readonly tenantId: string
  readonly customerId: string
  /** Unix seconds. */
  readonly issuedAt: number
  readonly expiresAt: number
}

export interface RefreshClaims {
  readonly email: string
  readonly userId: string
  readonly sessionId: string
  readonly issuedAt: number
}

export interface TokenPair {
  readonly token: string
  /** '' where there is a scope. */
  readonly refreshToken: string
  /** The token is for nothing but to give the second factor. */
  readonly scope?: typeof VERIFICATION_SCOPE
}

export interface TokenSettings {
  readonly issuer: string
  readonly accessLifetimeSeconds: number
  readonly refreshLifetimeSeconds: number
}

export interface Tokens {
  /** `issuedAt` in Unix seconds. */
  issue(user: User, sessionId: string, tokenId: string, issuedAt: number): Promise<TokenPair>
  /** Throws `BAD_CREDENTIALS` for what is no access token, `TOKEN_EXPIRED` for one that is expired or forged. */
  verifyAccess(token: string, nowMs: number): Promise<AccessClaims>
  verifyRefresh(token: string, nowMs: number): Promise<RefreshClaims>
  issueToVerify(user: User, sessionId: string, issuedAt: number, lifetimeSeconds: number): Promise<string>
  verifyToVerify(token: string, nowMs: number): Promise<RefreshClaims>
}

/** `formerKeys` sign nothing any more; what they signed is good until it expires, so that a new key logs nobody out. */
export function createTokens(key: Uint8Array, settings: TokenSettings, formerKeys: readonly Uint8Array[] = []): Tokens {
  if (key.byteLength < MIN_KEY_BYTES)
    throw new RangeError(`The token signing key must have at least ${MIN_KEY_BYTES} bytes`)
  const sign = (claims: Record<string, unknown>, issuedAt: number, lifetime: number): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS512' })
      .setIssuer(settings.issuer)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetime)
      .sign(key)
  const verified = (token: string, nowMs: number, lifetime: number): Promise<unknown> =>
    verifiedPayload(token, [key, ...formerKeys], settings.issuer, nowMs, lifetime)
  return {
    async issue(user, sessionId, tokenId, issuedAt) {
      const identity = { sub: user.email, userId: user.id, sessionId }
      const isPublic = user.id === NULL_UUID
      const token = await sign(
        {
          ...identity,
          scopes: [user.authority],
          ...(user.firstName === null ? {} : { firstName: user.firstName }),
          ...(user.lastName === null ? {} : { lastName: user.lastName }),
          enabled: true,
          isPublic,
          tenantId: user.tenantId ?? NULL_UUID,
          customerId: user.customerId ?? NULL_UUID,
        },
        issuedAt,
        settings.accessLifetimeSeconds,
      )
      const refreshToken = await sign(
        { ...identity, scopes: [REFRESH_SCOPE], isPublic, jti: tokenId },
        issuedAt,
        settings.refreshLifetimeSeconds,
      )
      return { token, refreshToken }
    },
    async verifyAccess(token, nowMs) {
      const claims = accessSchema.safeParse(await verified(token, nowMs, settings.accessLifetimeSeconds))
      if (!claims.success) throw AuthErrors.BAD_CREDENTIALS()
      const { sub, userId, sessionId, scopes, tenantId, customerId, iat, exp } = claims.data
      return {
        email: sub,
        userId,
        sessionId,
        authority: scopes[0],
        tenantId,
        customerId,
        issuedAt: iat,
        expiresAt: exp,
      }
    },
    issueToVerify: (user, sessionId, issuedAt, lifetimeSeconds) =>
      sign({ sub: user.email, userId: user.id, sessionId, scopes: [VERIFICATION_SCOPE] }, issuedAt, lifetimeSeconds),
    async verifyToVerify(token, nowMs) {
      const claims = verificationSchema.safeParse(await verified(token, nowMs, VERIFICATION_LIFETIME_SECONDS))
      if (!claims.success) throw AuthErrors.BAD_CREDENTIALS()
      const { sub, userId, sessionId, iat } = claims.data
      return { email: sub, userId, sessionId, issuedAt: iat }
    },
    async verifyRefresh(token, nowMs) {
      const claims = refreshSchema.safeParse(await verified(token, nowMs, settings.refreshLifetimeSeconds))
      if (!claims.success) throw AuthErrors.BAD_CREDENTIALS()
      const { sub, userId, sessionId, iat } = claims.data
      return { email: sub, userId, sessionId, issuedAt: iat }
    },
  }
}

async function verifiedPayload(
  token: string,
  keys: readonly Uint8Array[],
  issuer: string,
  nowMs: number,
  lifetimeSeconds: number,
): Promise<unknown> {
  if (!wellFormed(token)) throw AuthErrors.BAD_CREDENTIALS()
  const options = {
    algorithms: ['HS512'],
    issuer,
    currentDate: new Date(nowMs),
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    // Beside the expiry: refuses what was issued in the future, and an expiry set too far off.
    maxTokenAge: lifetimeSeconds,
    requiredClaims: ['exp', 'iat', 'sub'],
  }
  for (const [index, key] of keys.entries()) {
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (error) {
      const mayBeOfAnother = error instanceof errors.JWSSignatureVerificationFailed && index < keys.length - 1
      if (!mayBeOfAnother) throw AuthErrors.TOKEN_EXPIRED({}, error)
    }
  }
  throw AuthErrors.TOKEN_EXPIRED()
}

/**
 * Three parts, a header of HS512 and nothing else, a payload of plain JSON without repeated members. A JSON text that
 * does not come back from parsing and printing is one whose readers could differ about what it says.
 */
function wellFormed(token: string): boolean {
  if (token.length > MAX_TOKEN_LENGTH) return false
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return false
  const header = unambiguous(parts[0] ?? '')
  return header !== undefined && unambiguous(parts[1] ?? '') !== undefined && plainHeader(header)
}

const headerSchema = z.strictObject({ alg: z.literal('HS512'), typ: z.literal('JWT').optional() })

function plainHeader(header: unknown): boolean {
  return headerSchema.safeParse(header).success
}

function unambiguous(part: string): unknown {
  const text = Buffer.from(part, 'base64url').toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}
