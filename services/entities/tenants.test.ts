/** Tenants: what a new one has, how one goes, and how many things its profile lets it have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import { assetProfiles } from './asset-profile.ts'
import { assets } from './asset.ts'
import { customers } from './customer.ts'
import { deviceProfiles } from './device-profile.ts'
import { devices } from './device.ts'
import { parseRates } from '../../model/rates.ts'
import { DEFAULT_LIMITS, type TenantLimits } from './tenant-limits.ts'
import { tenantProfiles } from './tenant-profile.ts'
import type { Tenant } from './tenant.ts'

const PAGE = { pageSize: 100, page: 0 }

await onBothDatabases('', testAll)

/** Its administrator, without a row of his own. */
function administratorOf(platform: TestPlatform, tenant: Tenant): Principal {
  return { ...platform.tenant, tenantId: tenant.id }
}

async function tenantWith(platform: TestPlatform, limits: Partial<TenantLimits>): Promise<Principal> {
  const { services, systemAdministrator } = platform
  const profile = await services.declared.of(tenantProfiles).saveByUser(systemAdministrator, {
    name: 'limited',
    profileData: { limits: { ...DEFAULT_LIMITS, ...limits } },
  })
  const tenant = await services.tenants.saveByUser(systemAdministrator, {
    title: 'limited',
    tenantProfileId: profile.id,
  })
  return administratorOf(platform, tenant)
}

function testAll(open: () => Promise<TestPlatform>): void {
  const withPlatform = async (run: (platform: TestPlatform) => Promise<void>): Promise<void> => {
    const platform = await open()
    try {
      await run(platform)
    } finally {
      await platform.close()
    }
  }

  test('a new tenant has its profiles and a root chain that the engine hears of, and a chain for edges', () =>
    withPlatform(async ({ services, entities, systemAdministrator, changes }) => {
      const tenant = await services.tenants.saveByUser(systemAdministrator, { title: 'New' })
      assert.equal((await services.declared.of(deviceProfiles).findBy(tenant.id, { default: true }))?.name, 'default')
      const assetProfile = await services.declared.of(assetProfiles).findBy(tenant.id, { default: true })
      assert.equal(assetProfile?.description, 'Default asset profile')
      const root = await services.ruleChains.root(tenant.id)
      assert.ok(root !== undefined && root.firstRuleNodeId !== null)
      assert.equal((await services.ruleChains.page(tenant.id, 'CORE', PAGE)).totalElements, 1)
      assert.equal((await entities.ruleChains.root(tenant.id, 'EDGE'))?.name, 'Edge Root Rule Chain')
      assert.ok(
        changes.some(
          ({ kind, ...rest }) => kind === 'rule-chain-changed' && 'entity' in rest && rest.entity.id === root.id,
        ),
      )
      assert.notEqual(tenant.tenantProfileId, null)
    }))

  test('a tenant goes with all that it owns, and nothing of another tenant', () =>
    withPlatform(async (platform) => {
      const { services, entities, systemAdministrator, changes, timeSeries } = platform
      const tenant = await services.tenants.saveByUser(systemAdministrator, { title: 'Going' })
      const administrator = administratorOf(platform, tenant)
      const customer = await services.declared.of(customers).saveByUser(administrator, { title: 'C' })
      const asset = await services.declared.of(assets).saveByUser(administrator, { name: 'A', customerId: customer.id })
      const device = await services.devices.saveByUser(administrator, { name: 'D' })
      await services.declared.of(devices).assignByUser(administrator, device.id, customer)
      const kept = await services.devices.saveByUser(platform.tenant, { name: 'kept' })
      await services.tenants.deleteByUser(systemAdministrator, tenant.id)

      assert.equal(await services.tenants.find(tenant.id), undefined)
      assert.equal(await services.declared.of(assets).findAnywhere(asset.id), undefined)
      assert.equal(await services.declared.of(devices).findAnywhere(device.id), undefined)
      assert.equal(await entities.ruleChains.root(tenant.id, 'CORE'), undefined)
      assert.notEqual(await services.declared.of(devices).findAnywhere(kept.id), undefined)
      const gone = changes.flatMap((change) => (change.kind === 'entity-deleted' ? [change.entity.id] : []))
      for (const id of [tenant.id, device.id, asset.id, customer.id]) assert.ok(gone.includes(id))
      // Series go in the background, from notes that outlive a stop.
      const noted = new Set([...timeSeries.deletedEntities, ...(await entities.cleanups.pending())])
      for (const id of [tenant.id, device.id, asset.id]) assert.ok(noted.has(id))
    }))

  test('of what a profile limits there is not one more, however many ask at once', () =>
    withPlatform(async (platform) => {
      const { services } = platform
      const administrator = await tenantWith(platform, { maxAssets: 2, maxDevices: 1, maxRuleChains: 2 })
      const saves = ['a', 'b', 'c', 'd'].map((name) => services.declared.of(assets).saveByUser(administrator, { name }))
      const results = await Promise.allSettled(saves)
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 2)
      const refused = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []))
      for (const reason of refused) {
        assert.ok(isMillraceError(reason))
        assert.equal(reason.message, 'Assets limit reached')
        assert.deepEqual(
          reason.shown.map((name) => reason.fields[name]),
          ['ASSET', 2],
        )
      }
      await services.devices.saveByUser(administrator, { name: 'one' })
      await assert.rejects(services.devices.saveByUser(administrator, { name: 'two' }), {
        message: 'Devices limit reached',
      })
      // The root chain and the one for edges count.
      await assert.rejects(services.ruleChains.saveByUser(administrator, { name: 'third' }), {
        message: 'Rule chains limit reached',
      })
      await services.devices.saveByUser(platform.tenant, { name: 'of another tenant' })
    }))

  test('one profile is the default; it and those in use stay', () =>
    withPlatform(async (platform) => {
      const { services, systemAdministrator } = platform
      await tenantWith(platform, {})
      const profiles = services.declared.of(tenantProfiles)
      const used = (await profiles.page('13814000-1dd2-11b2-8080-808080808080', {}, { ...PAGE, textSearch: 'limited' }))
        .data[0]
      assert.ok(used !== undefined)
      await assert.rejects(profiles.deleteByUser(systemAdministrator, used.record.id), {
        message: 'The tenant profile referenced by the tenants cannot be deleted!',
      })
      const made = await profiles.saveByUser(systemAdministrator, { name: 'next' })
      await assert.rejects(profiles.saveByUser(systemAdministrator, { name: 'other', default: true }), { status: 400 })
      assert.ok((await services.tenants.setDefaultProfileByUser(systemAdministrator, made.id)).default)
      await assert.rejects(profiles.deleteByUser(systemAdministrator, made.id), { message: /Default Tenant Profile/ })
      const tenant = await services.tenants.saveByUser(systemAdministrator, { title: 'names none' })
      assert.equal(tenant.tenantProfileId, made.id)
    }))
}

test('rate limits are pairs of a number and seconds', () => {
  assert.deepEqual(parseRates('100:1,2000:60'), [
    { capacity: 100, seconds: 1 },
    { capacity: 2000, seconds: 60 },
  ])
  assert.deepEqual(parseRates(''), [])
  for (const bad of ['1', '1:', ':1', '0:1', '1:0', '-1:1', '1:1;2:2', '1.5:1'])
    assert.equal(parseRates(bad), undefined, bad)
})
