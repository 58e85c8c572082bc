/** Users: who they are, and whether a password is theirs (`rest-api.md` 1.5, 1.6, 12). */
import { ByteCache } from '../model/byte-cache.ts'
import type { Clock } from '../model/clock.ts'
import type { User } from '../model/entities.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import { itemNotFound, ServiceErrors } from './errors.ts'
import { hashPassword, verifyPassword } from './secrets.ts'
import type { CommitDoubts } from './commit-doubts.ts'
import type { UserService } from './services.ts'

export const PASSWORD_MIN_LENGTH = 6
export const PASSWORD_MAX_LENGTH = 72
/** What an unknown user's password is compared with, so that the answer takes as long as a known one's. Random bytes. */
const NOBODYS_HASH = 'scrypt$16384$8$1$XWHG1kTBTj3/aHUFPDQsHA==$vruTxCKkwbl5aUeFnEgB5GrKFh+RxT7wpqpxKLxhNT0='
/** Asked at every request with a token: some 10,000 users. */
const MAX_CACHE_BYTES = 2 << 20
const VALID_FROM_BYTES = 32

export class StoredUsers implements UserService {
  private readonly entities: EntityStore
  private readonly clock: Clock
  private readonly feed: ChangeFeed
  private readonly doubts: CommitDoubts
  private readonly validFrom = new ByteCache<{ readonly ms: number }>({
    maxBytes: MAX_CACHE_BYTES,
    sizeOf: () => VALID_FROM_BYTES,
  })
  /** Counts what may have changed: an answer that was read before is not remembered. */
  private generation = 0
  private readonly stops: readonly (() => void)[]

  constructor(entities: EntityStore, clock: Clock, feed: ChangeFeed, doubts: CommitDoubts) {
    this.entities = entities
    this.clock = clock
    this.feed = feed
    this.doubts = doubts
    this.stops = [
      feed.listenToAll(['user-tokens-withdrawn'], ({ entity }) => {
        this.generation++
        this.validFrom.delete(entity.id)
      }),
      feed.onGap(() => {
        this.generation++
        this.validFrom.clear()
      }),
    ]
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  async authenticate(email: string, password: string): Promise<User | undefined> {
    const user = await this.entities.users.findByEmail(email)
    const credentials = user && (await this.entities.users.credentials(user.id))
    const matches = await verifyPassword(password, credentials?.passwordHash ?? NOBODYS_HASH)
    return matches && credentials !== undefined ? user : undefined
  }

  find(id: string): Promise<User | undefined> {
    return this.entities.users.find(id)
  }

  async tokensValidFrom(id: string): Promise<number> {
    const known = this.validFrom.get(id)
    if (known !== undefined) return known.ms
    const { generation } = this
    const credentials = await this.entities.users.credentials(id)
    // A deleted user's tokens never become valid.
    if (credentials === undefined) return Number.MAX_SAFE_INTEGER
    if (generation === this.generation) this.remember(id, credentials.tokensValidFrom)
    return credentials.tokensValidFrom
  }

  async changePassword(id: string, current: string, next: string): Promise<void> {
    const credentials = await this.entities.users.credentials(id)
    if (credentials === undefined) throw itemNotFound({ entityType: 'USER', id })
    if (!(await verifyPassword(current, credentials.passwordHash))) throw ServiceErrors.PASSWORD_WRONG()
    checkPassword(next)
    if (next === current) throw ServiceErrors.PASSWORD_SAME()
    // A token's time is in whole seconds: those of this second are refused too, and new ones are dated to the next (`rest-api.md` 1.3).
    const validFrom = Math.floor(this.clock.now() / 1000) * 1000
    const statements = this.entities.users.changePassword(credentials, await hashPassword(next), validFrom)
    const publishWithdrawn = () =>
      this.feed.publish({ kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id } })
    await this.doubts.watch(this.entities.write(statements), publishWithdrawn)
    publishWithdrawn()
    this.remember(id, validFrom)
  }

  private remember(id: string, validFrom: number): void {
    this.validFrom.set(id, { ms: validFrom })
  }
}

/** Throws `PASSWORD_SHORT`, `PASSWORD_LONG`. */
export function checkPassword(password: string): void {
  if (password.length < PASSWORD_MIN_LENGTH) throw ServiceErrors.PASSWORD_SHORT({ limit: PASSWORD_MIN_LENGTH })
  if (password.length > PASSWORD_MAX_LENGTH) throw ServiceErrors.PASSWORD_LONG({ limit: PASSWORD_MAX_LENGTH })
}
