/**
 * Walks the route table, so that a new route cannot forget its check: every route, with nobody, with another tenant's
 * administrator, with a customer user, with a public visitor, with a system administrator. The device is a sibling customer's.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { DeclaredRoute, Target } from '../../api/rest/declared/route.ts'
import { DECLARED } from '../../services/entities/declared.ts'
import { bodyOfDeclared, callsOf, declaredQuery, pathOf, type Walked } from './calls.ts'
import { UNDECLARED_REASONS, type RestRoute } from '../../api/rest/rows.ts'
import { devices } from '../../services/entities/device.ts'
import { publicCustomer } from '../../services/entities/public-customer.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

/** The only routes for everybody: a new one is added here on purpose. */
const OPEN_ROUTES = [
  'GET /',
  'GET /actuator/health',
  'GET /health',
  'GET /metrics',
  'GET /api/noauth/activate',
  'POST /api/noauth/activate',
  'GET /api/noauth/mobile',
  'POST /api/noauth/resetPasswordByEmail',
  'GET /api/noauth/resetPassword',
  'POST /api/noauth/resetPassword',
  'GET /api/noauth/userPasswordPolicy',
  'GET /login/createPassword',
  'GET /login/resetPassword',
  'GET /activationLinkExpired',
  'GET /passwordResetLinkExpired',
  'GET /login/password.js',
  'GET /login',
  'GET /login/resetPasswordRequest',
  'GET /dashboards',
  'GET /dashboards/:id',
  'GET /dashboard/:id',
  'GET /devices',
  'GET /devices/:id',
  'GET /assets',
  'GET /assets/:id',
  'GET /packages',
  'GET /integrations',
  'GET /integrations/:id',
  'GET /failures',
  'GET /workers',
  'GET /tenantProfiles',
  'GET /tenantProfiles/:id',
  'GET /profiles',
  'GET /profiles/:id',
  'GET /assetProfiles',
  'GET /assetProfiles/:id',
  'GET /calculatedFields',
  'GET /calculatedFields/:id',
  'GET /entityViews',
  'GET /entityViews/:id',
  'GET /queues',
  'GET /queues/:id',
  'GET /usage',
  'GET /alarms',
  'GET /ruleChains',
  'GET /ruleChains/:id',
  'GET /tenants',
  'GET /tenants/:id',
  'GET /customers',
  'GET /customers/:id',
  'GET /users',
  'GET /users/:id',
  'GET /audit',
  'GET /settings',
  'GET /settings/outgoing-mail',
  'GET /account',
  'GET /console/:file',
  'GET /console/calculated-fields/:file',
  'GET /console/rule-chains/:file',
  'GET /api/admin/mail/oauth2/code',
  'GET /api/images/public/:publicResourceKey',
  'POST /api/noauth/oauth2Clients',
  'POST /api/auth/login',
  'GET /api/auth/2fa/providers',
  'POST /api/auth/2fa/verification/send',
  'POST /api/auth/2fa/login',
  'POST /api/auth/2fa/verification/check',
  'POST /api/auth/login/public',
  'POST /api/auth/token',
  'GET /v3/api-docs',
  'GET /v3/api-docs/:group',
  'GET /api/device-connectivity/:protocol/certificate/download',
  'GET /swagger-ui',
  'GET /swagger-ui.html',
  'GET /swagger-ui/',
  'GET /swagger-ui/:file',
]

const nameOfRow = ({ method, pattern }: RestRoute): string => `${method} ${pattern}`

const nameOf = ({ route, declared }: Walked): string =>
  `${nameOfRow(route)}${declared.onlyWith === undefined ? '' : `?${declared.onlyWith.join('&')}`}`

function mayEveryCustomerRead({ declared }: Walked): boolean {
  const targets = Object.values(declared.targets)
  if (targets.length === 0) return isQueryForAllOfTenant(declared)
  return targets.every((target) => 'entity' in target && isForAllOfTenant(target))
}

/** Its query names one thing, of a kind that the parameter says: `widgetsBundleId`. */
function isQueryForAllOfTenant({ query }: DeclaredRoute): boolean {
  const names = Object.keys(query).filter((name) => name.endsWith('Id'))
  const types = names.map((name) =>
    name
      .replace(/Id$/, '')
      .replace(/[A-Z]/g, (letter) => `_${letter}`)
      .toUpperCase(),
  )
  return (
    types.length > 0 &&
    types.every((name) => DECLARED.some(({ type, isSharedInTenant }) => type === name && isSharedInTenant === true))
  )
}

function isForAllOfTenant({ entity, operation }: Target): boolean {
  const definition = DECLARED.find(({ type }) => type === entity.type)
  return operation === 'READ' && definition?.isSharedInTenant === true
}

/** Of a type of which customers' users see some: pictures, and no key stores. */
function maySomeBeRead({ declared }: Walked): boolean {
  const targets = Object.values(declared.targets)
  return (
    targets.length > 0 &&
    targets.every((target) => {
      if (!('entity' in target) || target.operation !== 'READ') return false
      return DECLARED.find(({ type }) => type === target.entity.type)?.isOpenInTenant !== undefined
    })
  )
}

/** Tenants are the system administrator's to change: one that is deleted takes the world of this walk with it. */
function isSystemAdministratorsOwn({ route, declared }: Walked): boolean {
  const targets = Object.values(declared.targets)
  const types = targets.flatMap((target) => ('entity' in target ? [target.entity.type] : []))
  return route.method !== 'GET' && types.some((type) => type === 'TENANT' || type === 'TENANT_PROFILE')
}

/** What is not about a thing of the first tenant: done, or nothing found by a name. */
function mayAnswer(status: number): boolean {
  return status === 200 || status === 404 || status === 400
}

describe('every route', () => {
  let world: RestWorld
  let visitor: string
  let stateAtStart: string

  before(async () => {
    world = await openRestWorld()
    const { feed, services, tenant, tenantId } = world.platform
    const sibling = { id: world.ids['customerId'] ?? '', title: 'secret customer' }
    await services.declared.of(devices).assignByUser(tenant, world.ids['deviceId'] ?? '', sibling)
    visitor = await world.publicToken((await publicCustomer(services.declared, tenant)).id)
    // What the tenant may use is said once its limits were looked at.
    feed.publish({ kind: 'settings-changed', entity: { entityType: 'TENANT', id: tenantId } })
    await services.usage.flush()
    stateAtStart = await stateOfFirstTenant()
  })
  after(() => world.close())

  /** Everything of the first tenant that a call could have changed. */
  async function stateOfFirstTenant(): Promise<string> {
    const { services, tenantId, timeSeries } = world.platform
    const page = { pageSize: 1000, page: 0 }
    return JSON.stringify({
      credentials: await services.devices.credentials(tenantId, world.ids['deviceId'] ?? ''),
      declared: await declaredState(),
      chains: await services.ruleChains.page(tenantId, 'CORE', page),
      graph: await services.ruleChains.graph(tenantId, world.ids['ruleChainId'] ?? ''),
      attributes: await services.attributes.find(
        { entityType: 'DEVICE', id: world.ids['deviceId'] ?? '' },
        undefined,
        undefined,
      ),
      queues: await services.queues.all(),
      deadLetters: await services.deadLetters.list(tenantId, { limit: 10 }),
      parked: world.platform.parked.done,
      writes: timeSeries.writes.length,
      deletions: [timeSeries.ranges.length, timeSeries.deletedEntities.length],
    })
  }

  async function declaredState() {
    const { services, tenantId } = world.platform
    const page = { pageSize: 1000, page: 0 }
    const pages = services.declared.all().map((service) => service.page(tenantId, {}, page))
    return (await Promise.all(pages)).map(({ data }) => data)
  }

  async function call(
    { route, declared }: Walked,
    token: string | undefined,
    ids = world.ids,
  ): Promise<{ status: number; text: string }> {
    const path = pathOf({ route, declared }, ids)
    const response = await fetch(`${world.url}${path}?${declaredQuery(declared, ids)}`, {
      method: route.method,
      headers: token === undefined ? {} : { 'x-authorization': `Bearer ${token}` },
      ...bodyOfDeclared(declared, ids),
    })
    return { status: response.status, text: await response.text() }
  }

  const closed = () => world.routes.flatMap(callsOf)
  const aboutOthers = () => closed().filter(({ declared }) => declared.isAboutTheCaller !== true)
  const namesAnEntity = ({ declared }: Walked) => declared.namesEntity(world.ids)

  test('is walked by this test and served, none beside them', () => {
    const served = world.served
      .filter(({ method }) => method !== 'ANY')
      .map(({ method, pattern }) => `${method} ${pattern}`)
    assert.deepEqual(served.toSorted(), world.routes.map(nameOfRow).toSorted())
    assert.ok(closed().length > 400)
    const open = world.routes.filter((route) => route.authorities === 'public').map(nameOfRow)
    assert.deepEqual(open.toSorted(), OPEN_ROUTES.toSorted())
  })

  test('of the API is declared: what is not is a page, or the description', () => {
    const undeclared = world.routes.flatMap((route) => ('undeclared' in route ? [route] : []))
    const reasons = new Set(undeclared.map((route) => route.undeclared))
    assert.deepEqual([...reasons].toSorted(), Object.keys(UNDECLARED_REASONS).toSorted())
    const inApi = undeclared.filter(({ method, pattern }) => method !== 'GET' || pattern.startsWith('/api/'))
    assert.deepEqual(inApi.map(nameOfRow), [])
  })

  test('refuses those who are not logged in, all in the same words', async () => {
    for (const walked of closed()) {
      const { status, text } = await call(walked, undefined)
      const { timestamp, ...body } = JSON.parse(text) as Record<string, unknown>
      assert.equal(typeof timestamp, 'number')
      assert.deepEqual(
        [status, body],
        [401, { status: 401, message: 'Authentication failed', errorCode: 10 }],
        nameOf(walked),
      )
    }
  })

  test('shows and does nothing of a tenant to the administrator of another', async () => {
    const secrets = Object.values(world.ids)
    for (const walked of aboutOthers()) {
      const { status, text } = await call(walked, world.otherTenant)
      if (namesAnEntity(walked) || !walked.declared.authorities.includes('TENANT_ADMIN'))
        assert.ok([403, 404].includes(status), `${nameOf(walked)} answered ${status}: ${text}`)
      else assert.ok(mayAnswer(status), `${nameOf(walked)} answered ${status}: ${text}`)
      if (status === 200)
        for (const secret of secrets) assert.ok(!text.includes(secret), `${nameOf(walked)} shows ${secret}`)
      assert.ok(status < 500, nameOf(walked))
    }
    assert.equal(await stateOfFirstTenant(), stateAtStart)
  })

  test("refuses a customer user what is not its customer's", () => assertOnlyOwnOfCustomer(world.customer))

  test('refuses a public visitor what is not public', () => assertOnlyOwnOfCustomer(visitor))

  async function assertOnlyOwnOfCustomer(token: string): Promise<void> {
    const siblings = ['deviceId', 'customerId', 'assetId'].map((name) => world.ids[name] ?? '')
    for (const walked of aboutOthers()) {
      const { status, text } = await call(walked, token)
      if (!walked.declared.authorities.includes('CUSTOMER_USER')) assert.equal(status, 403, nameOf(walked))
      else if (mayEveryCustomerRead(walked)) assert.equal(status, 200, nameOf(walked))
      else if (maySomeBeRead(walked)) assert.ok([200, 403].includes(status), nameOf(walked))
      else if (namesAnEntity(walked))
        assert.ok([403, 404].includes(status), `${nameOf(walked)} answered ${status}: ${text}`)
      else {
        assert.ok(mayAnswer(status) || status === 403, `${nameOf(walked)} answered ${status}: ${text}`)
        for (const id of siblings) assert.ok(!text.includes(id) || status >= 400, `${nameOf(walked)}: ${text}`)
      }
    }
    assert.equal(await stateOfFirstTenant(), stateAtStart)
  }

  test('refuses a system administrator what belongs to tenants', async () => {
    for (const walked of aboutOthers()) {
      if (isSystemAdministratorsOwn(walked)) continue
      const { status, text } = await call(walked, world.systemAdministrator)
      if (!walked.declared.authorities.includes('SYS_ADMIN')) assert.equal(status, 403, nameOf(walked))
      else if (walked.route.pattern.includes('/telemetry/'))
        assert.equal(status, 403, `${nameOf(walked)} answered ${status}: ${text}`)
    }
    assert.equal(await stateOfFirstTenant(), stateAtStart)
  })

  test('lets a tenant administrator do all of that, so that the refusals above were for who asked', async () => {
    for (const walked of aboutOthers().filter(({ route }) => route.method === 'GET')) {
      if (!walked.declared.authorities.includes('TENANT_ADMIN')) continue
      const { status, text } = await call(walked, world.tenant)
      assert.ok(mayAnswer(status), `${nameOf(walked)} answered ${status}: ${text}`)
    }
  })

  test('takes no tenant and no time from a body', async () => {
    const body = {
      name: 'mine',
      tenantId: { id: world.otherTenantId },
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
      createdTime: number
    }
    assert.equal(response.status, 200)
    assert.equal(device.tenantId.id, world.platform.tenantId)
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
    await post('/api/deviceProfile', { name: 'mine', type: 'DEFAULT', transportType: 'DEFAULT' })
  })
})
