/** Customers of a tenant: who devices, assets and dashboards are assigned to. Source: `rest-api.md` 11. */
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { isJsonObject } from '../../model/json.ts'
import { LOOK } from '../permissions.ts'
import { json, name } from './column.ts'
import { CONTACT } from './contact.ts'
import { defineEntity, type RecordOf } from './define.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Customer', property: 'title' })

export const customers = defineEntity({
  type: 'CUSTOMER',
  label: 'Customer',
  name: 'title',
  table: { name: 'customer', version: 2, isInherited: true },
  columns: { ...CONTACT, title: name(), additionalInfo: json() },
  unique: [{ members: ['title'], otherwise: taken }],
  example: () => ({ title: 'Smith & Sons' }),
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: LOOK },
  // What a customer's users may see of the customer they may because it is their own.
  customerOf: ({ id }) => id,
  async beforeDelete({ id }, { store }) {
    return [store.users.deleteOfCustomer(id)]
  },
  moreJson: ({ title }) => ({ name: title }),
})

export type Customer = RecordOf<typeof customers.columns>

/** Everybody may see what is assigned to it. */
export function isPublic(customer: Pick<Customer, 'additionalInfo'> | undefined): boolean {
  return isJsonObject(customer?.additionalInfo) && customer.additionalInfo['isPublic'] === true
}
