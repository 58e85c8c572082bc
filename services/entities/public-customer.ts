/** The customer to whom belongs what everybody may see. Source: `rest-api.md` 5.1. */
import type { Principal } from '../../model/principal.ts'
import { ServiceErrors } from '../errors.ts'
import { customers, type Customer } from './customer.ts'
import type { EntityRegistry } from './entity-registry.ts'

const TITLE = 'Public'

/** Made where there is none. */
export async function publicCustomer(declared: EntityRegistry, principal: Principal): Promise<Customer> {
  if (principal.tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
  const service = declared.of(customers)
  const found = await service.findByName(principal.tenantId, TITLE)
  return found ?? service.saveByUser(principal, { title: TITLE, additionalInfo: { isPublic: true } })
}
