import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { DECLARED_TABLES } from '../../../services/entities/declared.ts'
import { testEntityStore } from '../contract.ts'
import { openPostgresEntityStore } from '../entity-store.ts'

const server = await serverForFile()
const clock = { now: () => 1_700_000_000_000 }

if (server !== undefined) {
  testEntityStore('PostgreSQL', async () => {
    const store = await openPostgresEntityStore({
      url: await emptyDatabase(server),
      applicationName: 'test',
      clock,
      tables: DECLARED_TABLES,
    })
    return { store, close: () => store.close() }
  })
}
