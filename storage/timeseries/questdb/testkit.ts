/** What the tests of this store share: servers for a file, and a store on a table of its own. */
import { after, test, type TestContext } from 'node:test'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../model/clock.ts'
import { systemClock } from '../../../model/system-clock.ts'
import {
  requireServer,
  startQuestDb,
  type RunningQuestDb,
  type RunningServer,
} from '../../../test/support/servers/index.ts'
import { canRunQuestDb, type QuestDbOptions } from '../../../test/support/servers/questdb.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { openPostgresLatestValues } from '../postgres/latest-values.ts'
import { QuestDbServer } from './server.ts'
import { openQuestDbTimeSeries, type QuestDbTimeSeries, type QuestDbTimeSeriesOptions } from './store.ts'

export interface Servers {
  readonly questdb: RunningQuestDb
  readonly postgres: RunningServer
}

/** Ended after the file's tests. Undefined where they cannot be had: then a skipped test says so, or fails where they must be real. */
export async function serversForFile(options: QuestDbOptions = {}): Promise<Servers | undefined> {
  if (process.env['TEST_QUESTDB_URL'] === undefined && !canRunQuestDb()) {
    void test('against a real QuestDB', (context) => void requireServer(context, 'questdb'))
    return undefined
  }
  const [questdb, postgres] = await Promise.all([startQuestDb(options), serverForFile()])
  after(() => questdb.stop())
  return postgres === undefined ? undefined : { questdb, postgres }
}

/** The system's clock with another time of day. */
export function clockOf(now: () => number): Clock {
  return {
    now,
    monotonic: () => systemClock.monotonic(),
    after: (delayMs, run) => systemClock.after(delayMs, run),
    soon: (run) => {
      systemClock.soon(run)
    },
  }
}

export interface Place {
  readonly table: string
  /** Opens the store of this place, again and again. */
  open(change?: Partial<QuestDbTimeSeriesOptions>): Promise<QuestDbTimeSeries>
  /** QuestDB itself, past the store. */
  readonly questdb: QuestDbServer
}

/** A table and a database of their own. */
export async function freshPlace(servers: Servers): Promise<Place> {
  const table = `points_${randomBytes(6).toString('hex')}`
  const postgres = { url: await emptyDatabase(servers.postgres), applicationName: 'questdb test' }
  const { url } = servers.questdb
  return {
    table,
    questdb: new QuestDbServer({ url, timeoutMs: 10_000, maxAnswerBytes: 2 ** 24 }),
    open: async (change = {}) => {
      const latest = change.latest ?? (await openPostgresLatestValues({ ...postgres, clock: systemClock }))
      const options = { url, postgres, latest, clock: systemClock, table, durability: 'power-cut', ...change } as const
      try {
        return await openQuestDbTimeSeries(options)
      } catch (error) {
        await latest.close()
        throw error
      }
    },
  }
}

/** A store that is closed with the test. */
export async function openedStore(
  context: TestContext,
  servers: Servers,
  change: Partial<QuestDbTimeSeriesOptions> = {},
): Promise<{ store: QuestDbTimeSeries; place: Place }> {
  const place = await freshPlace(servers)
  const store = await place.open(change)
  context.after(() => store.close())
  return { store, place }
}
