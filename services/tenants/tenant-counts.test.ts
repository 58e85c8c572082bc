/** What triggers count is what is there, whatever changes it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { seededRandom, type SeededRandom } from '../../test/support/seeded-random.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { dashboards } from '../entities/dashboard.ts'
import { DECLARED, DECLARED_TABLES } from '../entities/declared.ts'
import { devices } from '../entities/device.ts'
import { ruleChains } from '../entities/rule-chain.ts'
import { users } from '../entities/user.ts'
import type { TestPlatform } from '../testkit.ts'

const COUNTED = DECLARED_TABLES.filter(({ countedSince }) => countedSince !== undefined).map(({ name }) => name)

async function rowsOf(entities: EntityStore, sql: string): Promise<readonly unknown[]> {
  const { results } = await entities.write([{ sql, parameters: [], isQuery: true, returnsRows: true }])
  return results[0]?.rows.map((row) => ({ ...(row as object) })) ?? []
}

/** Tenants whose number is not that of their rows, tables with them. */
async function differences(entities: EntityStore): Promise<readonly unknown[]> {
  const counted = `select tenant_id, kind, sum(n) as n from tenant_count group by tenant_id, kind having sum(n) <> 0`
  const there = COUNTED.map(
    (table) =>
      `select tenant_id, '${table}' as kind, count(*) as n from ${table} where tenant_id is not null group by tenant_id`,
  ).join(' union all ')
  return [
    ...(await rowsOf(entities, `select * from (${counted}) as a except select * from (${there}) as b`)),
    ...(await rowsOf(entities, `select * from (${there}) as b except select * from (${counted}) as a`)),
  ]
}

test('what a tenant profile limits is counted, and nothing else', () => {
  assert.deepEqual([...COUNTED].sort(), ['app_user', 'asset', 'customer', 'dashboard', 'device', 'rule_chain'])
})

/** Creations, deletions, cascades, moves and erasure in an order that the seed chooses. */
class History {
  private readonly platform: TestPlatform
  private readonly random: SeededRandom
  private readonly tenantIds: string[] = []
  private made = 0

  constructor(platform: TestPlatform, seed: number) {
    this.platform = platform
    this.random = seededRandom(seed)
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (this.tenantIds.length < 3) await this.newTenant()
      await this.step()
    }
  }

  private async newTenant(): Promise<void> {
    const { services, systemAdministrator } = this.platform
    const title = `T ${++this.made} ${Math.floor(this.random.next() * 1e9)}`
    this.tenantIds.push((await services.tenants.saveByUser(systemAdministrator, { title })).id)
  }

  private async step(): Promise<void> {
    const { services, entities, tenant, systemAdministrator } = this.platform
    const tenantId = this.random.pick(this.tenantIds)
    const by = { ...tenant, tenantId }
    const name = `n${++this.made}`
    const kind = this.random.pick([0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 9, 10])
    switch (kind) {
      case 0:
      case 1:
        await services.devices.saveByUser(by, { name, type: this.random.pick(['a', 'b']) })
        return
      case 2:
        await services.declared.of(assets).saveByUser(by, { name })
        return
      case 3:
        await services.declared.of(customers).saveByUser(by, { title: name })
        return
      case 4:
        await services.declared.of(dashboards).saveByUser(by, { title: name })
        return
      case 5:
        await services.declared.of(users).saveByUser(by, { email: `${name}@t.local`, authority: 'TENANT_ADMIN' })
        return
      case 6: {
        const definition = this.random.pick([devices, assets, dashboards])
        const found = DECLARED.find(({ type }) => type === definition.type)
        assert.ok(found !== undefined)
        const service = services.declared.of(found)
        const { data } = await service.page(tenantId, {}, { page: 0, pageSize: 100 })
        if (data.length > 0) await service.deleteByUser(by, this.random.pick(data).record.id)
        return
      }
      case 7: {
        const { data } = await services.declared.of(devices).page(tenantId, {}, { page: 0, pageSize: 100 })
        if (data.length === 0) return
        await services.deviceMove.moveByUser(by, this.random.pick(data).record.id, this.random.pick(this.tenantIds))
        return
      }
      case 8:
        // By hand, and many at once.
        await entities.write([{ sql: `delete from dashboard where tenant_id = '${tenantId}'`, parameters: [] }])
        return
      case 9:
        await entities.write([
          {
            sql: `update dashboard set tenant_id = '${this.random.pick(this.tenantIds)}' where tenant_id = '${tenantId}'`,
            parameters: [],
          },
        ])
        return
      default:
        this.tenantIds.splice(this.tenantIds.indexOf(tenantId), 1)
        await services.tenants.deleteByUser(systemAdministrator, tenantId)
    }
  }
}

await onBothDatabases('tenant counts ', (open) => {
  void describe('histories', () => {
    let platform: TestPlatform
    before(async () => {
      platform = await open()
    })
    after(() => platform.close())

    test('any history ends with the numbers of count(*), and none of a tenant that is gone', async () => {
      const { entities, tenantId } = platform
      for (const seed of [1, 2, 3]) {
        await new History(platform, seed).run(60)
        assert.deepEqual(await differences(entities), [], `seed ${seed}`)
      }
      const left = 'select distinct tenant_id from tenant_count where tenant_id not in (select id from tenant)'
      assert.deepEqual(await rowsOf(entities, left), [])
      const [chains] = await rowsOf(entities, `select count(*) as n from rule_chain where tenant_id = '${tenantId}'`)
      assert.deepEqual(chains, { n: await entities.tenantCounts.count(tenantId, ruleChains.table.name) })
    })

    test('the comparison finds a trigger that is missing, whichever', async () => {
      const { services, entities, tenant, tenantId } = platform
      const isShared = (await rowsOf(entities, `select 1 as one where 'a' like 'A'`)).length === 0
      const drop = (trigger: string, table: string) => ({
        sql: `drop trigger tenant_count_${trigger}${isShared ? ' on ' : '_'}${table}`,
        parameters: [],
      })
      const found = async () => (await differences(entities)).length
      const asset = await services.declared.of(assets).saveByUser(tenant, { name: 'a' })
      const dashboard = await services.declared.of(dashboards).saveByUser(tenant, { title: 'd' })
      assert.equal(await found(), 0)

      await entities.write([drop('add', 'device')])
      await services.devices.saveByUser(tenant, { name: 'uncounted' })
      const afterAdd = await found()
      await entities.write([drop('take', 'asset')])
      await services.declared.of(assets).deleteByUser(tenant, asset.id)
      const afterTake = await found()
      const other = await services.tenants.saveByUser(platform.systemAdministrator, { title: 'Other' })
      await entities.write([
        drop('move', 'dashboard'),
        { sql: `update dashboard set tenant_id = '${other.id}' where id = '${dashboard.id}'`, parameters: [] },
      ])
      assert.ok(afterAdd > 0 && afterTake > afterAdd && (await found()) > afterTake, tenantId)
    })
  })
})
