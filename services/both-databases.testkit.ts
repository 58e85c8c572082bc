/** The same tests over a platform on SQLite, and on PostgreSQL where a server is at hand. */
import { describe } from 'node:test'
import { openPostgresEntityStore } from '../storage/entities/entity-store.ts'
import { emptyDatabase, serverForFile } from '../storage/postgres/testkit.ts'
import { DECLARED_TABLES } from './entities/declared.ts'
import { openTestPlatform, type TestPlatform } from './testkit.ts'

type Options = Pick<NonNullable<Parameters<typeof openTestPlatform>[0]>, 'secrets'>

/** Call it once a file: the server is this file's, and ends with it. `what` stands before the database's name. */
export async function onBothDatabases(
  what: string,
  testAll: (open: (options?: Options) => Promise<TestPlatform>) => void,
): Promise<void> {
  const server = await serverForFile()
  void describe(`${what}on SQLite`, () => testAll((options) => openTestPlatform(options)))
  if (server === undefined) return
  void describe(`${what}on PostgreSQL`, () =>
    testAll((options) =>
      openTestPlatform({
        ...options,
        openEntities: async (clock) =>
          openPostgresEntityStore({
            url: await emptyDatabase(server),
            applicationName: 'test',
            clock,
            tables: DECLARED_TABLES,
          }),
      }),
    ))
}
