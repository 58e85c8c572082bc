/** Users: system administrators, a tenant's administrators, the users of its customers. Source: `rest-api.md` 12. */
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { AUTHORITIES } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { ServiceErrors } from '../errors.ts'
import { newCredentials } from '../users/credentials.ts'
import { UserErrors } from '../users/errors.ts'
import { choice, customerId, json, name, optionalText, type Column } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

const EMAIL = /^[A-Za-z0-9_+&*-]+(\.[A-Za-z0-9_+&*-]+)*@([A-Za-z0-9-]+\.)+[A-Za-z]{2,63}$/

function email(): Column<string> {
  const text = name()
  return {
    ...text,
    check: (value, entity, property) => {
      text.check(value, entity, property)
      if (!EMAIL.test(value)) throw UserErrors.EMAIL_FORMAT({ email: value })
    },
  }
}

function customer(): Column<string | null> {
  const column = customerId('user')
  const missing = (): Error => UserErrors.CUSTOMER_UNKNOWN()
  const foreign = (): Error => UserErrors.CUSTOMER_FOREIGN()
  return { ...column, references: { entityType: 'CUSTOMER', whenDeleted: 'delete', missing, foreign } }
}

export const users = defineEntity({
  type: 'USER',
  label: 'User',
  name: 'email',
  table: {
    name: 'app_user',
    version: 3,
    countedSince: 3,
    isInherited: true,
    systemIsNull: true,
    indexes: [
      { members: ['email'], since: 2 },
      { members: ['customerId', 'email'], since: 2 },
    ],
  },
  columns: {
    customerId: customer(),
    email: email(),
    authority: choice(AUTHORITIES, 'CUSTOMER_USER'),
    firstName: optionalText({ search: true }),
    lastName: optionalText({ search: true }),
    phone: optionalText(),
    additionalInfo: json(),
  },
  unique: [{ members: ['email'], isSystemWide: true, otherwise: () => UserErrors.EMAIL_TAKEN_MEANWHILE() }],
  lacks: ['externalId'],
  mayBeSystems: true,
  /** Open sockets ask again what the user may: authority and customer may have changed. */
  tells: ({ id }, what) =>
    what === 'created' ? undefined : { kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id } },
  example: (ids) => ({
    email: 'ann@example.org',
    authority: 'CUSTOMER_USER',
    firstName: 'Ann',
    customerId: { entityType: 'CUSTOMER', id: ids['customerId'] ?? '' },
  }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all', CUSTOMER_USER: ['READ', 'WRITE'] },
  moreJson: ({ email: address }) => ({ name: address }),
  async prepare(record, { principal, draft, before, services }) {
    if (draft.authority === undefined) throw UserErrors.AUTHORITY_MISSING()
    if (record.authority === 'SYS_ADMIN' && principal.authority !== 'SYS_ADMIN') throw ServiceErrors.PERMISSION_DENIED()
    checkPlace(record)
    if (!mayMake(principal, record, before)) throw ServiceErrors.PERMISSION_DENIED()
    const taken = await services.store.users.findByEmail(record.email)
    if (taken !== undefined && taken.id !== record.id) throw EntityStoreErrors.EMAIL_TAKEN({ email: record.email })
    if (before !== undefined && before.authority !== record.authority) throw UserErrors.AUTHORITY_FIXED()
    if (before !== undefined && before.customerId !== record.customerId) throw UserErrors.CUSTOMER_FIXED()
    if (before !== undefined) return { record }
    if (record.tenantId !== SYSTEM_TENANT && (await services.whose(entityId('TENANT', record.tenantId))) === undefined)
      throw UserErrors.TENANT_UNKNOWN()
    return { record, following: [services.store.users.insertCredentials(await newCredentials(services.store, record))] }
  },
  async beforeDelete(record, services) {
    await checkNotLast(record, services.of(users))
    return []
  },
})

export type DeclaredUser = RecordOf<typeof users.columns>

/** Each kind of user has its place: the system, a tenant, a customer of a tenant. */
function checkPlace({ authority, tenantId, customerId: ofCustomer }: DeclaredUser): void {
  const isSystems = tenantId === SYSTEM_TENANT
  switch (authority) {
    case 'SYS_ADMIN':
      if (!isSystems || ofCustomer !== null) throw UserErrors.SYSTEM_ADMINISTRATOR_PLACE()
      return
    case 'TENANT_ADMIN':
      if (isSystems) throw UserErrors.TENANT_MISSING()
      if (ofCustomer !== null) throw UserErrors.TENANT_ADMINISTRATOR_PLACE()
      return
    case 'CUSTOMER_USER':
      if (isSystems || ofCustomer === null) throw UserErrors.CUSTOMER_MISSING()
  }
}

/** Nobody makes a user, himself among them, that is more than he may be. */
function mayMake(principal: Principal, after: DeclaredUser, before: DeclaredUser | undefined): boolean {
  switch (principal.authority) {
    case 'SYS_ADMIN':
      return after.authority !== 'CUSTOMER_USER'
    case 'TENANT_ADMIN':
      return after.tenantId === principal.tenantId && after.tenantId !== NULL_UUID
    case 'CUSTOMER_USER':
      return after.authority === 'CUSTOMER_USER' && before?.customerId === after.customerId
  }
}

/** Who is the last administrator can not go: nobody could come in. */
async function checkNotLast(
  { authority, tenantId }: DeclaredUser,
  all: { count(tenantId: string, members: Partial<DeclaredUser>): Promise<number> },
): Promise<void> {
  if (authority === 'CUSTOMER_USER' || (await all.count(tenantId, { authority })) > 1) return
  throw authority === 'SYS_ADMIN' ? UserErrors.LAST_SYSTEM_ADMINISTRATOR() : UserErrors.LAST_TENANT_ADMINISTRATOR()
}
