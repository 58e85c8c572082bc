/**
 * How tokens are signed. The environment says how, until a system administrator saves it; where neither names a key, one is made at the
 * first start. What was signed before a change stays good until it expires, so that a change logs nobody out.
 */
import { createHash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { AdminSettings } from './admin-settings.ts'
import { AdminErrors } from './errors.ts'

export const JWT_KEY = 'jwt'
/** HS512 wants a key no shorter than its hash. */
export const MIN_SIGNING_KEY_BYTES = 64
/** Answered in the place of the key, and taken back as "the one there is": front ends send what they were shown, and ask for a good key. */
export const HIDDEN_SIGNING_KEY = Buffer.alloc(MIN_SIGNING_KEY_BYTES).toString('base64')
/** Each is tried where a signature is not the first one's. */
const MAX_FORMER = 20
const LONGEST_LIFE_SECONDS = 31_536_000
const SHORTEST_LIFE_SECONDS = 60
const SHORTEST_REFRESH_SECONDS = 900
/** Who is sent tokens of an unknown key has the settings read again so often at most. */
const LEAST_MS_BETWEEN_LOOKS = 1_000
/** Processes are restarted one after the other: those that were not yet still sign by the key that the first to start calls former. */
const ROLLING_RESTART_MS = 3_600_000

export interface TokenSigning {
  readonly key: Uint8Array
  /** Named in the tokens, and asked of those that come back. */
  readonly issuer: string
  readonly accessLifetimeSeconds: number
  readonly refreshLifetimeSeconds: number
}

export interface FormerSigning extends TokenSigning {
  /** Unix ms; what was issued later is none of ours. Infinity while a process still signs by it. */
  readonly retiredAt: number
}

export interface TokenKeys {
  readonly signing: TokenSigning
  /** They sign nothing any more; what they signed is good until it expires. */
  readonly former: readonly FormerSigning[]
}

/** Where log-ins get the keys from. */
export interface TokenKeySource {
  current(): Promise<TokenKeys>
  /** After a signature that no key made: another process may have changed them just now. Whether it is worth another try. */
  lookAgain(): Promise<boolean>
}

export interface JwtDefaults extends Omit<TokenSigning, 'key'> {
  /** Undefined: one is made and kept. */
  readonly key?: Uint8Array | undefined
  readonly formerKeys: readonly Uint8Array[]
}

/** What existing clients expect (`rest-api.md` 1.4). */
export const TOKEN_ISSUER = 'thingsboard.io'
export const ACCESS_LIFETIME_SECONDS = 9000
export const REFRESH_LIFETIME_SECONDS = 604_800

/** As it is saved; a key that is absent or hidden stays. */
export interface JwtDraft {
  readonly tokenExpirationTime: number
  readonly refreshTokenExpTime: number
  readonly tokenIssuer: string
  readonly tokenSigningKey?: string | null | undefined
}

const formerSchema = z.object({
  tokenSigningKey: z.string(),
  tokenIssuer: z.string(),
  tokenExpirationTime: z.number(),
  refreshTokenExpTime: z.number(),
  until: z.number(),
})
const storedSchema = z.object({
  tokenSigningKey: z.string().optional(),
  tokenIssuer: z.string().optional(),
  tokenExpirationTime: z.number().optional(),
  refreshTokenExpTime: z.number().optional(),
  former: z.array(formerSchema).default([]),
  /** By fingerprint: since when (Unix ms) a key of the environment is a former one. */
  retiredOfEnvironment: z.record(z.string(), z.number()).default({}),
})
type Stored = z.infer<typeof storedSchema>
type Signing = Omit<Stored, 'former' | 'retiredOfEnvironment'>

export class JwtSettings implements TokenKeySource {
  private readonly settings: AdminSettings
  private readonly defaults: JwtDefaults
  private readonly clock: Clock
  private lookedAt = Number.NEGATIVE_INFINITY

  constructor(settings: AdminSettings, defaults: JwtDefaults, clock: Clock) {
    this.settings = settings
    this.defaults = defaults
    this.clock = clock
  }

  /** Makes a key where there is none. `formerly` is where versions before kept it. */
  async start(formerly: () => Promise<string | undefined>): Promise<void> {
    if (this.defaults.key === undefined && (await this.stored()).tokenSigningKey === undefined) {
      const made = (await formerly()) ?? randomBytes(MIN_SIGNING_KEY_BYTES).toString('base64')
      await this.settings.change(JWT_KEY, (before) => ({ tokenSigningKey: made, ...before }))
    }
    await this.noteRetired()
  }

  async current(): Promise<TokenKeys> {
    const stored = await this.stored()
    const signing = this.signingOf(stored)
    const now = this.clock.now()
    const { issuer, accessLifetimeSeconds, refreshLifetimeSeconds, formerKeys } = this.defaults
    const former = [
      ...stored.former.filter(({ until }) => until > now).map(formerOf),
      ...formerKeys.map((each) => ({
        ...{ key: each, issuer, accessLifetimeSeconds, refreshLifetimeSeconds },
        retiredAt: (stored.retiredOfEnvironment[fingerprintOf(each)] ?? Infinity) + ROLLING_RESTART_MS,
      })),
    ]
    return { signing, former: former.filter((each) => !isSame(each, signing)) }
  }

  async lookAgain(): Promise<boolean> {
    const now = this.clock.monotonic()
    if (now - this.lookedAt < LEAST_MS_BETWEEN_LOOKS) return false
    this.lookedAt = now
    await this.settings.readAgain(JWT_KEY)
    return true
  }

  async save(principal: Principal, draft: JwtDraft): Promise<void> {
    checkDraft(draft)
    const { tokenExpirationTime, refreshTokenExpTime, tokenIssuer } = draft
    await this.settings.change(
      JWT_KEY,
      (before) => {
        const stored = storedSchema.parse(before)
        const isKept = isHidden(draft.tokenSigningKey)
        const tokenSigningKey = isKept ? stored.tokenSigningKey : (draft.tokenSigningKey ?? undefined)
        const members = { tokenExpirationTime, refreshTokenExpTime, tokenIssuer }
        const after = tokenSigningKey === undefined ? members : { ...members, tokenSigningKey }
        const { retiredOfEnvironment } = stored
        return { ...after, former: this.formerAfter(stored, after), retiredOfEnvironment }
      },
      principal,
    )
  }

  /**
   * Kept beside the settings, not for this process alone: no restart makes a former key good for new tokens again. The key that this
   * process signs by is no former one, whatever a process of other settings says.
   */
  private async noteRetired(): Promise<void> {
    const { key, formerKeys } = this.defaults
    const now = this.clock.now()
    const retiredAfter = (stored: Stored): Stored['retiredOfEnvironment'] => {
      const added = Object.fromEntries(formerKeys.map((each) => [fingerprintOf(each), now]))
      const after = { ...added, ...stored.retiredOfEnvironment }
      if (key !== undefined && stored.tokenSigningKey === undefined) delete after[fingerprintOf(key)]
      return after
    }
    const stored = await this.stored()
    if (isDeepStrictEqual(retiredAfter(stored), stored.retiredOfEnvironment)) return
    await this.settings.change(JWT_KEY, (before) => ({
      ...before,
      retiredOfEnvironment: retiredAfter(storedSchema.parse(before)),
    }))
  }

  /** Who has tokens of what was in force keeps them. */
  private formerAfter(stored: Stored, after: Signing): JsonObject[] {
    const now = this.clock.now()
    const before = this.signingOf(stored)
    const still = stored.former.filter(({ until }) => until > now)
    if (isSame(before, this.signingOf(after))) return still
    if (still.length >= MAX_FORMER) throw AdminErrors.JWT_TOO_MANY_KEYS({ limit: MAX_FORMER })
    const was = {
      tokenSigningKey: textOf(before.key),
      tokenIssuer: before.issuer,
      tokenExpirationTime: before.accessLifetimeSeconds,
      refreshTokenExpTime: before.refreshLifetimeSeconds,
      until: now + longestLifeMs(before),
    }
    return [was, ...still]
  }

  private async stored(): Promise<Stored> {
    return storedSchema.parse((await this.settings.find(JWT_KEY))?.value ?? {})
  }

  private signingOf(stored: Signing): TokenSigning {
    const { key, issuer, accessLifetimeSeconds, refreshLifetimeSeconds } = this.defaults
    const own = stored.tokenSigningKey === undefined ? key : Buffer.from(stored.tokenSigningKey, 'base64')
    if (own === undefined) throw new Error('tokens are asked for before there is a key to sign them')
    return {
      key: own,
      issuer: stored.tokenIssuer ?? issuer,
      accessLifetimeSeconds: stored.tokenExpirationTime ?? accessLifetimeSeconds,
      refreshLifetimeSeconds: stored.refreshTokenExpTime ?? refreshLifetimeSeconds,
    }
  }
}

function checkDraft(draft: JwtDraft): void {
  const { tokenIssuer, tokenExpirationTime, refreshTokenExpTime, tokenSigningKey } = draft
  if (tokenIssuer.trim() === '') throw AdminErrors.JWT_ISSUER()
  if (refreshTokenExpTime < SHORTEST_REFRESH_SECONDS) throw AdminErrors.JWT_REFRESH_TIME()
  if (tokenExpirationTime < SHORTEST_LIFE_SECONDS) throw AdminErrors.JWT_TIME()
  if (tokenExpirationTime >= refreshTokenExpTime) throw AdminErrors.JWT_ORDER()
  if (refreshTokenExpTime > LONGEST_LIFE_SECONDS) throw AdminErrors.JWT_LONGEST({ limit: LONGEST_LIFE_SECONDS })
  if (isHidden(tokenSigningKey)) return
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(tokenSigningKey ?? '')) throw AdminErrors.JWT_KEY_NOT_BASE64()
  if (Buffer.from(tokenSigningKey ?? '', 'base64').byteLength < MIN_SIGNING_KEY_BYTES) throw AdminErrors.JWT_KEY_SHORT()
}

function isHidden(key: string | null | undefined): boolean {
  return key === undefined || key === null || key === '' || key === HIDDEN_SIGNING_KEY
}

function formerOf(former: z.infer<typeof formerSchema>): FormerSigning {
  const signing = {
    key: Buffer.from(former.tokenSigningKey, 'base64'),
    issuer: former.tokenIssuer,
    accessLifetimeSeconds: former.tokenExpirationTime,
    refreshLifetimeSeconds: former.refreshTokenExpTime,
  }
  return { ...signing, retiredAt: former.until - longestLifeMs(signing) }
}

/** After it nothing that was signed before is good. */
function longestLifeMs(signing: TokenSigning): number {
  return Math.max(signing.accessLifetimeSeconds, signing.refreshLifetimeSeconds) * 1000
}

function fingerprintOf(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex')
}

function isSame(a: TokenSigning, b: TokenSigning): boolean {
  return (
    Buffer.from(a.key).equals(b.key) &&
    a.issuer === b.issuer &&
    a.accessLifetimeSeconds === b.accessLifetimeSeconds &&
    a.refreshLifetimeSeconds === b.refreshLifetimeSeconds
  )
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('base64')
}
