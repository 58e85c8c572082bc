import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { long, raw, testTimeSeriesStore, write } from '../contract.ts'
import { assertLateKeyIsHeld } from './late-key.testkit.ts'
import { PARTITIONINGS } from './partitions.ts'
import { openPostgresTimeSeries } from './store.ts'

const server = await serverForFile()

if (server !== undefined) {
  for (const partitioning of PARTITIONINGS) {
    const url = await emptyDatabase(server)
    testTimeSeriesStore(`PostgreSQL, pieces of ${partitioning}`, () =>
      openPostgresTimeSeries({ url, applicationName: 'test', clock: systemClock, partitioning }),
    )
  }
}

test(
  'a read that says it holds a commit holds its points, though their key had no number when it began',
  { skip: server === undefined },
  async (context) => {
    if (server === undefined) return
    const url = await emptyDatabase(server)
    const open = () => openPostgresTimeSeries({ url, applicationName: 'test', clock: systemClock })
    const [store, other] = [await open(), await open()]
    context.after(() => Promise.all([store.close(), other.close()]))
    const entity = randomUUID()
    const borders = { agg: 'COUNT', startTs: 0, endTs: 10, borders: [0, 10] } as const
    for (const [key, read] of [
      ['of history', (key: string) => store.history(entity, raw([key]))],
      ['of buckets', (key: string) => store.history(entity, raw([key], borders))],
      ['latest', (key: string) => store.latest(entity, [key])],
      ['of many', (key: string) => store.latestOfMany([entity], [key])],
    ] as const)
      await assertLateKeyIsHeld(
        context,
        key,
        () => read(key),
        () => other.write([write(entity, [long(key, 1, 1)])]),
      )
  },
)
