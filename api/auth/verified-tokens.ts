/**
 * Access tokens whose signature was checked lately. The check is the costly part, and a token's signature does not change; its expiry is
 * looked at every time.
 */
import { ByteCache, textBytes } from '../../model/byte-cache.ts'
import type { Clock } from '../../model/clock.ts'
import type { AccessClaims, Tokens } from './tokens.ts'

/** Of claims beyond their texts. */
const CLAIMS_BYTES = 120

export class VerifiedTokens {
  private readonly tokens: Pick<Tokens, 'verifyAccess'>
  private readonly clock: Clock
  private readonly known: ByteCache<AccessClaims>

  /** `maxBytes`: tokens used longest ago are forgotten beyond it. */
  constructor(tokens: Pick<Tokens, 'verifyAccess'>, clock: Clock, maxBytes: number) {
    this.tokens = tokens
    this.clock = clock
    this.known = new ByteCache<AccessClaims>({ maxBytes, sizeOf: claimsBytes })
  }

  get size(): number {
    return this.known.size
  }

  /** About the memory of what is known. */
  get bytes(): number {
    return this.known.bytes
  }

  /** Throws as `verifyAccess` does. */
  async claimsOf(token: string): Promise<AccessClaims> {
    const found = this.known.get(token)
    if (found !== undefined) {
      if (found.expiresAt * 1000 > this.clock.now()) return found
      this.known.delete(token)
    }
    const claims = await this.tokens.verifyAccess(token, this.clock.now())
    this.known.set(token, claims)
    return claims
  }
}

function claimsBytes({ email, userId, sessionId, tenantId, customerId }: AccessClaims): number {
  return CLAIMS_BYTES + [email, userId, sessionId, tenantId, customerId].reduce((sum, text) => sum + textBytes(text), 0)
}
