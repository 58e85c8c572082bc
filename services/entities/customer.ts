/** Customers of a tenant: who devices, assets and dashboards are assigned to. Source: `rest-api.md` 11. */
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { entityId } from '../../model/entity-id.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { isJsonObject } from '../../model/json.ts'
import { ServiceErrors } from '../errors.ts'
import { LOOK } from '../access/permissions.ts'
import { json, name } from './column.ts'
import { CONTACT } from './contact.ts'
import { defineEntity, type RecordOf } from './define.ts'

/** Of the customer to whom belongs what everybody may see. */
export const PUBLIC_TITLE = 'Public'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Customer', property: 'title' })

export const customers = defineEntity({
  type: 'CUSTOMER',
  label: 'Customer',
  name: 'title',
  table: { name: 'customer', version: 3, isInherited: true, countedSince: 3 },
  columns: { ...CONTACT, title: name(), additionalInfo: json() },
  unique: [{ members: ['title'], otherwise: taken }],
  example: () => ({ title: 'Smith & Sons' }),
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: LOOK },
  /** Whoever came in by the public log-in, which is no user, is asked again: the customer may not be public any more. */
  tells: ({ id }, what) =>
    what === 'created'
      ? undefined
      : [
          { kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id: NULL_UUID } },
          { kind: 'device-changed', entity: { entityType: 'CUSTOMER', id }, credentialsChanged: false },
        ],
  /** Else what is meant for everybody would be nobody's to see. */
  async prepare(record) {
    if (record.title === PUBLIC_TITLE && !isPublic(record))
      throw ServiceErrors.CUSTOMER_TITLE_RESERVED({ title: PUBLIC_TITLE })
    return { record }
  },
  // What a customer's users may see of the customer they may because it is their own.
  customerOf: ({ id }) => id,
  takesAlong({ id }, { store }) {
    const users = store.users.deleteOfCustomer(id)
    return {
      statements: users.statements,
      gone: (written) => users.gone(written).map((userId) => entityId('USER', userId)),
    }
  },
  moreJson: ({ title }) => ({ name: title }),
})

export type Customer = RecordOf<typeof customers.columns>

/** Everybody may see what is assigned to it. */
export function isPublic(customer: Pick<Customer, 'additionalInfo'> | undefined): boolean {
  return isJsonObject(customer?.additionalInfo) && customer.additionalInfo['isPublic'] === true
}
