/** What an import may not touch: rows and names of other tenants, whatever its file says. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { devices } from '../entities/device.ts'
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
})
