/**
 * The REST API over real sockets and a real entity store, with two tenants that know nothing of each other: for tests that
 * walk the route table.
 */
import { serveRest } from './rest-server.ts'
import { THINGS } from './things/index.ts'
import { restRoutes } from '../../api/rest/rest-routes.ts'
import type { RestRoute } from '../../api/rest/rows.ts'
import type { Principal } from '../../model/principal.ts'
import type { AccessControl } from '../../services/access/access-control.ts'
import type { Authority, User } from '../../model/entities.ts'
import type { Route } from '../../server/http-server.ts'
import { deviceProfiles, insertionOfProfile, newDeviceProfile } from '../../services/entities/device-profile.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { hashPassword } from '../../services/users/secrets.ts'
import { createJavaScriptWorkers, type JavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import { createScriptHost } from '../../engine/script/host.ts'
import { systemClock } from '../../model/system-clock.ts'
import { insertTenant, openTestPlatform, principalFrom, testRandom, type TestPlatform } from '../../services/testkit.ts'
import { letterOf } from '../../services/failed-messages.testkit.ts'

export interface RestWorld {
  readonly url: string
  readonly routes: readonly RestRoute[]
  /** All that the server serves, with the answers to unknown paths and methods. */
  readonly served: readonly Route[]
  readonly platform: TestPlatform
  /** Access tokens. */
  readonly tenant: string
  readonly customer: string
  readonly systemAdministrator: string
  readonly otherTenant: string
  /** Ids of what the first tenant has, by the names that routes give their parameters. */
  readonly ids: Readonly<Record<string, string>>
  readonly otherTenantId: string
  /** Starts no thread until a script is compiled. */
  readonly javaScript: JavaScriptWorkers
  /** The administrator of the other tenant. */
  readonly otherPrincipal: Principal
  /** The same routes with another control of access. */
  routesWith(access: AccessControl): readonly RestRoute[]
  /** Of whoever has the link of a public customer. */
  publicToken(customerId: string): Promise<string>
  close(): Promise<void>
}

const OTHER_LOGIN = { email: 'other@millrace.local', password: 'other-password' }

export async function openRestWorld(platformOptions: Parameters<typeof openTestPlatform>[0] = {}): Promise<RestWorld> {
  const javaScript = createJavaScriptWorkers({
    clock: systemClock,
    threads: 1,
    memoryLimitMb: 16,
    timeoutMs: 500,
    queueBound: 1000,
  })
  const scripts = createScriptHost({
    clock: systemClock,
    random: testRandom,
    javaScript: (source) => javaScript.compile(source),
  })
  const platform = await openTestPlatform({ scripts, ...platformOptions })
  const { services } = platform
  const otherTenantId = await addOtherTenant(platform)
  const rest = await serveRest(platform, javaScript)
  const { auth, options, routes, server, url, failures } = rest
  const tokenOf = async ({ email, password }: { readonly email: string; readonly password: string }) =>
    (await auth.login(email, password, '127.0.0.1')).token
  const otherTenant = await tokenOf(OTHER_LOGIN)
  return {
    url,
    routes,
    served: server.routes,
    platform,
    tenant: await tokenOf(DEMO_LOGINS.tenantAdministrator),
    customer: await tokenOf(DEMO_LOGINS.customerUser),
    systemAdministrator: await tokenOf(DEMO_LOGINS.systemAdministrator),
    otherTenant,
    ids: await makeThings(platform),
    otherTenantId,
    javaScript,
    otherPrincipal: await auth.authenticate(otherTenant),
    routesWith: (access) => restRoutes({ ...options, services: { ...services, access } }),
    publicToken: async (customerId) => (await auth.loginPublic(customerId)).token,
    async close() {
      await rest.close()
      await javaScript.close()
      await platform.close()
      if (failures.length > 0)
        throw new Error(`the API failed: ${failures.map((failure) => JSON.stringify(failure)).join('\n')}`)
    },
  }
}

/** What the first tenant owns and its customer user has no part in. */
async function makeThings(platform: TestPlatform): Promise<Record<string, string>> {
  const { services, tenant, tenantId, deadLetters, parked } = platform
  const ids: Record<string, string> = {}
  for (const make of THINGS) Object.assign(ids, await make(platform, ids))
  const device = await services.devices.saveByUser(tenant, { name: 'secret device' })
  const ruleChain = await services.ruleChains.saveByUser(tenant, { name: 'secret chain' })
  const nothing = { ruleChainId: ruleChain.id, firstNodeIndex: null, nodes: [], connections: [] }
  await services.ruleChains.saveGraphByUser(tenant, nothing)
  const [version] = await services.ruleChains.versions.of(ruleChain.id)
  const profile = await services.declared.of(deviceProfiles).findBy(tenantId, { default: true })
  const queue = await services.queues.saveByUser(tenant, {
    name: 'secret-queue',
    pollInterval: 25,
    partitions: 1,
    packProcessingTimeout: 2000,
    submitStrategy: { type: 'BURST', batchSize: 1 },
    processingStrategy: {
      type: 'SKIP_ALL_FAILURES',
      retries: 0,
      failurePercentage: 0,
      pauseBetweenRetries: 0,
      maxPauseBetweenRetries: 0,
    },
  })
  deadLetters.letters.push(letterOf(770_770_770_770, tenantId))
  parked.lanes.push({
    id: 'secret-parked-lane',
    tenantId,
    queueName: queue.name,
    originatorType: 'DEVICE',
    originatorId: device.id,
    messages: 3,
    bytes: 900,
    why: 'it failed',
    sinceMs: 1,
    tries: 3,
    nextTryMs: 2,
    state: 'waiting',
  })
  return {
    ...ids,
    deviceId: device.id,
    entityId: device.id,
    ruleChainId: ruleChain.id,
    versionId: version?.id ?? '',
    deviceProfileId: profile?.id ?? '',
    queueId: queue.id,
    queueName: queue.name,
    tenantId,
    deadLetterId: '770770770770',
    parkedLaneId: 'secret-parked-lane',
    poolName: 'javascript',
    backupId: 'no backup',
  }
}

async function addOtherTenant({ entities, clock, services }: TestPlatform): Promise<string> {
  const record = () => ({ id: testRandom.uuid(), createdTime: clock.now(), version: 1 })
  const tenant = { ...record(), title: 'Other' }
  const authority: Authority = 'TENANT_ADMIN'
  const user: User = {
    ...record(),
    tenantId: tenant.id,
    customerId: null,
    email: OTHER_LOGIN.email,
    authority,
    firstName: null,
    lastName: null,
    phone: null,
    additionalInfo: null,
  }
  await entities.write([
    insertTenant(entities, tenant.id, tenant.title),
    insertionOfProfile(
      entities,
      newDeviceProfile({ ...record(), tenantId: tenant.id, name: 'default', default: true }),
    ),
    ...entities.users.insert(user, { passwordHash: await hashPassword(OTHER_LOGIN.password), tokensValidFrom: 0 }),
  ])
  await services.devices.saveByUser(principalFrom(user), { name: 'their device' })
  return tenant.id
}
