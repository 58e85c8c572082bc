/**
 * Access and refresh tokens: signed JWTs with the reference's claims (`rest-api.md` 1.4), HS512 under one secret key.
 * Nothing in a token's own header chooses how it is verified: `alg`, `kid`, `jwk` and their like are compared, never obeyed.
 */
import { SignJWT, errors, jwtVerify } from 'jose'
import { z } from 'zod'
import { NULL_UUID } from '../../model/entity-id.ts'
import { AUTHORITIES, type Authority, type User } from '../../model/entities.ts'
import type { TokenKeySource, TokenSigning } from '../../services/admin/jwt-settings.ts'
import { AuthErrors } from './errors.ts'

/** A token of ours is below 1 KiB; no more is looked at. */
const MAX_TOKEN_LENGTH = 8192
/** How far another server's clock may be ahead. */
const CLOCK_TOLERANCE_SECONDS = 5
const REFRESH_SCOPE = 'REFRESH_TOKEN'
/**
 * Who has one gave the password: `PRE_VERIFICATION_TOKEN` must still give a second factor, `MFA_CONFIGURATION_TOKEN` must still set one up. It
 * is good for nothing else.
 */
export const HALF_SCOPES = ['PRE_VERIFICATION_TOKEN', 'MFA_CONFIGURATION_TOKEN'] as const
export type HalfScope = (typeof HALF_SCOPES)[number]
/** At most. */
const VERIFICATION_LIFETIME_SECONDS = 3600

const uuid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const common = { sub: z.string(), userId: uuid, sessionId: uuid, iat: z.int(), exp: z.int() }
const accessSchema = z.object({ ...common, scopes: z.tuple([z.enum(AUTHORITIES)]), tenantId: uuid, customerId: uuid })
const refreshSchema = z.object({ ...common, scopes: z.tuple([z.literal(REFRESH_SCOPE)]) })

const halfSchema = z.object({ ...common, scopes: z.tuple([z.enum(HALF_SCOPES)]) })

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
  /** The token is for nothing else. */
  readonly scope?: HalfScope
}

export interface Tokens {
  /** `issuedAt` in Unix seconds. */
  issue(user: User, sessionId: string, tokenId: string, issuedAt: number): Promise<TokenPair>
  /** Throws `OTHER_SCOPE` for that of a half login, else `BAD_CREDENTIALS` for what is no access token, `TOKEN_EXPIRED` for one expired or forged. */
  verifyAccess(token: string, nowMs: number): Promise<AccessClaims>
  verifyRefresh(token: string, nowMs: number): Promise<RefreshClaims>
  issueHalf(user: User, scope: HalfScope, sessionId: string, issuedAt: number, lifetimeSeconds: number): Promise<string>
  /** Throws as `verifyAccess`, and `OTHER_SCOPE` for an access token or one of the other scope. */
  verifyHalf(token: string, scope: HalfScope, nowMs: number): Promise<RefreshClaims>
}

export function createTokens(keys: TokenKeySource): Tokens {
  const sign = ({ key, issuer }: TokenSigning, claims: Claims, issuedAt: number, lifetime: number): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS512' })
      .setIssuer(issuer)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetime)
      .sign(key)
  const verified = (token: string, nowMs: number, lifetimeOf: LifetimeOf): Promise<unknown> =>
    verifiedPayload(token, keys, nowMs, lifetimeOf)
  return {
    async issue(user, sessionId, tokenId, issuedAt) {
      const { signing } = await keys.current()
      const identity = { sub: user.email, userId: user.id, sessionId }
      const isPublic = user.id === NULL_UUID
      const token = await sign(
        signing,
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
        signing.accessLifetimeSeconds,
      )
      const refreshToken = await sign(
        signing,
        { ...identity, scopes: [REFRESH_SCOPE], isPublic, jti: tokenId },
        issuedAt,
        signing.refreshLifetimeSeconds,
      )
      return { token, refreshToken }
    },
    async verifyAccess(token, nowMs) {
      const payload = await verified(token, nowMs, accessLifetime)
      const claims = accessSchema.safeParse(payload)
      if (!claims.success)
        throw halfSchema.safeParse(payload).success ? AuthErrors.OTHER_SCOPE() : AuthErrors.BAD_CREDENTIALS()
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
    async issueHalf(user, scope, sessionId, issuedAt, lifetimeSeconds) {
      const { signing } = await keys.current()
      const claims = { sub: user.email, userId: user.id, sessionId, scopes: [scope] }
      return sign(signing, claims, issuedAt, lifetimeSeconds)
    },
    async verifyHalf(token, scope, nowMs) {
      const payload = await verified(token, nowMs, () => VERIFICATION_LIFETIME_SECONDS)
      const claims = halfSchema.safeParse(payload)
      if (accessSchema.safeParse(payload).success) throw AuthErrors.OTHER_SCOPE()
      if (!claims.success) throw AuthErrors.BAD_CREDENTIALS()
      if (claims.data.scopes[0] !== scope) throw AuthErrors.OTHER_SCOPE()
      const { sub, userId, sessionId, iat } = claims.data
      return { email: sub, userId, sessionId, issuedAt: iat }
    },
    async verifyRefresh(token, nowMs) {
      const claims = refreshSchema.safeParse(await verified(token, nowMs, refreshLifetime))
      if (!claims.success) throw AuthErrors.BAD_CREDENTIALS()
      const { sub, userId, sessionId, iat } = claims.data
      return { email: sub, userId, sessionId, issuedAt: iat }
    },
  }
}

type Claims = Record<string, unknown>
type LifetimeOf = (signing: TokenSigning) => number
const accessLifetime: LifetimeOf = ({ accessLifetimeSeconds }) => accessLifetimeSeconds
const refreshLifetime: LifetimeOf = ({ refreshLifetimeSeconds }) => refreshLifetimeSeconds

async function verifiedPayload(
  token: string,
  keys: TokenKeySource,
  nowMs: number,
  lifetimeOf: LifetimeOf,
): Promise<unknown> {
  if (!wellFormed(token)) throw AuthErrors.BAD_CREDENTIALS()
  const first = await tried(token, keys, nowMs, lifetimeOf)
  // Another process may sign by a key already that this one has not heard of.
  const result = first.isOfUnknownKey && (await keys.lookAgain()) ? await tried(token, keys, nowMs, lifetimeOf) : first
  if (result.payload === undefined) throw AuthErrors.TOKEN_EXPIRED({}, result.error)
  return result.payload
}

interface Tried {
  readonly payload?: unknown
  readonly isOfUnknownKey: boolean
  readonly error?: unknown
}

async function tried(token: string, keys: TokenKeySource, nowMs: number, lifetimeOf: LifetimeOf): Promise<Tried> {
  const { signing, former } = await keys.current()
  let isOfUnknownKey = true
  let failure: unknown
  for (const each of [{ ...signing, retiredAt: Infinity }, ...former]) {
    try {
      const { payload } = await jwtVerify(token, each.key, {
        algorithms: ['HS512'],
        issuer: each.issuer,
        currentDate: new Date(nowMs),
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        // Beside the expiry: refuses what was issued in the future, and an expiry set too far off.
        maxTokenAge: lifetimeOf(each),
        requiredClaims: ['exp', 'iat', 'sub'],
      })
      if (Number(payload.iat) * 1000 <= each.retiredAt + CLOCK_TOLERANCE_SECONDS * 1000)
        return { payload, isOfUnknownKey: false }
      // Good all the same where another process has just taken the key up again.
      failure ??= new Error('the token is newer than the key that signed it was in use')
    } catch (error) {
      isOfUnknownKey &&= error instanceof errors.JWSSignatureVerificationFailed
      failure ??= error
    }
  }
  return { isOfUnknownKey, error: failure }
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
