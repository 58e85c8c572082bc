/** Makes API keys, and tells whose a shown one is (`rest-api.md` 1.7). */
import type { Clock } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { apiKeys } from '../entities/api-key.ts'
import { type ApiKey } from '../entities/api-key.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { itemNotFound } from '../errors.ts'
import { randomText } from './secrets.ts'
import { hashOfToken } from './credentials.ts'
import { UserErrors } from './errors.ts'

const PREFIX = 'tb_'
const SECRET_LENGTH = 64
/** Of one user. */
const MAX_KEYS = 100

export interface ApiKeyDraft {
  readonly userId: string
  readonly description: string
  readonly enabled: boolean
  /** Unix ms; 0 for never. */
  readonly expirationTime: number
}

export class ApiKeys {
  readonly service: EntityService<typeof apiKeys.columns>
  private readonly entities: EntityStore
  private readonly clock: Clock

  constructor(service: EntityService<typeof apiKeys.columns>, entities: EntityStore, clock: Clock) {
    this.service = service
    this.entities = entities
    this.clock = clock
  }

  /** The value is told here and never again. Throws `API_KEYS_TOO_MANY`. */
  async create(principal: Principal, draft: ApiKeyDraft): Promise<{ readonly key: ApiKey; readonly value: string }> {
    const tenantId = await this.tenantOf(draft.userId)
    if ((await this.service.count(tenantId, { userId: draft.userId })) >= MAX_KEYS)
      throw UserErrors.API_KEYS_TOO_MANY({ limit: MAX_KEYS })
    const value = `${PREFIX}${randomText(SECRET_LENGTH)}`
    const key = await this.service.saveByUser(principal, { ...draft, hash: hashOfToken(value) }, { newOf: tenantId })
    return { key, value }
  }

  change(principal: Principal, key: ApiKey, changes: Partial<ApiKeyDraft>): Promise<ApiKey> {
    const { id, userId, description, enabled, expirationTime } = key
    return this.service.saveByUser(principal, { id, userId, description, enabled, expirationTime, ...changes })
  }

  /** The tenant in which the user and the user's keys are. */
  async tenantOf(userId: string): Promise<string> {
    const user = await this.entities.users.find(userId)
    if (user === undefined) throw itemNotFound({ entityType: 'USER', id: userId })
    return user.tenantId ?? SYSTEM_TENANT
  }

  isExpired({ expirationTime }: ApiKey): boolean {
    return expirationTime > 0 && expirationTime <= this.clock.now()
  }

  /** Undefined where nobody has such a key. Throws `NOT_ACTIVE`, `API_KEY_EXPIRED`. */
  async userOf(value: string): Promise<User | undefined> {
    if (!value.startsWith(PREFIX) || value.length > PREFIX.length + SECRET_LENGTH) return undefined
    const key = await this.service.findAnywhereBy({ hash: hashOfToken(value) })
    if (key === undefined) return undefined
    const user = await this.entities.users.find(key.userId)
    const credentials = user && (await this.entities.users.credentials(user.id))
    if (user === undefined || credentials === undefined) return undefined
    if (!key.enabled || !credentials.isEnabled) throw UserErrors.NOT_ACTIVE()
    if (this.isExpired(key)) throw UserErrors.API_KEY_EXPIRED()
    return user
  }
}
