import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../model/system-clock.ts'
import { Collector, publishAll } from './contract.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { raiseSequence } from './raise-sequence.ts'
import { openSegmentLog } from './segments/segment-log.ts'
import { message } from './testkit.ts'

test('a log whose positions were raised keeps its messages and gives out none below', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-raise-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  const open = () =>
    openSegmentLog({ directory, disk: nodeDisk, clock: systemClock, durability: 'process-death', partitions: 1 })
  const first = await open()
  const published = [message(), message(), message()]
  await publishAll(first, published)
  await first.close()
  const floor = Math.max(...published.map(({ sequence }) => sequence)) + 1_000_000
  for (const wanted of [floor, 5]) {
    await raiseSequence(nodeDisk, directory, wanted, (event) => assert.fail(event.kind))
  }
  const second = await open()
  context.after(() => second.close())
  const collector = new Collector()
  second.consume(collector)
  const later = message()
  await publishAll(second, [later])
  assert.ok(later.sequence >= floor, `${later.sequence}, not ${floor}`)
  await collector.got(4)
  assert.deepEqual(
    collector.messages.map(({ id }) => id).toSorted(),
    [...published, later].map(({ id }) => id).toSorted(),
  )
})
