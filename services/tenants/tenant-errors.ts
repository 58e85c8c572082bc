/** What is refused of tenants and their profiles; the texts are the reference's. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const TenantErrors = defineErrors('tenant', {
  PROFILE_UNKNOWN: { ...BAD_REQUEST, text: 'Constraint violation: fk_tenant_profile' },
  PROFILE_REFERENCED: { ...BAD_REQUEST, text: 'The tenant profile referenced by the tenants cannot be deleted!' },
  DEFAULT_PROFILE_EXISTS: { ...BAD_REQUEST, text: 'Another default tenant profile is present!' },
  DEFAULT_PROFILE_DELETE: { ...BAD_REQUEST, text: 'Deletion of Default Tenant Profile is prohibited!' },
})
