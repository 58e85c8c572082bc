/** A folder of entities that an older version wrote opens, with everything where it was. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { customers } from '../../services/entities/customer.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices } from '../../services/entities/device.ts'
import { tenants } from '../../services/entities/tenant.ts'
import { users } from '../../services/entities/user.ts'
import { openTestPlatform } from '../../services/testkit.ts'
import { openEntityStore } from '../../storage/entities/entity-store.ts'

const FIXTURE = join(import.meta.dirname, 'fixtures', 'entities-aa95c40.sql.gz')

test('entities of aa95c40 are there after an upgrade, and can be changed', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'entities.sqlite')
  const old = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  old.exec(gunzipSync(await readFile(FIXTURE)).toString())
  old.close()
  const platform = await openTestPlatform({
    openEntities: (clock) => openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES }),
  })
  context.after(() => platform.close())
  const { services, tenantId, tenant } = platform
  const { declared } = services

  const pump = await declared.of(devices).findByName(tenantId, 'old pump')
  assert.ok(pump !== undefined)
  const profile = await declared.of(deviceProfiles).find(tenantId, pump.deviceProfileId)
  const customer = await declared.of(customers).findByName(tenantId, 'Old Co')
  assert.deepEqual([pump.type, pump.label, profile?.name, customer?.id], ['pumps', 'first', 'pumps', pump.customerId])
  const floor = await services.attributes.find({ entityType: 'DEVICE', id: pump.id }, 'SERVER_SCOPE', ['floor'])
  assert.deepEqual(
    floor.value.map(({ value }) => value),
    [3],
  )
  assert.equal((await services.devices.credentials(tenantId, pump.id))?.credentialsType, 'ACCESS_TOKEN')
  assert.equal((await services.queues.all()).filter(({ name }) => name === 'old').length, 1)
  const own = await declared.of(tenants).findAnywhere(tenantId)
  assert.ok(own?.tenantProfileId, 'the tenant has a profile')
  const page = await declared.of(users).page(tenantId, {}, { page: 0, pageSize: 10 })
  assert.equal(page.totalElements, 2)
  assert.ok(await services.users.authenticate('tenant@millrace.local', 'tenant'))

  const { data } = await declared.of(devices).page(tenantId, {}, { page: 0, pageSize: 10 })
  assert.equal(await platform.entities.tenantCounts.count(tenantId, devices.table.name), data.length)
  assert.equal(await platform.entities.tenantCounts.count(tenantId, users.table.name), page.totalElements)

  const changed = await declared.of(devices).saveByUser(tenant, { ...pump, label: 'second' })
  assert.deepEqual([changed.label, changed.version], ['second', pump.version + 1])
})
