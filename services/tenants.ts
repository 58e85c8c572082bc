/** Tenants. */
import type { Tenant } from '../model/entities.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { TenantService } from './services.ts'

export class StoredTenants implements TenantService {
  private readonly entities: EntityStore

  constructor(entities: EntityStore) {
    this.entities = entities
  }

  find(id: string): Promise<Tenant | undefined> {
    return this.entities.tenants.find(id)
  }

  all(): Promise<readonly Tenant[]> {
    return this.entities.tenants.all()
  }
}
