import { tenantProfiles } from '../../../services/entities/tenant-profile.ts'
import type { MakeThings } from './make-things.ts'

export const makeTenantProfiles: MakeThings = async ({ services, systemAdministrator }) => {
  const profile = await services.declared.of(tenantProfiles).saveByUser(systemAdministrator, { name: 'secret limits' })
  return { tenantProfileId: profile.id }
}
