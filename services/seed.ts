/**
 * What a first start puts into an empty store: everything for the demo, or only the means to log in. One transaction, so
 * that a start that was killed seeds again from the beginning; a store that has users is left alone. The shipped queues are put
 * in where they are absent, whatever the store is.
 */
import type { Authority, User } from '../model/entities.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { Statement } from '../storage/entities/database.ts'
import { SYSTEM_TENANT } from './changes/changes.ts'
import { newAccessToken } from './devices/device-credentials.ts'
import { customers } from './entities/customer.ts'
import { devices, inactive } from './entities/device.ts'
import { recordWith, rowsOf } from './entities/rows.ts'
import { tenants } from './entities/tenant.ts'
import { hashPassword, randomText } from './users/secrets.ts'
import { seedQueues, type QueueSeedOptions } from './queues/shipped-queues.ts'
import { seedTenantProfile } from './tenants/shipped-tenant-profile.ts'
import { tenantStart } from './tenants/tenant-start.ts'

export const DEMO_LOGINS = {
  systemAdministrator: { email: 'sysadmin@millrace.local', password: 'sysadmin' },
  tenantAdministrator: { email: 'tenant@millrace.local', password: 'tenant' },
  customerUser: { email: 'customer@millrace.local', password: 'customer' },
} as const
export const DEMO_ACCESS_TOKEN = 'DEMO_THERMOMETER'
export const DEMO_DEVICE_NAME = 'Demo Thermometer'

const ONE_TIME_PASSWORD_LENGTH = 24

export interface SeedOptions extends QueueSeedOptions {
  readonly catalogue: Pick<NodeCatalogue, 'find'>
}

/** Whether it seeded: false where the store was not empty. */
export async function seedDemo(options: SeedOptions): Promise<boolean> {
  const { entities, clock, random } = options
  await seedQueues(options)
  const tenantProfileId = await seedTenantProfile(options)
  if (await entities.users.hasAny()) return false
  const record = () => ({ id: random.uuid(), createdTime: clock.now(), version: 1 })
  const owned = { ...record(), tenantId: SYSTEM_TENANT }
  const tenant = recordWith(tenants, owned, { title: 'Tenant', tenantProfileId })
  const start = tenantStart(options, tenant.id)
  const customer = recordWith(customers, { ...record(), tenantId: tenant.id }, { title: 'Customer A' })
  const device = recordWith(
    devices,
    { ...record(), tenantId: tenant.id },
    {
      customerId: customer.id,
      deviceProfileId: start.deviceProfile.id,
      name: DEMO_DEVICE_NAME,
      type: start.deviceProfile.name,
      deviceData: { configuration: { type: 'DEFAULT' }, transportConfiguration: { type: 'DEFAULT' } },
      additionalInfo: { description: 'Sends what the five-minute tour sends' },
    },
  )
  const { systemAdministrator, tenantAdministrator, customerUser } = DEMO_LOGINS
  await entities.write([
    rowsOf(tenants, entities).insert(tenants.rowOf(tenant)),
    ...start.statements,
    rowsOf(customers, entities).insert(customers.rowOf(customer)),
    rowsOf(devices, entities).insert(devices.rowOf(device)),
    ...entities.deviceCredentials.insert(newAccessToken(device, random.uuid(), DEMO_ACCESS_TOKEN)),
    inactive(device, entities),
    ...(await user(options, 'SYS_ADMIN', null, null, systemAdministrator)),
    ...(await user(options, 'TENANT_ADMIN', tenant.id, null, tenantAdministrator)),
    ...(await user(options, 'CUSTOMER_USER', tenant.id, customer.id, customerUser)),
  ])
  return true
}

/** The one-time password of the system administrator, to be printed; undefined where the store was not empty. */
export async function seedMinimal(options: SeedOptions): Promise<{ email: string; password: string } | undefined> {
  await seedQueues(options)
  await seedTenantProfile(options)
  if (await options.entities.users.hasAny()) return undefined
  const login = { email: DEMO_LOGINS.systemAdministrator.email, password: randomText(ONE_TIME_PASSWORD_LENGTH) }
  await options.entities.write(await user(options, 'SYS_ADMIN', null, null, login))
  return login
}

async function user(
  { entities, clock, random }: SeedOptions,
  authority: Authority,
  tenantId: string | null,
  customerId: string | null,
  login: { readonly email: string; readonly password: string },
): Promise<readonly Statement[]> {
  const record: User = {
    id: random.uuid(),
    createdTime: clock.now(),
    version: 1,
    tenantId,
    customerId,
    email: login.email,
    authority,
    firstName: null,
    lastName: null,
    phone: null,
    additionalInfo: null,
  }
  return entities.users.insert(record, { passwordHash: await hashPassword(login.password), tokensValidFrom: 0 })
}
