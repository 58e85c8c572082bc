/** The time series of a tenant are taken along with it: every value as it was, killed on the way too, on each store. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { tenant } from '../../commands/tenant.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { DataPoint, TypedValue } from '../../model/value.ts'
import { devices } from '../../services/entities/device.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { emptyDatabase } from '../../storage/postgres/testkit.ts'
import { openEmbeddedTimeSeries } from '../../storage/timeseries/embedded/store.ts'
import { openPostgresTimeSeries } from '../../storage/timeseries/postgres/store.ts'
import { freshPlace, serversForFile } from '../../storage/timeseries/questdb/testkit.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import { openRestWorld, type RestWorld } from '../security/rest-world.ts'
import { MILLRACE } from '../support/start-millrace.ts'

const servers = await serversForFile()
const ALL = { startTs: -8.64e15, endTs: 8.64e15, agg: 'NONE', limit: 50_000, order: 'ASC' } as const
const MANY = 12_345
const EMBEDDED = 'the embedded store'

const VALUES: readonly TypedValue[] = [
  { type: 'LONG', value: 2 },
  { type: 'DOUBLE', value: 2 },
  { type: 'DOUBLE', value: -0 },
  { type: 'DOUBLE', value: 0.1 + 0.2 },
  { type: 'DOUBLE', value: 5e-324 },
  { type: 'DOUBLE', value: 1.7976931348623157e308 },
  { type: 'LONG', value: 9223372036854775807n },
  { type: 'LONG', value: -9223372036854775808n },
  { type: 'BOOLEAN', value: false },
  { type: 'STRING', value: 'grüße "温度" \n🌡️' },
  { type: 'STRING', value: 'x'.repeat(300_000) },
  { type: 'JSON', value: '{"a":[1,2.0,null]}' },
]

function testOn(name: string, openStore: (folder: string) => Promise<TimeSeriesStore>): void {
  describe(`series of a tenant on ${name}`, () => {
    let folder = ''
    let file = ''
    let store: TimeSeriesStore
    let world: RestWorld
    let sourceId = ''
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'millrace-series-'))
      file = join(folder, 'tenant.gz')
      store = await openStore(join(folder, 'store'))
      world = await openRestWorld({ storedSeries: store })
      sourceId = await deviceOf(world.platform.tenantId)
      const write = { entityId: sourceId, sequence: 0, ttlSeconds: 0, history: true, latest: true }
      // A value that names the device is no name of it.
      const odd = [...VALUES, { type: 'STRING', value: `of ${sourceId}` } as const]
      const points = odd.map((value, index): DataPoint => ({ key: 'odd', ts: (index - 3) * 1e9, ...value }))
      const many = Array.from({ length: MANY }, (_, ts): DataPoint => ({ key: 'many', ts, type: 'LONG', value: ts }))
      await store.write([{ ...write, points: [...points, ...many] }])
      const far: DataPoint = { key: 'far', ts: -8e15, type: 'LONG', value: 1 }
      await store.write([{ ...write, points: [far], latest: false }])
      await store.write([{ ...write, points: [{ ...far, key: 'only shown', ts: 5 }], history: false }])
      await store.write([{ ...write, entityId: world.platform.tenantId, points: [{ ...far, key: 'own' }] }])
    })
    after(async () => {
      await world.close()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    })

    async function deviceOf(tenantId: string): Promise<string> {
      const found = await world.platform.services.declared.of(devices).findBy(tenantId, { name: 'Demo Thermometer' })
      assert.ok(found)
      return found.id
    }

    async function run(...argv: string[]): Promise<{ code: number; text: string }> {
      const lines: string[] = []
      const output = { out: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
      const code = await tenant([...argv, '--url', world.url, '--user', 'sysadmin@millrace.local'], output)
      return { code, text: lines.join('\n') }
    }

    async function newTenant(title: string): Promise<string> {
      const { services, systemAdministrator } = world.platform
      return (await services.tenants.saveByUser(systemAdministrator, { title })).id
    }

    async function contentOf(id: string) {
      const keys = await store.storedKeys(id)
      const { value } = await store.history(id, { ...ALL, keys })
      return { points: value, latest: (await store.latest(id, undefined)).value }
    }

    test('come whole into another tenant, and a second time changes nothing', async () => {
      const exported = await run('export', file, '--tenant', world.platform.tenantId, '--series')
      assert.equal(exported.code, 0, exported.text)
      const copy = await newTenant('Whole')
      const planned = await run('import', file, '--into', copy)
      assert.match(planned.text, /nothing was changed/)
      const first = await run('import', file, '--into', copy, '--apply')
      assert.equal(first.code, 0, first.text)
      assert.match(first.text, new RegExp(`points of series: ${MANY + VALUES.length + 3} new, 0 changed, 0 as`))
      assert.deepEqual(await contentOf(await deviceOf(copy)), await contentOf(sourceId))
      assert.deepEqual((await contentOf(copy)).points, (await contentOf(world.platform.tenantId)).points)
      const second = await run('import', file, '--into', copy, '--apply')
      assert.match(second.text, new RegExp(`points of series: 0 new, 0 changed, ${MANY + VALUES.length + 3} as`))
    })

    test('an import that is killed goes on by beginning again: no point is missing, none is there twice', async (context) => {
      const copy = await newTenant('Killed')
      const write = store.write.bind(store)
      let begun: (() => void) | undefined
      const isBegun = new Promise<void>((resolve) => (begun = resolve))
      const slow = context.mock.method(store, 'write', async (...call: Parameters<typeof write>) => {
        const sequence = await write(...call)
        begun?.()
        // The command never hears of it.
        await new Promise((resolve) => child.once('exit', resolve))
        return sequence
      })
      const argv = ['tenant', 'import', file, '--into', copy, '--apply', '--url', world.url]
      const child = spawn(process.execPath, [...MILLRACE, ...argv], {
        stdio: 'ignore',
      })
      await isBegun
      child.kill('SIGKILL')
      await once(child, 'exit')
      slow.mock.restore()
      const { code, text } = await run('import', file, '--into', copy, '--apply')
      assert.equal(code, 0, text)
      assert.deepEqual(await contentOf(await deviceOf(copy)), await contentOf(sourceId))
    })

    // What no store has a part in is tried with one.
    if (name !== EMBEDDED) return

    test('what was measured since stays the latest, and a point that is another becomes the one of the file', async () => {
      const copy = await newTenant('Goes on')
      await run('import', file, '--into', copy, '--apply')
      const id = await deviceOf(copy)
      const newer: DataPoint[] = [{ key: 'many', ts: 1e12, type: 'LONG', value: 7 }]
      const other: DataPoint[] = [{ key: 'many', ts: 5, type: 'STRING', value: 'another' }]
      const write = { entityId: id, sequence: 0, ttlSeconds: 0, history: true, latest: true }
      await store.write([
        { ...write, points: newer },
        { ...write, points: other },
      ])
      const { text } = await run('import', file, '--into', copy, '--apply')
      assert.match(text, /points of series: 0 new, 1 changed/)
      assert.deepEqual((await store.latest(id, ['many'])).value, newer)
      const { value } = await store.history(id, { ...ALL, keys: ['many'] })
      assert.deepEqual(value.get('many')?.[5], { key: 'many', ts: 5, type: 'LONG', value: 5 })
      assert.equal(value.get('many')?.length, MANY + 1)
    })

    test('an export that is cut off leaves no file; the next one is whole', async (context) => {
      const cut = join(folder, 'cut.gz')
      const history = store.history.bind(store)
      let left = 3
      const failing = context.mock.method(store, 'history', (...call: Parameters<typeof history>) =>
        left-- > 0 ? history(...call) : Promise.reject(EntityStoreErrors.VERSION_CONFLICT({ entity: 'cut off' })),
      )
      assert.equal((await run('export', cut, '--tenant', world.platform.tenantId, '--series')).code, 1)
      assert.ok(!(await readdir(folder)).includes('cut.gz'))
      failing.mock.restore()
      assert.equal((await run('export', cut, '--tenant', world.platform.tenantId, '--series')).code, 0)
    })

    test('no cursor leads to what another tenant has', async () => {
      const { services, tenantId } = world.platform
      const other = await newTenant('Curious')
      const cursor = JSON.stringify(['device', sourceId, 'odd', -8.64e15])
      await assert.rejects(services.tenantTransfer.page(other, 'series', cursor), { code: 'tenant-transfer.FOREIGN' })
      const row = JSON.stringify({ of: 'device', entity_id: sourceId, key: 'odd', points: [[1, 'LONG', '1']] })
      await assert.rejects(services.tenantTransfer.plan(other, 'series', [row]), { code: 'tenant-transfer.FOREIGN' })
      const bad = [
        { of: 'device', entity_id: sourceId, key: 'k', points: [[1, 'LONG', '1.5']] },
        { of: 'device', entity_id: sourceId, key: ' ', points: [[1, 'LONG', '1']] },
        { of: 'device', entity_id: sourceId, key: 'k', points: [[9e15, 'LONG', '1']] },
      ]
      for (const each of bad)
        await assert.rejects(services.tenantTransfer.plan(tenantId, 'series', [JSON.stringify(each)]), {
          code: 'tenant-transfer.ROW',
        })
    })
  })
}

const place = servers && (await freshPlace(servers))
const url = servers && (await emptyDatabase(servers.postgres))
testOn(EMBEDDED, (directory) => openEmbeddedTimeSeries({ directory, durability: 'process-death', clock: systemClock }))
if (url !== undefined)
  testOn('PostgreSQL', () => openPostgresTimeSeries({ url, applicationName: 'test', clock: systemClock }))
if (place !== undefined) testOn('QuestDB', () => place.open())
