/** Tenants beyond what their declaration says: what a new one has, and what goes with an old one. */
import type { Principal } from '../../model/principal.ts'
import type { DraftOf } from '../entities/define.ts'
import type { TenantProfile } from '../entities/tenant-profile.ts'
import type { Tenant, tenants } from '../entities/tenant.ts'

export interface TenantService {
  find(id: string): Promise<Tenant | undefined>
  all(): Promise<readonly Tenant[]>
  /** A new one has its default profiles and root rule chains. */
  saveByUser(principal: Principal, draft: DraftOf<typeof tenants.columns>): Promise<Tenant>
  /** Of tenants that name none. */
  setDefaultProfileByUser(principal: Principal, id: string): Promise<TenantProfile>
  /** With everything that it owns; its series go after that. */
  deleteByUser(principal: Principal, id: string): Promise<void>
}
