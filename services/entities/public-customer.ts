/** The customer to whom belongs what everybody may see. Source: `rest-api.md` 5.1. */
import type { Principal } from '../../model/principal.ts'
import { isMillraceError } from '../../model/errors.ts'
import { ServiceErrors } from '../errors.ts'
import { customers, isPublic, PUBLIC_TITLE, type Customer } from './customer.ts'
import type { EntityRegistry } from './entity-registry.ts'
import type { EntityService } from './entity-service.ts'

/** Of the customers whose additional information says so somewhere: looked at for whether it says so of them. */
const MAX_LIKELY = 100

type Customers = EntityService<typeof customers.columns>

/**
 * Whoever is public, whatever its title is; made where there is none. Throws `CUSTOMER_TITLE_RESERVED` where there is none and another is
 * called so: what it has is not for everybody.
 */
export async function publicCustomer(declared: EntityRegistry, principal: Principal): Promise<Customer> {
  const { tenantId } = principal
  if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
  const service = declared.of(customers)
  const found = await find(service, tenantId)
  if (found !== undefined) return found
  if ((await service.findByName(tenantId, PUBLIC_TITLE)) !== undefined)
    throw ServiceErrors.CUSTOMER_TITLE_RESERVED({ title: PUBLIC_TITLE })
  try {
    return await service.saveByUser(principal, { title: PUBLIC_TITLE, additionalInfo: { isPublic: true } })
  } catch (error) {
    // Another call made it meanwhile.
    const made = isMillraceError(error) && error.kind === 'invalid' ? await find(service, tenantId) : undefined
    if (made === undefined) throw error
    return made
  }
}

async function find(service: Customers, tenantId: string): Promise<Customer | undefined> {
  const named = await service.findByName(tenantId, PUBLIC_TITLE)
  if (isPublic(named)) return named
  const says = { column: 'additional_info', holds: '"isPublic":true' } as const
  return (await service.findWhere([{ column: 'tenant_id', is: tenantId }, says], MAX_LIKELY)).find(isPublic)
}
