/** The customer to whom belongs what everybody may see. Source: `rest-api.md` 5.1. */
import type { Principal } from '../../model/principal.ts'
import { ServiceErrors } from '../errors.ts'
import { customers, isPublic, PUBLIC_TITLE, type Customer } from './customer.ts'
import type { EntityRegistry } from './entity-registry.ts'

/** Made where there is none. Throws `CUSTOMER_TITLE_RESERVED` where another is called so: what it has is not for everybody. */
export async function publicCustomer(declared: EntityRegistry, principal: Principal): Promise<Customer> {
  if (principal.tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
  const service = declared.of(customers)
  const found = await service.findByName(principal.tenantId, PUBLIC_TITLE)
  if (found === undefined)
    return service.saveByUser(principal, { title: PUBLIC_TITLE, additionalInfo: { isPublic: true } })
  if (!isPublic(found)) throw ServiceErrors.CUSTOMER_TITLE_RESERVED({ title: PUBLIC_TITLE })
  return found
}
