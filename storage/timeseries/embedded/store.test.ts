import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Clock } from '../../../model/clock.ts'
import { testTimeSeriesStore } from '../contract.ts'
import { openEmbeddedTimeSeries } from './store.ts'

const root = await mkdtemp(join(tmpdir(), 'millrace-timeseries-'))
after(() => rm(root, { recursive: true, force: true }))

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: () => {
    throw new Error('the store uses no timers')
  },
  soon: () => {
    throw new Error('the store uses no timers')
  },
}

for (const durability of ['power-cut', 'process-death'] as const) {
  testTimeSeriesStore(`embedded, ${durability}`, () =>
    openEmbeddedTimeSeries({ directory: join(root, durability, 'deep'), durability, clock }),
  )
}

// Bounds so small that every write is moved into chunks at once.
testTimeSeriesStore('embedded, everything in chunks', () =>
  openEmbeddedTimeSeries({
    directory: join(root, 'chunks'),
    durability: 'process-death',
    clock,
    logSoftBytes: 1,
    logHardBytes: 2,
    segmentBytes: 64,
    maxTailPoints: 0,
    maxEntitiesInMemory: 2,
  }),
)
