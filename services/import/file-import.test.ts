import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { devices } from '../entities/device.ts'
import { TimeSeriesErrors } from '../../storage/timeseries/errors.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import type { FilePiece } from './importer.ts'

const COLUMNS = [{ type: 'NAME' }, { type: 'TIMESERIES', key: 't' }]

async function platformFor(context: TestContext, open: () => Promise<TestPlatform>) {
  const platform = await open()
  context.after(() => platform.close())
  const { services, tenant, tenantId } = platform
  const take = (file: string, change: Partial<FilePiece> = {}) => {
    const of = { name: 'file', type: 'DEVICE', delimiter: ',', update: false, firstLine: 1 } as const
    return services.fileImport.take(tenant, { ...of, from: 0, to: 10, columns: COLUMNS, file, ...change })
  }
  const device = (name: string) => services.declared.of(devices).findByName(tenantId, name)
  return { ...platform, take, device }
}

await onBothDatabases('an import piece by piece ', (open) => {
  test('series that were not stored come with the line once more, at the same time, and the line counts as what it was', async (context) => {
    const { take, device, timeSeries, clock } = await platformFor(context, open)
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

  test('of a line whose series their store refuses nothing stays, now and once more', async (context) => {
    const { take, device, timeSeries } = await platformFor(context, open)
    timeSeries.failure = TimeSeriesErrors.LONG_INVALID({ key: 't', value: '7' })
    const { created, errors, errorsList } = await take('odd,7\n')
    assert.deepEqual([created, errors], [0, 1])
    assert.match(errorsList[0] ?? '', /^Line 1: .*no 64-bit integer/)
    assert.equal(await device('odd'), undefined)
    timeSeries.failure = undefined
    const next = await take('even,7\n', { from: 10, to: 20, firstLine: 2 })
    assert.deepEqual([next.created, next.errors], [1, 1])
  })

  test('a line whose series can never be told of is refused before anything of it is there', async (context) => {
    const { take, device, link } = await platformFor(context, open)
    link.maxMessageSize = 3000
    const { created, errors } = await take(`small,1\nlarge,${'x'.repeat(4000)}\n`)
    assert.deepEqual([created, errors], [1, 1])
    assert.equal(await device('large'), undefined)
  })

  test('the same piece twice at once is there once, and no line of it is told as refused', async (context) => {
    const { take, device } = await platformFor(context, open)
    const names = Array.from({ length: 500 }, (_, index) => `twin ${index}`)
    const file = names.map((name) => `${name},1\n`).join('')
    const answers = await Promise.allSettled([take(file), take(file), take(file)])
    for (const answer of answers) {
      if (answer.status === 'rejected') assert.equal((answer.reason as { code?: string }).code, 'transfer.OTHERS')
      else assert.deepEqual([answer.value.errors, answer.value.errorsList], [0, []])
    }
    const { created, errors, position } = await take(file)
    assert.deepEqual([created, errors, position], [500, 0, 10])
    assert.ok(await device('twin 499'))
  })

  test('who comes later takes a piece over: the one before ends with it', async (context) => {
    const { take, device } = await platformFor(context, open)
    const names = Array.from({ length: 1000 }, (_, index) => `later ${index}`)
    const file = names.map((name) => `${name}\n`).join('')
    const columns = [{ type: 'NAME' }]
    const first = take(file, { columns }).then(
      () => 'whole',
      (error: unknown) => (error as { code?: string }).code,
    )
    // Some of its lines are there.
    while ((await device('later 0')) === undefined) await new Promise((resolve) => setImmediate(resolve))
    const second = await take(file, { columns })
    assert.deepEqual([second.created, second.errors], [1000, 0])
    assert.equal(await first, 'transfer.OTHERS')
  })

  test('imports under way stay when there are too many; those that rested go', async (context) => {
    const { take, services, tenant, clock } = await platformFor(context, open)
    const named = (index: number) => take(`many ${index},1\n`, { name: `file ${index}` })
    for (let index = 0; index < 100; index++) await named(index)
    await assert.rejects(named(100), { code: 'transfer.TOO_MANY' })
    const position = async (index: number) => (await services.fileImport.position(tenant, `file ${index}`)).position
    assert.deepEqual([await position(0), await position(100)], [10, 0])
    clock.time += 3_000_000
    await take('more,1\n', { name: 'file 0', from: 10, to: 20 })
    clock.time += 3_000_000
    await named(100)
    assert.deepEqual([await position(0), await position(1), await position(100)], [20, 0, 10])
  })
})
