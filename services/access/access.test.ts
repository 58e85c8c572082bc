import assert from 'node:assert/strict'
import { customers } from '../entities/customer.ts'
import { deviceProfiles, insertionOfProfile } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { after, before, test } from 'node:test'
import type { Authority } from '../../model/entities.ts'
import { ENTITY_TYPES, type EntityId, type EntityType } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import type { Operation } from './permissions.ts'
import { insertTenant, openTestPlatform, type TestPlatform } from '../testkit.ts'

const OPERATIONS: readonly Operation[] = [
  'READ',
  'WRITE',
  'DELETE',
  'READ_CREDENTIALS',
  'WRITE_CREDENTIALS',
  'READ_ATTRIBUTES',
  'WRITE_ATTRIBUTES',
  'READ_TELEMETRY',
  'WRITE_TELEMETRY',
  'ASSIGN_TO_CUSTOMER',
  'CREATE',
]
/** In the order of {@link OPERATIONS}; `+` allowed, `-` denied (403), `?` not said to be there (404). */
const ALL = '+++++++++++'
const NONE = '-----------'
const LOOK = '+----+-+---'
const IN_HANDS = '++-+-++++--'
const HIDDEN = '???????????'
const HIDDEN_IN_HANDS = '??-?-????--'

type Case = 'own' | 'of the own tenant only' | 'of another tenant'

/** The rows of `rest-api.md` 3.5 for the entities that the platform keeps. */
const TABLE: readonly (readonly [Authority, EntityType, Readonly<Record<Case, string>>])[] = [
  ['SYS_ADMIN', 'DEVICE', { own: NONE, 'of the own tenant only': NONE, 'of another tenant': NONE }],
  ['SYS_ADMIN', 'CUSTOMER', { own: NONE, 'of the own tenant only': NONE, 'of another tenant': NONE }],
  ['SYS_ADMIN', 'DEVICE_PROFILE', { own: NONE, 'of the own tenant only': NONE, 'of another tenant': NONE }],
  ['SYS_ADMIN', 'RULE_CHAIN', { own: NONE, 'of the own tenant only': NONE, 'of another tenant': NONE }],
  ['SYS_ADMIN', 'TENANT', { own: ALL, 'of the own tenant only': ALL, 'of another tenant': ALL }],
  ['TENANT_ADMIN', 'DEVICE', { own: ALL, 'of the own tenant only': ALL, 'of another tenant': HIDDEN }],
  ['TENANT_ADMIN', 'CUSTOMER', { own: ALL, 'of the own tenant only': ALL, 'of another tenant': NONE }],
  ['TENANT_ADMIN', 'DEVICE_PROFILE', { own: ALL, 'of the own tenant only': ALL, 'of another tenant': NONE }],
  ['TENANT_ADMIN', 'RULE_CHAIN', { own: ALL, 'of the own tenant only': ALL, 'of another tenant': NONE }],
  [
    'TENANT_ADMIN',
    'TENANT',
    { own: '+-+--+-+---', 'of the own tenant only': '+-+--+-+---', 'of another tenant': NONE },
  ],
  ['CUSTOMER_USER', 'DEVICE', { own: IN_HANDS, 'of the own tenant only': NONE, 'of another tenant': HIDDEN_IN_HANDS }],
  ['CUSTOMER_USER', 'CUSTOMER', { own: LOOK, 'of the own tenant only': NONE, 'of another tenant': NONE }],
  [
    'CUSTOMER_USER',
    'DEVICE_PROFILE',
    { own: '+----------', 'of the own tenant only': '+----------', 'of another tenant': NONE },
  ],
  ['CUSTOMER_USER', 'RULE_CHAIN', { own: NONE, 'of the own tenant only': NONE, 'of another tenant': NONE }],
  ['CUSTOMER_USER', 'TENANT', { own: NONE, 'of the own tenant only': NONE, 'of another tenant': NONE }],
]

let platform: TestPlatform
let principals: Readonly<Record<Authority, Principal>>
let ids: Readonly<Record<Case, Readonly<Partial<Record<EntityType, string>>>>>

before(async () => {
  platform = await openTestPlatform()
  const { entities, services, tenant, customer, systemAdministrator, tenantId } = platform
  principals = { SYS_ADMIN: systemAdministrator, TENANT_ADMIN: tenant, CUSTOMER_USER: customer }
  const unassigned = await services.devices.saveByUser(tenant, { name: 'unassigned' })
  const otherCustomer = await services.declared.of(customers).saveByUser(tenant, { title: 'Customer B' })
  const own = (await services.devices.saveByUser(tenant, { name: 'assigned' })).id
  await services.declared.of(devices).assignByUser(tenant, own, { id: customer.customerId ?? '', title: '' })
  const foreignTenant = { id: '00000000-0000-4000-8000-00000000000a', title: 'Foreign' }
  const profile = await services.declared.of(deviceProfiles).findBy(tenantId, { default: true })
  assert.ok(profile !== undefined)
  const foreignProfile = { ...profile, id: '00000000-0000-4000-8000-00000000000b', tenantId: foreignTenant.id }
  await entities.write([
    insertTenant(entities, foreignTenant.id, foreignTenant.title),
    insertionOfProfile(entities, foreignProfile),
  ])
  const stranger: Principal = { ...tenant, tenantId: foreignTenant.id }
  const foreignDevice = await services.devices.saveByUser(stranger, { name: 'foreign' })
  const foreignCustomer = await services.declared.of(customers).saveByUser(stranger, { title: 'Customer A' })
  const foreignChain = await services.ruleChains.saveByUser(stranger, { name: 'foreign' })
  const chain = (await services.ruleChains.root(tenantId))?.id ?? ''
  const shared = { TENANT: tenantId, DEVICE_PROFILE: profile.id, RULE_CHAIN: chain }
  ids = {
    own: { ...shared, DEVICE: own, CUSTOMER: customer.customerId ?? '' },
    'of the own tenant only': { ...shared, DEVICE: unassigned.id, CUSTOMER: otherCustomer.id },
    'of another tenant': {
      TENANT: foreignTenant.id,
      DEVICE_PROFILE: foreignProfile.id,
      RULE_CHAIN: foreignChain.id,
      DEVICE: foreignDevice.id,
      CUSTOMER: foreignCustomer.id,
    },
  }
})
after(() => platform.close())

async function verdict(principal: Principal, operation: Operation, entity: EntityId): Promise<string> {
  try {
    await platform.services.access.check(principal, operation, entity)
    return '+'
  } catch (error) {
    if (!isMillraceError(error)) throw error
    if (error.status === 403) return '-'
    return error.status === 404 ? '?' : String(error.status)
  }
}

for (const [authority, entityType, expected] of TABLE) {
  test(`what ${authority} may do to a ${entityType}`, async () => {
    for (const kind of Object.keys(expected) as Case[]) {
      const id = ids[kind][entityType]
      assert.ok(id !== undefined && id !== '')
      const verdicts = []
      for (const operation of OPERATIONS)
        verdicts.push(await verdict(principals[authority], operation, { entityType, id }))
      assert.equal(verdicts.join(''), expected[kind], `${kind}: ${OPERATIONS.join(' ')}`)
    }
  })
}

test('users: an administrator those of the tenant, a customer user itself and to read its customer’s', async () => {
  const { tenant, customer, systemAdministrator, services } = platform
  const entity = (principal: Principal): EntityId => ({ entityType: 'USER', id: principal.userId })
  const see = (principal: Principal, whom: Principal, operation: Operation) =>
    verdict(principal, operation, entity(whom))
  assert.equal(await see(systemAdministrator, tenant, 'WRITE'), '+')
  assert.equal(await see(systemAdministrator, customer, 'READ'), '-')
  assert.equal(await see(tenant, customer, 'WRITE'), '+')
  assert.equal(await see(tenant, systemAdministrator, 'READ'), '-')
  assert.equal(await see(customer, customer, 'READ'), '+')
  assert.equal(await see(customer, customer, 'WRITE'), '+')
  assert.equal(await see(customer, customer, 'DELETE'), '-')
  assert.equal(await see(customer, tenant, 'READ'), '-')
  assert.equal(await see({ ...customer, userId: tenant.userId }, customer, 'WRITE'), '-')
  assert.equal((await services.users.find(customer.userId))?.authority, 'CUSTOMER_USER')
})

test('what does not exist is not found, but only to those who may look for it', async () => {
  const { tenant, systemAdministrator, services } = platform
  const missing: EntityId = { entityType: 'DEVICE', id: '11111111-2222-1333-8444-555555555555' }
  assert.equal(await verdict(tenant, 'READ', missing), '?')
  assert.equal(await verdict(systemAdministrator, 'READ', missing), '-')
  await assert.rejects(services.access.check(tenant, 'READ', { ...missing, entityType: 'RULE_CHAIN' }), {
    message: 'Rule chain with id [11111111-2222-1333-8444-555555555555] is not found',
    restCode: 32,
  })
})

test('a type that the platform does not keep is never allowed', async () => {
  for (const entityType of ENTITY_TYPES) {
    if (['DEVICE', 'CUSTOMER', 'TENANT', 'USER', 'DEVICE_PROFILE', 'RULE_CHAIN'].includes(entityType)) continue
    for (const principal of Object.values(principals)) {
      const answer = await verdict(principal, 'READ', { entityType, id: '11111111-2222-1333-8444-555555555555' })
      assert.ok(answer === '-' || answer === '?', `${principal.authority} ${entityType} ${answer}`)
    }
  }
})

test('authority alone is told apart from ownership', () => {
  const { access } = platform.services
  access.checkAuthority(platform.tenant, 'CREATE', 'DEVICE')
  assert.throws(() => access.checkAuthority(platform.customer, 'CREATE', 'DEVICE'), {
    message: "You don't have permission to perform this operation!",
    status: 403,
    restCode: 20,
  })
})

test('issue-8 11: many devices are checked with the rows that were read, and not one read for each', async (context) => {
  const { services, tenant, customer, systemAdministrator, tenantId } = platform
  const wanted = Object.values(ids).map(({ DEVICE }) => DEVICE ?? '')
  const found = await services.declared.of(devices).findByIds(tenantId, wanted)
  const reads = context.mock.method(services.declared, 'findAnywhere')
  const allowed = (principal: Principal) =>
    services.access.allowed(principal, 'READ', 'DEVICE', found).map(({ name }) => name)
  assert.deepEqual(allowed(tenant).toSorted(), ['assigned', 'unassigned'])
  assert.deepEqual(allowed(customer), ['assigned'])
  assert.deepEqual([allowed(systemAdministrator), reads.mock.callCount()], [[], 0])
  assert.deepEqual(services.access.allowed(customer, 'DELETE', 'DEVICE', found), [])
  const foreign = found.map((device) => ({ ...device, tenantId: '00000000-0000-4000-8000-00000000000a' }))
  assert.deepEqual(services.access.allowed(tenant, 'READ', 'DEVICE', foreign), [])
})
