import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { z } from 'zod'
import { customers } from '../entities/customer.ts'
import { dashboards } from '../entities/dashboard.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const PAGE = { page: 0, pageSize: 10 }
const service = () => platform.services.declared.of(dashboards)
const special = () => platform.services.content.dashboards
const newCustomer = (title: string) => platform.services.declared.of(customers).saveByUser(platform.tenant, { title })
const newDashboard = (title: string) => service().saveByUser(platform.tenant, { title })
const titles = ({ data }: { readonly data: readonly { readonly title: string }[] }) => data.map(({ title }) => title)

test('many customers have one dashboard, each assigned once, and every change raises the version', async () => {
  const dashboard = await newDashboard('one')
  const [first, second] = [await newCustomer('first'), await newCustomer('second')]
  assert.equal((await service().renderOne(dashboard))['assignedCustomers'], null)
  platform.clock.time += 1
  await special().assign(platform.tenant, dashboard.id, [first])
  platform.clock.time += 1
  const assigned = await special().assign(platform.tenant, dashboard.id, [first, second, second])
  assert.equal(assigned.version, 3)
  assert.deepEqual((await service().renderOne(assigned))['assignedCustomers'], [
    { customerId: { entityType: 'CUSTOMER', id: first.id }, title: 'first', public: false },
    { customerId: { entityType: 'CUSTOMER', id: second.id }, title: 'second', public: false },
  ])
  assert.deepEqual(titles(await special().page({ tenantId: platform.tenantId, customerId: second.id }, PAGE)), ['one'])
  const left = await special().setCustomers(platform.tenant, dashboard.id, [second])
  assert.deepEqual(await special().customerIds(left), [second.id])
  const types = platform.link.messages.filter(({ originator }) => originator.id === dashboard.id)
  assert.deepEqual(
    types.map(({ type, metadata }) => [type, metadata['assignedCustomerName'] ?? metadata['unassignedCustomerName']]),
    [
      ['ENTITY_CREATED', undefined],
      ['ENTITY_ASSIGNED', 'first'],
      ['ENTITY_ASSIGNED', 'second'],
      ['ENTITY_UNASSIGNED', 'first'],
    ],
  )
})

test('messages about a dashboard say which customers have it', async () => {
  const dashboard = await newDashboard('one')
  const customer = await newCustomer('first')
  await special().assign(platform.tenant, dashboard.id, [customer])
  await service().saveByUser(platform.tenant, { id: dashboard.id, title: 'two' })
  await special().unassign(platform.tenant, dashboard.id, [customer.id])
  await service().deleteByUser(platform.tenant, dashboard.id)
  const heard = platform.link.messages.filter(({ originator }) => originator.id === dashboard.id)
  const first = { customerId: { entityType: 'CUSTOMER', id: customer.id }, title: 'first', public: false }
  assert.deepEqual(
    heard.map(({ type, data }) => [
      type,
      z.looseObject({ assignedCustomers: z.unknown() }).parse(JSON.parse(data)).assignedCustomers,
    ]),
    [
      ['ENTITY_CREATED', null],
      ['ENTITY_ASSIGNED', [first]],
      ['ENTITY_UPDATED', [first]],
      ['ENTITY_UNASSIGNED', []],
      ['ENTITY_DELETED', []],
    ],
  )
})

test('messages about a dashboard that too many customers have for a message leave them out', async () => {
  const dashboard = await newDashboard('one')
  const many = await Promise.all(
    Array.from({ length: 120 }, (_, number) => newCustomer(`${number} ${'c'.repeat(200)}`)),
  )
  const heard = () =>
    platform.link.messages
      .splice(0)
      .filter(({ originator }) => originator.id === dashboard.id)
      .map(({ data }) => 'assignedCustomers' in z.looseObject({}).parse(JSON.parse(data)))
  heard()
  await special().assign(platform.tenant, dashboard.id, many.slice(0, 2))
  assert.deepEqual(heard(), [true, true])
  await special().assign(platform.tenant, dashboard.id, many.slice(2))
  assert.deepEqual(new Set(heard()), new Set([false]), 'a message for each of them, each with all of them')
  await special().unassign(platform.tenant, dashboard.id, [many[0]?.id ?? ''])
  assert.deepEqual(heard(), [true])
  const others = await Promise.all(
    Array.from({ length: 120 }, (_, number) => newCustomer(`${number} ${'d'.repeat(200)}`)),
  )
  await special().assign(platform.tenant, dashboard.id, others)
  assert.deepEqual(new Set(heard()), new Set([false]))
  await special().unassign(platform.tenant, dashboard.id, [many[1]?.id ?? ''])
  await service().saveByUser(platform.tenant, { id: dashboard.id, title: 'two' })
  await service().deleteByUser(platform.tenant, dashboard.id)
  assert.deepEqual(heard(), [false, false, false])
})

test('customers are set in one transaction, and each is told', async (context) => {
  const dashboard = await newDashboard('one')
  const [first, second, third] = [await newCustomer('a'), await newCustomer('b'), await newCustomer('c')]
  await special().assign(platform.tenant, dashboard.id, [first])
  const writes = context.mock.method(platform.entities, 'write')
  const set = await special().setCustomers(platform.tenant, dashboard.id, [second, third])
  const changing = writes.mock.calls.filter(({ arguments: [steps] }) =>
    steps.some(({ sql }) => sql.includes('dashboard_customer')),
  )
  assert.equal(changing.length, 1)
  assert.deepEqual([...(await special().customerIds(set))].sort(), [second.id, third.id].sort())
  const told = platform.link.messages.filter(({ originator }) => originator.id === dashboard.id).map(({ type }) => type)
  assert.deepEqual(told.slice(2), ['ENTITY_UNASSIGNED', 'ENTITY_ASSIGNED', 'ENTITY_ASSIGNED'])
})

test('the title of a customer is its own of now, and a customer that goes leaves an empty list', async () => {
  const dashboard = await newDashboard('one')
  const customer = await newCustomer('before')
  await special().assign(platform.tenant, dashboard.id, [customer])
  await platform.services.declared.of(customers).saveByUser(platform.tenant, { id: customer.id, title: 'after' })
  const seen = async () => {
    const record = await service().find(platform.tenantId, dashboard.id)
    assert.ok(record)
    return (await service().renderOne(record))['assignedCustomers']
  }
  assert.match(JSON.stringify(await seen()), /"title":"after"/)
  await platform.services.declared.of(customers).deleteByUser(platform.tenant, customer.id)
  assert.deepEqual(await seen(), [])
})

test('a save keeps the customers, and a customer user reads only what the own customer has', async () => {
  const { access } = platform.services
  const [mine, other] = [await newDashboard('mine'), await newDashboard('other')]
  const own = await platform.services.declared.of(customers).find(platform.tenantId, platform.customer.customerId ?? '')
  assert.ok(own)
  await special().assign(platform.tenant, mine.id, [own])
  await service().saveByUser(platform.tenant, { id: mine.id, title: 'mine again' })
  await access.check(platform.customer, 'READ', { entityType: 'DASHBOARD', id: mine.id })
  await assert.rejects(access.check(platform.customer, 'READ', { entityType: 'DASHBOARD', id: other.id }), {
    status: 403,
  })
  await assert.rejects(access.check(platform.customer, 'WRITE', { entityType: 'DASHBOARD', id: mine.id }), {
    status: 403,
  })
  await access.check(platform.systemAdministrator, 'READ', { entityType: 'DASHBOARD', id: other.id })
  await assert.rejects(access.check(platform.systemAdministrator, 'WRITE', { entityType: 'DASHBOARD', id: other.id }), {
    status: 403,
  })
})

test('the mobile list leaves out what hides there, in its own order', async () => {
  for (const draft of [
    { title: 'late', mobileOrder: 9 },
    { title: 'unordered' },
    { title: 'hidden', mobileHide: true },
    { title: 'early', mobileOrder: 1 },
  ])
    await service().saveByUser(platform.tenant, draft)
  const page = (mobile: boolean) =>
    special().page({ tenantId: platform.tenantId, mobile }, { ...PAGE, sortProperty: 'title', sortOrder: 'ASC' })
  assert.deepEqual(titles(await page(true)), ['early', 'late', 'unordered'])
  assert.deepEqual(titles(await page(false)), ['early', 'hidden', 'late', 'unordered'])
})

test('the rule engine hears of a dashboard without its configuration', async () => {
  await service().saveByUser(platform.tenant, { title: 'big', configuration: { widgets: 'x'.repeat(1000) } })
  const [message] = platform.link.messages
  assert.match(message?.data ?? '', /"configuration":""/)
})
