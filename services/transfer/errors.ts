/** Why a tenant can not be brought in. */
import { defineErrors } from '../../model/errors.ts'

const INVALID = { kind: 'invalid', status: 400, restCode: 31 } as const

export const TenantTransferErrors = defineErrors('tenant-transfer', {
  TABLE: { ...INVALID, text: 'There is no table {table} that tenants have something in' },
  ROW: { ...INVALID, text: 'A row of {table} is none: {reason}' },
  FOREIGN: { ...INVALID, text: 'A row of {table} names what the tenant does not have: {column} {id}' },
  AUTHORITY: { ...INVALID, text: 'A tenant has no system administrators' },
})
