/** Users: who they are, and whether a password is theirs (`rest-api.md` 1.5, 1.6, 12). */
import { ByteCache } from '../../model/byte-cache.ts'
import { isUuid, NULL_UUID } from '../../model/entity-id.ts'
import type { Clock } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import { errorText } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { UserCredentials } from '../../storage/entities/users.ts'
import type { Changes } from '../changes/changes.ts'
import { customers, isPublic } from '../entities/customer.ts'
import { rowsOf } from '../entities/rows.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { verifyPassword } from './secrets.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import type { UserService } from './user-service.ts'
import type { CredentialsAct } from './accounts.ts'
import { UserErrors } from './errors.ts'
import { HOUR_MS, newResetToken } from './credentials.ts'
import { isExpired, withPassword } from './password-history.ts'
import { checkPassword } from './password-policy.ts'
import { readSecuritySettings } from './security-settings.ts'

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
  private readonly audited: Changes['auditedAction']
  /** Somebody asked to be told by mail. */
  private readonly onLocked: (user: User, address: string) => void
  private readonly validFrom = new ByteCache<{ readonly ms: number }>({
    maxBytes: MAX_CACHE_BYTES,
    sizeOf: () => VALID_FROM_BYTES,
  })
  /** Counts what may have changed: an answer that was read before is not remembered. */
  private generation = 0
  private readonly stops: readonly (() => void)[]

  constructor(
    entities: EntityStore,
    clock: Clock,
    feed: ChangeFeed,
    doubts: CommitDoubts,
    audited: Changes['auditedAction'],
    onLocked: (user: User, address: string) => void,
  ) {
    this.audited = audited
    this.onLocked = onLocked
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
    if (user === undefined || credentials === undefined) return undefined
    if (credentials.passwordHash === null) throw UserErrors.NOT_ACTIVE()
    if (!matches) return this.refused(user, credentials)
    // Comparing takes a while: wrong passwords side by side may have locked it meanwhile.
    const now = await this.entities.users.credentials(user.id)
    if (now === undefined || now.passwordHash !== credentials.passwordHash) return undefined
    if (!now.isEnabled) throw UserErrors.NOT_ACTIVE()
    await this.checkOwnPassword(password, user, now)
    return user
  }

  /** Switches the user off who gave one wrong password too many, where the administrator wants that. Throws `LOCKED`. */
  private async refused(user: User, credentials: UserCredentials): Promise<undefined> {
    const { maxFailedLoginAttempts, userLockoutNotificationEmail } = await readSecuritySettings(this.entities)
    const most = maxFailedLoginAttempts ?? 0
    if (most === 0 || !credentials.isEnabled) return undefined
    const { statement, count } = this.entities.users.noteFailure(user.id)
    const failures = count(await this.entities.write([statement]))
    if (failures <= most) return undefined
    // Anybody may give wrong passwords: nobody could come in to switch users on again.
    if (user.authority === 'SYS_ADMIN' && !(await this.entities.users.hasOtherSystemAdministrator(user.id)))
      return undefined
    try {
      await this.replaceCredentials({ ...credentials, failures }, { ...credentials, failures: 0, isEnabled: false })
    } catch (error) {
      const now = await this.entities.users.credentials(user.id)
      // Another wrong password locked it first, and told of it.
      if (now?.isEnabled === false) throw UserErrors.LOCKED()
      throw error
    }
    if (userLockoutNotificationEmail !== null && userLockoutNotificationEmail !== '')
      this.onLocked(user, userLockoutNotificationEmail)
    throw UserErrors.LOCKED()
  }

  /** The right password, and no good any more. Throws `PASSWORD_EXPIRED` with a token to choose another by, `PASSWORD_NOT_VALID`. */
  private async checkOwnPassword(password: string, user: User, credentials: UserCredentials): Promise<void> {
    const { passwordPolicy, passwordResetTokenTtl } = await readSecuritySettings(this.entities)
    const now = this.clock.now()
    if (isExpired(credentials.passwordTime ?? user.createdTime, passwordPolicy, now)) {
      const { token, hash } = newResetToken()
      const reset = { token: hash, expires: now + passwordResetTokenTtl * HOUR_MS }
      await this.replaceCredentials(credentials, { ...credentials, reset })
      throw UserErrors.PASSWORD_EXPIRED({ resetToken: token })
    }
    if (!passwordPolicy.forceUserToResetPasswordIfNotValid) return
    try {
      checkPassword(password, passwordPolicy)
    } catch (error) {
      throw UserErrors.PASSWORD_NOT_VALID({ reason: errorText(error) }, error)
    }
  }

  find(id: string): Promise<User | undefined> {
    return this.entities.users.find(id)
  }

  async findPublic(customerId: string): Promise<User | undefined> {
    const row = isUuid(customerId)
      ? await rowsOf(customers, this.entities).find([{ column: 'id', is: customerId }])
      : undefined
    if (row === undefined) return undefined
    const customer = customers.recordOf(row)
    if (!isPublic(customer)) return undefined
    const { createdTime, version, tenantId } = customer
    const names = { email: customerId, firstName: 'Public', lastName: 'Public', phone: null, additionalInfo: null }
    return { id: NULL_UUID, createdTime, version, tenantId, customerId, authority: 'CUSTOMER_USER', ...names }
  }

  async noteLogin(id: string): Promise<void> {
    await this.entities.write([this.entities.users.noteLogin(id, this.clock.now())])
  }

  async tokensValidFrom(id: string): Promise<number> {
    const known = this.validFrom.get(id)
    if (known !== undefined) return known.ms
    const { generation } = this
    const credentials = await this.entities.users.credentials(id)
    // A deleted user's tokens never become valid.
    if (credentials === undefined) return Number.MAX_SAFE_INTEGER
    // Who was not activated yet has no password to log in with, and an administrator may act for such a user.
    const isOff = !credentials.isEnabled && credentials.passwordHash !== null
    const validFrom = isOff ? Number.MAX_SAFE_INTEGER : credentials.tokensValidFrom
    if (generation === this.generation) this.remember(id, validFrom)
    return validFrom
  }

  async changePassword(id: string, current: string, next: string, by?: Principal): Promise<void> {
    const credentials = await this.entities.users.credentials(id)
    if (credentials === undefined) throw itemNotFound({ entityType: 'USER', id })
    const { passwordHash } = credentials
    if (passwordHash === null || !(await verifyPassword(current, passwordHash))) throw ServiceErrors.PASSWORD_WRONG()
    const { passwordPolicy } = await readSecuritySettings(this.entities)
    checkPassword(next, passwordPolicy)
    if (next === current) throw ServiceErrors.PASSWORD_SAME()
    const after = await withPassword(credentials, next, passwordPolicy, this.clock.now())
    await this.withdrawTokens(credentials, after, by && { by, actionType: 'CREDENTIALS_UPDATED' })
  }

  /** Changes the credentials; every token that the user has is refused from now on. */
  async withdrawTokens(before: UserCredentials, after: UserCredentials, act?: CredentialsAct): Promise<void> {
    // A token's time is in whole seconds: those of this second are refused too, and new ones are dated to the next (`rest-api.md` 1.3).
    const tokensValidFrom = Math.floor(this.clock.now() / 1000) * 1000
    await this.replaceCredentials(before, { ...after, tokensValidFrom }, act)
  }

  async replaceCredentials(before: UserCredentials, after: UserCredentials, act?: CredentialsAct): Promise<void> {
    const entity = { entityType: 'USER', id: before.userId } as const
    const actionData = JSON.stringify({ entityId: entity.id })
    const rows =
      act === undefined ? [] : [await this.audited(act.by, { actionType: act.actionType, entity, actionData })]
    const publishWithdrawn = () => this.feed.publish({ kind: 'user-tokens-withdrawn', entity })
    await this.doubts.watch(
      this.entities.write([...this.entities.users.replaceCredentials(before, after), ...rows]),
      publishWithdrawn,
    )
    publishWithdrawn()
  }

  private remember(id: string, validFrom: number): void {
    this.validFrom.set(id, { ms: validFrom })
  }
}
