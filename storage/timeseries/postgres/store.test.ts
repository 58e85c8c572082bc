import { systemClock } from '../../../model/system-clock.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { testTimeSeriesStore } from '../contract.ts'
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
