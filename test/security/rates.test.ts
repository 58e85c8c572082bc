/** Calls beyond what the tenant's profile allows: 429 with the reference's body, for that tenant or customer alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../services/entities/tenant-limits.ts'
import { tenantProfiles } from '../../services/entities/tenant-profile.ts'
import { openRestWorld } from './rest-world.ts'

const NAMES = 'values/timeseries?keys=a'

test('a tenant and a customer over their limits are refused until there is room, others are not', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const { platform, ids } = world
  const { services, systemAdministrator, clock, tenantId } = platform
  const call = async (token: string, path = '/api/auth/user') => {
    const response = await fetch(`${world.url}${path}`, { headers: { 'x-authorization': `Bearer ${token}` } })
    return { status: response.status, text: await response.text() }
  }
  assert.equal((await call(world.tenant)).status, 200)
  const profile = await services.declared.of(tenantProfiles).saveByUser(systemAdministrator, {
    name: 'limited',
    profileData: {
      limits: {
        ...DEFAULT_LIMITS,
        tenantServerRestLimitsConfiguration: '6:1,100:60',
        customerServerRestLimitsConfiguration: '2:1',
      },
    },
  })
  const tenant = await services.tenants.find(tenantId)
  assert.ok(tenant !== undefined)
  await services.tenants.saveByUser(systemAdministrator, { ...tenant, tenantProfileId: profile.id })

  const statuses = async (token: string, count: number) => {
    const answers = []
    for (let index = 0; index < count; index++) answers.push((await call(token)).status)
    return answers
  }
  assert.deepEqual(await statuses(world.customer, 3), [200, 200, 429])
  assert.deepEqual(await statuses(world.tenant, 4), [200, 200, 200, 429], 'calls of its customers count too')
  const refused = await call(world.tenant)
  assert.deepEqual(
    { ...(JSON.parse(refused.text) as object), timestamp: 0 },
    { status: 429, message: 'Too many requests for current tenant!', errorCode: 33, timestamp: 0 },
  )
  const telemetry = await call(world.tenant, `/api/plugins/telemetry/DEVICE/${ids['deviceId'] ?? ''}/${NAMES}`)
  assert.equal((JSON.parse(telemetry.text) as { errorCode: number }).errorCode, 33, 'telemetry calls too')
  assert.deepEqual(
    await statuses(world.otherTenant, 10),
    Array.from({ length: 10 }, () => 200),
  )
  assert.equal((await call(world.systemAdministrator)).status, 200)
  clock.time += 1_000
  assert.deepEqual(await statuses(world.tenant, 7), [200, 200, 200, 200, 200, 200, 429])
})
