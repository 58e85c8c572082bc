/** What a tenant's profile allows: its limits, and the steps of a transaction that refuse what is one too many. */
import { lruMap } from '../../model/lru-map.ts'
import type { EntityType } from '../../model/entity-id.ts'
import { defineErrors } from '../../model/errors.ts'
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { tableName } from '../entities/define.ts'
import { rowsOf } from '../entities/rows.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { tenants } from '../entities/tenant.ts'
import { DEFAULT_LIMITS, type CountName, type TenantLimits } from '../entities/tenant-limits.ts'

export const CountErrors = defineErrors('count', {
  LIMIT_REACHED: {
    kind: 'denied',
    status: 403,
    text: '{entities} limit reached',
    restCode: 41,
    shown: ['entityType', 'limit'],
  },
})

interface Counted {
  readonly member: CountName
  /** As the refusal names them. */
  readonly entities: string
}

const COUNTED: Readonly<Partial<Record<EntityType, Counted>>> = {
  DEVICE: { member: 'maxDevices', entities: 'Devices' },
  ASSET: { member: 'maxAssets', entities: 'Assets' },
  CUSTOMER: { member: 'maxCustomers', entities: 'Customers' },
  USER: { member: 'maxUsers', entities: 'Users' },
  DASHBOARD: { member: 'maxDashboards', entities: 'Dashboards' },
  RULE_CHAIN: { member: 'maxRuleChains', entities: 'Rule chains' },
}

/** Read at each call of a tenant: those of so many are kept until something changes. */
const MAX_KNOWN = 10_000

export class LimitsOfTenants {
  private readonly entities: EntityStore
  private readonly known = lruMap<Promise<TenantLimits>>(MAX_KNOWN)
  /** Those of `known` that were read. */
  private readonly held = lruMap<TenantLimits>(MAX_KNOWN)
  private readonly stops: readonly (() => void)[]

  constructor(entities: EntityStore, feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>) {
    this.entities = entities
    this.stops = [
      feed.listenToAll(['settings-changed', 'entity-deleted'], ({ entity: { entityType, id } }) => {
        if (entityType === 'TENANT') this.forget(id)
        if (entityType === 'TENANT_PROFILE') this.forget()
      }),
      feed.onGap(() => this.forget()),
    ]
  }

  /** At once where they are known: asked for with each message. */
  soon(tenantId: string): Soon<TenantLimits> {
    return this.held.get(tenantId) ?? this.of(tenantId)
  }

  /** Those of a tenant without a profile are the defaults. */
  of(tenantId: string): Promise<TenantLimits> {
    const known = this.known.get(tenantId)
    if (known !== undefined) return known
    const read = this.read(tenantId)
    this.known.set(tenantId, read)
    read.then(
      (limits) => {
        if (this.known.get(tenantId) === read) this.held.set(tenantId, limits)
      },
      // What failed is read again by the next who asks.
      () => this.known.delete(tenantId),
    )
    return read
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  /** All, where no tenant is given. */
  private forget(tenantId?: string): void {
    for (const map of [this.known, this.held]) {
      if (tenantId === undefined) map.clear()
      else map.delete(tenantId)
    }
  }

  private async read(tenantId: string): Promise<TenantLimits> {
    const row = await rowsOf(tenants, this.entities).find([{ column: 'id', is: tenantId }])
    const profileId = row === undefined ? null : tenants.recordOf(row).tenantProfileId
    if (profileId === null) return DEFAULT_LIMITS
    const profile = await rowsOf(tenantProfiles, this.entities).find([{ column: 'id', is: profileId }])
    return profile === undefined ? DEFAULT_LIMITS : tenantProfiles.recordOf(profile).profileData.limits
  }

  /** Go before the statements that make one more: the transaction throws `LIMIT_REACHED` where that is too many. */
  async guard(tenantId: string, entityType: EntityType): Promise<readonly Statement[]> {
    const counted = COUNTED[entityType]
    if (counted === undefined || tenantId === SYSTEM_TENANT) return []
    const limit = (await this.of(tenantId))[counted.member]
    if (limit === 0) return []
    const otherwise = () => CountErrors.LIMIT_REACHED({ entities: counted.entities, entityType, limit })
    return [this.entities.tenantCounts.guard(tenantId, tableName(entityType), limit, otherwise)]
  }

  /** How many the tenant may have; undefined for what is not counted, 0 for no limit. */
  async limitOf(tenantId: string, entityType: EntityType): Promise<number | undefined> {
    const counted = COUNTED[entityType]
    return counted && (await this.of(tenantId))[counted.member]
  }

  /** How many the tenant has. */
  count(tenantId: string, entityType: EntityType): Promise<number> {
    return this.entities.tenantCounts.count(tenantId, tableName(entityType))
  }
}
