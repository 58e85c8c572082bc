/**
 * Records as JSON of the wire (`rest-api.md` 3.1, 3.3, 5, 8, 11, 12): nulls are written, no field is left out. Those that messages
 * carry too are in `services/entity-json.ts`.
 */
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Page, User } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import { idJson } from '../../services/entity-json.ts'

/** Unassigned is not null but the id that means "no entity". */
function customerIdOf(id: string | null): JsonObject {
  return idJson('CUSTOMER', id ?? NULL_UUID)
}

export function renderPage<Item>(page: Page<Item>, render: (item: Item) => JsonObject): JsonObject {
  const { totalPages, totalElements, hasNext } = page
  return { data: page.data.map(render), totalPages, totalElements, hasNext }
}

export function renderUser(user: User): JsonObject {
  return {
    id: idJson('USER', user.id),
    createdTime: user.createdTime,
    tenantId: idJson('TENANT', user.tenantId ?? NULL_UUID),
    customerId: customerIdOf(user.customerId),
    email: user.email,
    authority: user.authority,
    firstName: user.firstName,
    lastName: user.lastName,
    phone: user.phone,
    version: user.version,
    name: user.email,
    additionalInfo: user.additionalInfo,
  }
}
