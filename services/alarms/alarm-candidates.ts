/** To whom an alarm may be assigned. Source: `rest-api.md` section 9. */
import type { Page, PageQuery } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Alarm } from '../entities/alarm.ts'
import type { EntityService } from '../entities/entity-service.ts'
import type { users } from '../entities/user.ts'

export type UserPage = EntityService<typeof users.columns>['pageWhere']

/** Administrators, and users of the alarm's customer; a customer's user sees the latter alone. */
export async function candidatesFor(
  { tenantId, customerId }: Alarm,
  userPage: UserPage,
  { authority }: Principal,
  query: PageQuery,
): Promise<Page<JsonObject>> {
  const administrators = { column: 'authority', is: 'TENANT_ADMIN' }
  const ofCustomer = { column: 'customer_id', is: customerId }
  const may = customerId === null ? [administrators] : [administrators, ofCustomer]
  const page = await userPage({
    where: [
      { column: 'tenant_id', is: tenantId },
      ...(authority === 'CUSTOMER_USER' ? [ofCustomer] : [{ anyOf: may }]),
    ],
    query,
  })
  const data = page.data.map(({ id, email, firstName, lastName }) => ({
    id: { entityType: 'USER', id },
    email,
    firstName,
    lastName,
  }))
  return { ...page, data }
}
