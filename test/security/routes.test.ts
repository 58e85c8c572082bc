/**
 * Walks the route table, so that a new route cannot forget its check: every route, with nobody, with another tenant's
 * administrator, with a customer user, with a system administrator.
 */
import { customers } from '../../services/entities/customer.ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { RestRoute } from '../../api/rest/route.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

/** The only routes for everybody: a new one is added here on purpose. */
const OPEN_ROUTES = [
  'GET /',
  'GET /actuator/health',
  'GET /health',
  'GET /metrics',
  'POST /api/auth/login',
  'POST /api/auth/token',
]

/** What is everybody's own: whoever is logged in may call these, and sees or changes nothing but himself. */
const ABOUT_THE_CALLER = [
  'GET /api/auth/user',
  'POST /api/auth/logout',
  'POST /api/auth/changePassword',
  'GET /api/system/info',
]

/** Kinds a customer user may read though they are not assigned to its customer (`rest-api.md` 3.5). */
const CUSTOMERS_MAY_READ = ['GET /api/deviceProfileInfo/:deviceProfileId']

/** Calls whose body names nothing that is there already: administrators may, each in the own tenant. */
const MAKES_NEW_THINGS = ['POST /api/device-with-credentials', 'POST /api/ruleChain/device/default']

/** Queries that lists and single calls cannot do without; ids in them are the first tenant's. */
function queryOf(route: RestRoute, ids: Readonly<Record<string, string>>): string {
  return new URLSearchParams({
    // Elsewhere a name would turn the list of devices into a question for one.
    ...(route.pattern === '/api/tenant/device' ? { deviceName: 'secret device' } : {}),
    pageSize: '100',
    page: '0',
    deviceIds: ids['deviceId'] ?? '',
    customerTitle: 'secret customer',
    keys: 'k',
    path: 'link',
    serviceType: 'TB-RULE-ENGINE',
    startTs: '0',
    endTs: '10',
  }).toString()
}

/** A good body for each route that takes one: refused for who asks, not for what it says. */
function bodyOf(route: RestRoute, ids: Readonly<Record<string, string>>): unknown {
  const id = (name: string) => ({ id: ids[name] })
  const bodies: Readonly<Record<string, unknown>> = {
    '/api/auth/login': { username: 'x', password: 'x' },
    '/api/auth/token': { refreshToken: 'x' },
    '/api/auth/logout': {},
    '/api/auth/changePassword': { currentPassword: 'x', newPassword: 'yyyyyy' },
    '/api/device': { id: id('deviceId'), name: 'taken over' },
    '/api/device-with-credentials': {
      device: { name: 'own' },
      credentials: { credentialsType: 'ACCESS_TOKEN', credentialsId: 'OWN_TOKEN' },
    },
    '/api/device/credentials': {
      deviceId: id('deviceId'),
      credentialsType: 'ACCESS_TOKEN',
      credentialsId: 'taken over',
    },
    '/api/customer/:customerId/device/:deviceId': {},
    '/api/customer': { id: id('customerId'), title: 'taken over' },
    '/api/ruleChain': { id: id('ruleChainId'), name: 'taken over' },
    '/api/ruleChain/device/default': { name: 'own' },
    '/api/ruleChain/:ruleChainId/root': {},
    '/api/deadLetters/:deadLetterId/replay': {},
    '/api/parked/:parkedLaneId/retry': {},
    '/api/parked/:parkedLaneId/deadLetters': {},
    '/api/deviceProfile': { id: id('deviceProfileId'), name: 'taken over' },
    '/api/deviceProfile/:deviceProfileId/default': {},
    '/api/queues': {
      id: id('queueId'),
      name: ids['queueName'],
      pollInterval: 1,
      partitions: 1,
      packProcessingTimeout: 1,
      submitStrategy: { type: 'BURST' },
      processingStrategy: { type: 'SKIP_ALL_FAILURES' },
    },
    '/api/admin/backup': {},
    '/api/admin/workers/:poolName': { threads: 1 },
    '/api/ruleChain/metadata': { ruleChainId: id('ruleChainId'), nodes: [], connections: [] },
    '/api/plugins/telemetry/:entityType/:entityId/timeseries/:scope': { k: 1 },
    '/api/plugins/telemetry/:entityType/:entityId/timeseries/:scope/:ttl': { k: 1 },
    '/api/plugins/telemetry/:entityType/:entityId/:scope': { k: 1 },
    '/api/plugins/telemetry/:entityType/:entityId/attributes/:scope': { k: 1 },
    '/api/plugins/telemetry/:deviceId/:scope': { k: 1 },
  }
  assert.ok(route.pattern in bodies, `a body for POST ${route.pattern} is missing: add one to this test`)
  return bodies[route.pattern]
}

const nameOf = (route: RestRoute): string => `${route.method} ${route.pattern}`

describe('every route', () => {
  let world: RestWorld
  let stateAtStart: string

  before(async () => {
    world = await openRestWorld()
    stateAtStart = await stateOfFirstTenant()
  })
  after(() => world.close())

  /** Everything of the first tenant that a call could have changed. */
  async function stateOfFirstTenant(): Promise<string> {
    const { services, tenantId, timeSeries } = world.platform
    const page = { pageSize: 1000, page: 0 }
    return JSON.stringify({
      devices: await services.devices.page(tenantId, {}, page),
      credentials: await services.devices.credentials(tenantId, world.ids['deviceId'] ?? ''),
      customers: await services.declared.of(customers).page(tenantId, {}, page),
      chains: await services.ruleChains.page(tenantId, 'CORE', page),
      graph: await services.ruleChains.graph(tenantId, world.ids['ruleChainId'] ?? ''),
      attributes: await services.attributes.find(
        { entityType: 'DEVICE', id: world.ids['deviceId'] ?? '' },
        undefined,
        undefined,
      ),
      profiles: await services.deviceProfiles.page(tenantId, page),
      queues: await services.queues.all(),
      deadLetters: await services.deadLetters.list(tenantId, { limit: 10 }),
      parked: world.platform.parked.done,
      writes: timeSeries.writes.length,
      deletions: [timeSeries.ranges.length, timeSeries.deletedEntities.length],
    })
  }

  async function call(
    route: RestRoute,
    token: string | undefined,
    ids = world.ids,
  ): Promise<{ status: number; text: string }> {
    const path = route.pattern.replace(/:(\w+)/g, (_whole, name: string) => {
      if (name === 'entityType') return 'DEVICE'
      if (name === 'scope') return 'SERVER_SCOPE'
      if (name === 'ttl') return '0'
      const id = ids[name]
      assert.ok(id, `an id for :${name} is missing: add one to rest-world.ts`)
      return id
    })
    const response = await fetch(`${world.url}${path}?${queryOf(route, ids)}`, {
      method: route.method,
      headers: token === undefined ? {} : { 'x-authorization': `Bearer ${token}` },
      ...(route.method === 'POST' ? { body: JSON.stringify(bodyOf(route, ids)) } : {}),
    })
    return { status: response.status, text: await response.text() }
  }

  const closed = () => world.routes.filter((route) => route.authorities !== 'public')
  const aboutOthers = () => closed().filter((route) => !ABOUT_THE_CALLER.includes(nameOf(route)))

  test('is walked by this test and served, none beside them', () => {
    const served = world.served
      .filter(({ method }) => method !== 'ANY')
      .map(({ method, pattern }) => `${method} ${pattern}`)
    assert.deepEqual(served.toSorted(), world.routes.map(nameOf).toSorted())
    assert.ok(closed().length > 40)
    const open = world.routes.filter((route) => route.authorities === 'public').map(nameOf)
    assert.deepEqual(open.toSorted(), OPEN_ROUTES.toSorted())
  })

  test('refuses those who are not logged in, all in the same words', async () => {
    for (const route of closed()) {
      const { status, text } = await call(route, undefined)
      const { timestamp, ...body } = JSON.parse(text) as Record<string, unknown>
      assert.equal(typeof timestamp, 'number')
      assert.deepEqual(
        [status, body],
        [401, { status: 401, message: 'Authentication failed', errorCode: 10 }],
        nameOf(route),
      )
    }
  })

  test('shows and does nothing of a tenant to the administrator of another', async () => {
    const secrets = Object.values(world.ids)
    for (const route of aboutOthers()) {
      const { status, text } = await call(route, world.otherTenant)
      if (namesAnEntity(route) || !route.authorities.includes('TENANT_ADMIN'))
        assert.ok([403, 404].includes(status), `${nameOf(route)} answered ${status}: ${text}`)
      else assert.equal(status, 200, `${nameOf(route)}: ${text}`)
      if (status === 200)
        for (const secret of secrets) assert.ok(!text.includes(secret), `${nameOf(route)} shows ${secret}`)
      assert.ok(status < 500, nameOf(route))
    }
    assert.equal(await stateOfFirstTenant(), stateAtStart)
  })

  test("refuses a customer user what is not its customer's", async () => {
    for (const route of aboutOthers()) {
      const { status, text } = await call(route, world.customer)
      if (!route.authorities.includes('CUSTOMER_USER') || MAKES_NEW_THINGS.includes(nameOf(route)))
        assert.equal(status, 403, nameOf(route))
      else if (CUSTOMERS_MAY_READ.includes(nameOf(route))) assert.equal(status, 200, nameOf(route))
      else if (namesAnEntity(route))
        assert.ok([403, 404].includes(status), `${nameOf(route)} answered ${status}: ${text}`)
      else assert.ok(status === 200 && !text.includes(world.ids['deviceId'] ?? ''), `${nameOf(route)}: ${text}`)
    }
    assert.equal(await stateOfFirstTenant(), stateAtStart)
  })

  test('refuses a system administrator what belongs to tenants', async () => {
    for (const route of aboutOthers()) {
      const { status, text } = await call(route, world.systemAdministrator)
      if (!route.authorities.includes('SYS_ADMIN')) assert.equal(status, 403, nameOf(route))
      else if (route.pattern.includes('/telemetry/'))
        assert.equal(status, 403, `${nameOf(route)} answered ${status}: ${text}`)
    }
    assert.equal(await stateOfFirstTenant(), stateAtStart)
  })

  test('lets a tenant administrator do all of that, so that the refusals above were for who asked', async () => {
    for (const route of aboutOthers().filter(({ method }) => method === 'GET')) {
      if (!route.authorities.includes('TENANT_ADMIN')) continue
      const { status, text } = await call(route, world.tenant)
      assert.equal(status, 200, `${nameOf(route)}: ${text}`)
    }
  })

  test('takes no tenant, customer or id from a body', async () => {
    const body = {
      name: 'mine',
      tenantId: { id: world.otherTenantId },
      customerId: { id: world.ids['customerId'] },
      createdTime: 5,
      version: null,
    }
    const response = await fetch(`${world.url}/api/device`, {
      method: 'POST',
      headers: { 'x-authorization': `Bearer ${world.tenant}` },
      body: JSON.stringify(body),
    })
    const device = (await response.json()) as {
      tenantId: { id: string }
      customerId: { id: string }
      createdTime: number
    }
    assert.equal(response.status, 200)
    assert.equal(device.tenantId.id, world.platform.tenantId)
    assert.equal(device.customerId.id, '13814000-1dd2-11b2-8080-808080808080')
    assert.notEqual(device.createdTime, 5)
  })

  test('takes no tenant and no id from a body of a queue or a profile', async () => {
    const post = async (path: string, body: object) => {
      const response = await fetch(`${world.url}${path}`, {
        method: 'POST',
        headers: { 'x-authorization': `Bearer ${world.tenant}` },
        body: JSON.stringify({ ...body, tenantId: { id: world.otherTenantId }, createdTime: 5 }),
      })
      assert.equal(response.status, 200, path)
      const made = (await response.json()) as { tenantId: { id: string }; createdTime: number }
      assert.equal(made.tenantId.id, world.platform.tenantId, path)
      assert.notEqual(made.createdTime, 5, path)
    }
    await post('/api/queues?serviceType=TB-RULE-ENGINE', {
      name: 'mine',
      pollInterval: 1,
      partitions: 1,
      packProcessingTimeout: 1,
      submitStrategy: { type: 'BURST' },
      processingStrategy: { type: 'RETRY_ALL', retries: 0 },
    })
    await post('/api/deviceProfile', { name: 'mine', transportType: 'DEFAULT' })
  })
})

/** Whether a call of it is about one thing, by path or body; the others are lists and new things of the caller's own. */
function namesAnEntity(route: RestRoute): boolean {
  if (/:(\w+Id|queueName)\b/.test(route.pattern)) return true
  if (route.method === 'GET') return route.pattern === '/api/tenant/customers' || route.pattern === '/api/tenant/device'
  return !MAKES_NEW_THINGS.includes(nameOf(route))
}
