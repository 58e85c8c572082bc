/**
 * How long does an entity query over a large tenant take? Every form of filter, sort and page, counts, alarm queries and lists, over SQLite
 * and PostgreSQL; beside it a count of the devices alone, which is what a database does at least. `postgres-series` has the latest values in
 * PostgreSQL too. With a folder to keep, what was made there is found again by the next run.
 *
 *   node benchmarks/entity-query/run.ts [--devices 100000] [--runs 15] [--databases sqlite,postgres,postgres-series] [--only latest]
 *     [--keep FOLDER]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../model/system-clock.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { openTestPlatform, testSecrets } from '../../services/testkit.ts'
import { VAULT_KEY_BYTES } from '../../services/vault/vault.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { PostgresConnection } from '../../storage/postgres/connection.ts'
import { openEmbeddedTimeSeries } from '../../storage/timeseries/embedded/store.ts'
import { openPostgresTimeSeries } from '../../storage/timeseries/postgres/store.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import { startPostgres } from '../../test/support/servers/index.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'
import { casesOf } from './cases.ts'
import { fill } from './fleet.ts'

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '15' },
    databases: { type: 'string', default: 'sqlite,postgres,postgres-series' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
  },
})
const DEVICES = Number(values.devices)
const RUNS = Number(values.runs)
/** What is kept is opened again under it. */
const KEY = Buffer.alloc(VAULT_KEY_BYTES, 1)
const MIN_RUNS = 3
/** A slow case is not run as often. */
const MAX_MS_PER_CASE = 3_000

type Result = Spread & { readonly matching: number }

async function measure(
  openEntities: () => Promise<EntityStore>,
  storedSeries: TimeSeriesStore,
  afterFill: () => Promise<void> = async () => undefined,
): Promise<Readonly<Record<string, Result>>> {
  const platform = await openTestPlatform({ openEntities, storedSeries, secrets: testSecrets(KEY) })
  try {
    const begun = performance.now()
    const fleet = await fill(platform, storedSeries, DEVICES)
    console.log(`made in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    await afterFill()
    const results: Record<string, Result> = {}
    for (const [name, run] of casesOf(platform, fleet, DEVICES)) {
      if (!name.includes(values.only)) continue
      const times: number[] = []
      const started = performance.now()
      // What is asked first reads the file, and has no estimates yet.
      const matching = await run()
      const first = performance.now() - started
      while (times.length < RUNS && (times.length < MIN_RUNS || performance.now() - started < MAX_MS_PER_CASE)) {
        const since = performance.now()
        await run()
        times.push(performance.now() - since)
      }
      results[name] = { ...spread(times), matching }
      console.log(`${results[name].median.toFixed(1).padStart(8)} ms  ${name} (${matching}; first ${first.toFixed(0)})`)
    }
    return results
  } finally {
    await platform.close()
    await storedSeries.close()
  }
}

async function inFolder(name: string, work: (folder: string) => Promise<Readonly<Record<string, Result>>>) {
  const folder = values.keep === undefined ? mkdtempSync(join(tmpdir(), `millrace-${name}-`)) : join(values.keep, name)
  try {
    return await work(folder)
  } finally {
    if (values.keep === undefined) rmSync(folder, { recursive: true })
  }
}

function embedded(folder: string): Promise<TimeSeriesStore> {
  const directory = join(folder, 'series')
  return openEmbeddedTimeSeries({ directory, durability: 'process-death', clock: systemClock })
}

function onSqlite() {
  return inFolder('sqlite', async (folder) => {
    const series = await embedded(folder)
    const file = join(folder, 'entities.db')
    const options = { file, durability: 'process-death', clock: systemClock, tables: DECLARED_TABLES } as const
    return measure(() => openEntityStore(options), series)
  })
}

function onPostgres(seriesAre: 'embedded' | 'there') {
  return inFolder(`postgres-${seriesAre}`, async (folder) => {
    const server = await startPostgres(values.keep === undefined ? {} : { dataDir: join(folder, 'server') })
    try {
      const options = { url: server.url, applicationName: 'benchmark', clock: systemClock, tables: DECLARED_TABLES }
      const series = seriesAre === 'there' ? await openPostgresTimeSeries(options) : await embedded(folder)
      return await measure(
        () => openPostgresEntityStore(options),
        series,
        () => vacuum(server.url),
      )
    } finally {
      await server.stop()
    }
  })
}

/** As PostgreSQL does by itself within a minute of such a fill. */
async function vacuum(url: string): Promise<void> {
  const connection = new PostgresConnection({ url, applicationName: 'benchmark' })
  try {
    await connection.query({ text: 'vacuum analyze' })
  } finally {
    await connection.close()
  }
}

const DATABASES: Readonly<Record<string, () => Promise<Readonly<Record<string, Result>>>>> = {
  sqlite: onSqlite,
  postgres: () => onPostgres('embedded'),
  'postgres-series': () => onPostgres('there'),
}

const milliseconds: Record<string, Readonly<Record<string, Result>>> = {}
for (const name of values.databases.split(',')) {
  console.log(name)
  const run = DATABASES[name]
  if (run === undefined) throw new Error(`no database ${name}`)
  milliseconds[name] = await run()
}
if (values.only === '') {
  const command = `node benchmarks/entity-query/run.ts --devices ${DEVICES} --runs ${RUNS} --databases ${values.databases}`
  writeResult('entity-query', command, { devices: DEVICES, milliseconds })
}
