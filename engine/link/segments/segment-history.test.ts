import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiskFile } from '../../../disk/disk.ts'
import { segmentFile } from '../../../disk/segment-file.ts'
import { Segments } from '../../../disk/segments.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { SeededRandom } from '../../actor/testkit.ts'
import { SimulatedDisk } from '../testkit.ts'
import { SegmentHistory } from './segment-history.ts'

test('a segment that leaves while it is being opened is stepped over, and one that only cannot be opened is not', async () => {
  const disk = new SimulatedDisk(systemClock, new SeededRandom(1))
  for (const name of ['log/1', 'log/2']) await (await disk.create(name)).close()
  const files = [segmentFile(1, 'log/1', 100, 5), segmentFile(2, 'log/2', 100, 9)]
  const segments = new Segments(disk, 'log', files, ({ kind }) => assert.fail(kind))
  const history = new SegmentHistory(segments)
  const refusals: ((error: Error) => void)[] = []
  disk.open = () => new Promise<DiskFile>((_, reject) => refusals.push(reject))
  const refuse = (): void => refusals.pop()?.(new Error('ENOENT'))

  const refused = history.read(1, 1000)
  refuse()
  await assert.rejects(refused, /ENOENT/)

  const read = history.read(1, 1000)
  const removed = segments.remove(({ id }) => id === 1)
  refuse()
  assert.deepEqual(await read, { frames: [], next: 5, isEnd: false })
  await removed
  assert.equal(segments.at(1), files[1])
})
