/** What an import may not touch: rows and names of other tenants, whatever its file says. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { otaPackages } from '../entities/ota-package.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const FOREIGN = { code: 'tenant-transfer.FOREIGN' }

describe('an import', () => {
  let platform: TestPlatform
  let otherId: string
  before(async () => {
    platform = await openTestPlatform()
    otherId = (await platform.services.tenants.saveByUser(platform.systemAdministrator, { title: 'Other' })).id
  })
  after(() => platform.close())

  /** As the first tenant has them. */
  async function rowsOf(table: string): Promise<readonly string[]> {
    return (await platform.services.tenantTransfer.page(platform.tenantId, table, undefined)).rows
  }

  /** Into the other tenant. */
  function bringIn(table: string, ...rows: readonly string[]) {
    return platform.services.tenantTransfer.apply(platform.systemAdministrator, otherId, table, rows)
  }

  test('takes no row from another tenant: neither an entity nor what is told of one', async () => {
    const { services, tenantId } = platform
    const [device] = await services.declared.of(devices).findAllBy(tenantId, {})
    assert.ok(device)
    for (const table of ['device_profile', 'device', 'device_credentials', 'rule_chain', 'app_user']) {
      const rows = await rowsOf(table)
      assert.ok(rows.length > 0, table)
      await assert.rejects(bringIn(table, ...rows), FOREIGN, table)
      await assert.rejects(services.tenantTransfer.plan(otherId, table, rows), FOREIGN, `the plan of ${table} says so`)
      assert.deepEqual(await rowsOf(table), rows)
    }
    assert.deepEqual(await services.declared.of(devices).find(tenantId, device.id), device)
  })

  test("names nothing of another tenant's, whether the database holds the reference or not", async () => {
    const { tenantId, tenant, services } = platform
    const [device] = await services.declared.of(devices).findAllBy(tenantId, {})
    assert.ok(device)
    const id = '5b1c9a10-0000-4000-8000-000000000001'
    const base = { id, created_time: 1, version: 1 }
    const ends = { from_type: 'TENANT', to_type: 'DEVICE', type_group: 'COMMON', type: 'Contains' }
    const made = await services.declared.of(otaPackages).saveByUser(tenant, {
      ...{ type: 'FIRMWARE', title: 'theirs', packageVersion: '1' },
    })
    const rows: readonly (readonly [string, object])[] = [
      ['content_piece', { ...base, owner_id: made.id, position: 9999, data: '' }],
      ['content_piece', { ...base, owner_id: `${made.id}/preview`, position: 0, data: '' }],
      ['content_piece', { ...base, owner_id: id, position: 0, data: '' }],
      ['relation', { ...base, ...ends, from_id: otherId, to_id: device.id, additional_info: 'null' }],
      ['relation', { ...base, ...ends, from_id: device.id, to_id: otherId, additional_info: 'null' }],
      ['alarm', { ...base, assignee_id: tenant.userId }],
      ['alarm', { ...base, originator_id: device.id }],
      ['calculated_field', { ...base, entity: `DEVICE/${device.id}` }],
      ['device', { ...base, firmware_id: made.id, device_profile_id: await profileOf(otherId) }],
    ]
    const update = { ...base, owner_type: 'DEVICE', owner_id: device.id, kind: 'FIRMWARE', told: '' }
    await assert.rejects(bringIn('ota_update', JSON.stringify(update)), { code: 'tenant-transfer.TABLE' })
    for (const [table, row] of rows)
      await assert.rejects(bringIn(table, JSON.stringify(row)), FOREIGN, `${table} ${JSON.stringify(row)}`)
    const own = { ...base, ...ends, from_id: otherId, to_id: await profileOf(otherId), additional_info: 'null' }
    assert.equal((await bringIn('relation', JSON.stringify(own))).created, 1)
  })

  async function profileOf(tenantId: string): Promise<string> {
    const found = await platform.services.declared.of(deviceProfiles).findBy(tenantId, { default: true })
    assert.ok(found)
    return found.id
  }
})
