import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, afterEach, describe, test } from 'node:test'
import { ManualClock } from '../../model/manual-clock.ts'
import { Cleanup } from './cleanup.ts'
import { Remains } from './remains.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

describe('what deleted entities left', () => {
  let platform: TestPlatform
  let clock: ManualClock
  let remains: Remains
  let cleanup: Cleanup
  const reports: string[] = []

  beforeEach(async () => {
    platform = await openTestPlatform()
    const { entities, timeSeries, deadLetters, parked } = platform
    clock = new ManualClock()
    remains = new Remains(deadLetters, parked)
    cleanup = new Cleanup(entities, timeSeries, remains, clock, (text) => reports.push(text))
  })
  afterEach(() => platform.close())

  test('is noted as done in pieces: no write of others waits for one that has all', async () => {
    const { entities } = platform
    const notes = Array.from({ length: 2_500 }, () => entities.cleanups.note(randomUUID()))
    await entities.write(notes)
    const write = entities.write.bind(entities)
    const sizes: number[] = []
    entities.write = (statements, ...rest) => {
      sizes.push(statements.length)
      return write(statements, ...rest)
    }
    cleanup.resumeLater()
    await cleanup.settled()
    assert.deepEqual(sizes, [1_000, 1_000, 500])
    assert.deepEqual(await entities.cleanups.pending(), [])
    assert.deepEqual(reports, [])
  })

  test('is not taken for gone where not all parked lanes were listed', async () => {
    const { parked } = platform
    const ids = new Set([randomUUID()])
    parked.list = async () => ({ lanes: [], total: 0, isPart: true })
    assert.equal(await remains.erase(ids), false, 'an engine is silent')
    parked.list = async () => ({ lanes: [], total: 3 })
    assert.equal(await remains.erase(ids), false, 'there are more than are listed')
    parked.list = async () => ({ lanes: [], total: 0 })
    assert.equal(await remains.erase(ids), true)
  })

  test('is looked at no more after the close, though something of it is on its way out', async () => {
    const looked = Promise.withResolvers<boolean>()
    remains.erase = () => looked.promise
    await cleanup.run(randomUUID())
    const closed = cleanup.close()
    await clock.settle()
    looked.resolve(false)
    await closed
    assert.equal(clock.pendingTimers, 0)
  })
})
