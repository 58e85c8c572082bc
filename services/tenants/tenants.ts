/** Tenants, as those see them who ask for no more than a title, and who make them. */
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { DraftOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { tenantProfiles, type TenantProfile } from '../entities/tenant-profile.ts'
import { tenants, type Tenant } from '../entities/tenant.ts'
import { itemNotFound } from '../errors.ts'
import type { TenantService } from './tenant-service.ts'

export class StoredTenants implements TenantService {
  private readonly entities: EntityStore
  private readonly declared: EntityRegistry
  private readonly feed: ChangeFeed

  constructor(entities: EntityStore, declared: EntityRegistry, feed: ChangeFeed) {
    this.entities = entities
    this.declared = declared
    this.feed = feed
  }

  find(id: string): Promise<Tenant | undefined> {
    return this.declared.of(tenants).findAnywhere(id)
  }

  async all(): Promise<readonly Tenant[]> {
    const all = await this.declared.of(tenants).findAllBy(SYSTEM_TENANT, {})
    return all.toSorted((a, b) => a.createdTime - b.createdTime || (a.id < b.id ? -1 : 1))
  }

  async saveByUser(principal: Principal, draft: DraftOf<typeof tenants.columns>): Promise<Tenant> {
    const tenant = await this.declared.of(tenants).saveByUser(principal, draft)
    const root = draft.id === undefined ? await this.entities.ruleChains.root(tenant.id, 'CORE') : undefined
    if (root !== undefined) {
      const entity = { entityType: 'RULE_CHAIN', id: root.id } as const
      this.feed.publish({ kind: 'rule-chain-changed', entity, tenantId: tenant.id })
    }
    return tenant
  }

  async setDefaultProfileByUser(principal: Principal, id: string): Promise<TenantProfile> {
    const profiles = this.declared.of(tenantProfiles)
    const before = await profiles.findAnywhere(id)
    if (before === undefined) throw itemNotFound({ entityType: 'TENANT_PROFILE', id })
    if (before.default) return before
    const former = await profiles.findBy(SYSTEM_TENANT, { default: true })
    const statements =
      former === undefined ? [] : [profiles.update({ ...former, version: former.version + 1, default: false })]
    return profiles.changeByUser(principal, before, { default: true }, { statements, type: 'ENTITY_UPDATED' })
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    return this.declared.of(tenants).deleteByUser(principal, id)
  }
}
