import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { devices } from '../entities/device.ts'
import { openTestPlatform } from '../testkit.ts'
import type { FilePiece } from './importer.ts'

const COLUMNS = [{ type: 'NAME' }, { type: 'TIMESERIES', key: 't' }]

async function platformFor(context: TestContext) {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant, tenantId } = platform
  const take = (file: string, change: Partial<FilePiece> = {}) => {
    const of = { name: 'file', type: 'DEVICE', delimiter: ',', update: false, firstLine: 1 } as const
    return services.fileImport.take(tenant, { ...of, from: 0, to: 10, columns: COLUMNS, file, ...change })
  }
  const device = (name: string) => services.declared.of(devices).findByName(tenantId, name)
  return { ...platform, take, device }
}

test('series that were not stored come with the line once more, at the same time, and the line counts as what it was', async (context) => {
  const { take, device, timeSeries, clock } = await platformFor(context)
  const start = clock.time
  timeSeries.failure = new Error('the store is down')
  await assert.rejects(take('pump,7\n'))
  const { id } = (await device('pump')) ?? {}
  assert.ok(id)
  timeSeries.failure = undefined
  clock.time += 60_000
  const { created, updated, errors } = await take('pump,7\n')
  assert.deepEqual([created, updated, errors], [1, 0, 0])
  const points = timeSeries.writes.flat().filter(({ entityId }) => entityId === id)
  assert.deepEqual(
    points.flatMap((write) => write.points.map(({ key, value, ts }) => [key, value, ts])),
    [['t', 7, start]],
  )
})

test('a line whose series can never be told of is refused before anything of it is there', async (context) => {
  const { take, device, link } = await platformFor(context)
  link.maxMessageSize = 3000
  const { created, errors } = await take(`small,1\nlarge,${'x'.repeat(4000)}\n`)
  assert.deepEqual([created, errors], [1, 1])
  assert.equal(await device('large'), undefined)
})
