/**
 * How long does an entity query over a large tenant take? Type, key filter on an attribute, sort, first page and count, over SQLite and
 * PostgreSQL; beside it a count of the devices alone, which is what a database does at least.
 *
 *   node benchmarks/entity-query/run.ts [--devices 100000] [--runs 15] [--databases sqlite,postgres]
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AskedFilter, EntityDataQuery, EntityKey } from '../../model/entity-query.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { Principal } from '../../model/principal.ts'
import { DECLARED, DECLARED_TABLES } from '../../services/entities/declared.ts'
import { EntityQueries } from '../../services/queries/entity-queries.ts'
import { queryTables } from '../../services/queries/query-tables.ts'
import { RelationSearches } from '../../services/queries/relation-search.ts'
import { QueryResolver } from '../../services/queries/resolve.ts'
import { household, deviceOf, insertionOf, tokenOf } from '../../storage/entities/contract-testkit.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { openEmbeddedTimeSeries } from '../../storage/timeseries/embedded/store.ts'
import { startPostgres } from '../../test/support/servers/index.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '15' },
    databases: { type: 'string', default: 'sqlite,postgres' },
  },
})
const DEVICES = Number(values.devices)
const RUNS = Number(values.runs)
const PER_WRITE = 1_000

const NAME: EntityKey = { type: 'ENTITY_FIELD', key: 'name' }
const LEVEL: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'level' }
const SITE: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'site' }
const TEMPERATURE: EntityKey = { type: 'TIME_SERIES', key: 'temperature' }
const plain = <Value>(defaultValue: Value) => ({ defaultValue, userValue: undefined, dynamicValue: undefined })

function levelBelow(level: number): AskedFilter {
  return { key: LEVEL, predicate: { type: 'NUMERIC', operation: 'LESS', value: plain(level) } }
}

function query(
  keyFilters: readonly AskedFilter[],
  sort: EntityKey,
  direction: 'ASC' | 'DESC' = 'ASC',
): EntityDataQuery {
  return {
    filter: { kind: 'type', entityType: 'DEVICE', name: '', types: ['default'] },
    keyFilters,
    operation: 'AND',
    fields: ['name', 'type', 'label'],
    latest: [LEVEL, SITE],
    page: { page: 0, pageSize: 20, textSearch: undefined, sort: { key: sort, direction }, isDynamic: false },
  }
}

const site = (value: string): AskedFilter => ({
  key: SITE,
  predicate: { type: 'STRING', operation: 'EQUAL', value: plain(value), ignoreCase: false },
})

/** Levels are 0 to 999, sites s0 to s99, each as often as the others. */
const QUERIES: Readonly<Record<string, EntityDataQuery>> = {
  'no filter, by name': query([], NAME),
  'a number, 1 of 100 match, by name': query([levelBelow(10)], NAME),
  'a number, 1 of 10 match, by name': query([levelBelow(100)], NAME),
  'a number, 1 of 2 match, by name': query([levelBelow(500)], NAME),
  'a text, 1 of 100 match, by an attribute': query([site('s7')], LEVEL, 'DESC'),
  'no filter, by an attribute': query([], LEVEL, 'DESC'),
  'latest telemetry, 1 of 10 match, by it': query(
    [{ key: TEMPERATURE, predicate: { type: 'NUMERIC', operation: 'LESS', value: plain(100) } }],
    TEMPERATURE,
  ),
}

async function measure(entities: EntityStore, folder: string): Promise<Readonly<Record<string, Spread>>> {
  const timeSeries = await openEmbeddedTimeSeries({
    directory: join(folder, 'series'),
    durability: 'process-death',
    clock: systemClock,
  })
  const { tenant, profile } = await household(entities)
  for (let start = 0; start < DEVICES; start += PER_WRITE) {
    const devices = Array.from({ length: Math.min(PER_WRITE, DEVICES - start) }, (_, place) => ({
      ...deviceOf(tenant, profile, `device ${String((start + place) * 7919).padStart(10, '0')}`),
      createdTime: start + place,
    }))
    const attributes = devices.flatMap(({ id, createdTime: number }) => [
      write(id, { key: 'level', type: 'LONG', value: (number * 31) % 1000 }),
      write(id, { key: 'site', type: 'STRING', value: `s${(number * 17) % 100}` }),
      write(id, { key: 'active', type: 'BOOLEAN', value: number % 2 === 0 }),
    ])
    const inserts = devices.flatMap((device) => [
      insertionOf(entities, device),
      ...entities.deviceCredentials.insert(tokenOf(device, randomUUID())),
    ])
    await entities.write([...inserts, entities.attributes.save(attributes)])
    await timeSeries.write(
      devices.map(({ id, createdTime: number }) => ({
        entityId: id,
        points: [{ key: 'temperature', type: 'LONG' as const, value: (number * 13) % 1000, ts: 1 }],
        ...{ sequence: 0, ttlSeconds: 0, history: false, latest: true },
      })),
    )
  }
  const resolver = new QueryResolver({
    tables: queryTables(DECLARED),
    access: { allowed: (_principal, _operation, _type, owned) => owned },
    attributes: { find: async () => ({ value: [], sequence: 0 }) },
    relations: new RelationSearches(async () => []),
  })
  const latestOfView = () => Promise.resolve([])
  const queries = new EntityQueries({ entities, timeSeries, latestOfView, clock: systemClock, resolver })
  const principal: Principal = {
    ...{ userId: randomUUID(), email: '', authority: 'TENANT_ADMIN', tenantId: tenant.id, customerId: null },
    ...{ firstName: null, lastName: null },
  }
  const results: Record<string, Spread> = {}
  const time = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    await work()
    const times: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const begun = performance.now()
      await work()
      times.push(performance.now() - begun)
    }
    results[name] = spread(times)
    console.log(`${name}: ${results[name].median.toFixed(1)} ms`)
  }
  await time('count of the devices alone', () => queries.count(principal, query([], NAME)))
  for (const [name, each] of Object.entries(QUERIES)) {
    const { totalElements, data } = await queries.find(principal, each)
    if (data.length !== 20 || totalElements === 0) throw new Error(`${name} found ${data.length} of ${totalElements}`)
    await time(name, () => queries.find(principal, each))
  }
  await timeSeries.close()
  return results
}

function write(
  entityId: string,
  entry:
    | { key: string; type: 'LONG'; value: number }
    | { key: string; type: 'STRING'; value: string }
    | { key: string; type: 'BOOLEAN'; value: boolean },
) {
  return { entityId, scope: 'SERVER_SCOPE' as const, attribute: { ...entry, lastUpdateTs: 1 }, sequence: 0 }
}

async function onSqlite(): Promise<Readonly<Record<string, Spread>>> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-entity-query-'))
  const file = join(folder, 'entities.db')
  const store = await openEntityStore({
    file,
    durability: 'process-death',
    clock: systemClock,
    tables: DECLARED_TABLES,
  })
  try {
    return await measure(store, folder)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

async function onPostgres(): Promise<Readonly<Record<string, Spread>>> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-entity-query-'))
  const server = await startPostgres()
  const options = { url: server.url, applicationName: 'benchmark', clock: systemClock, tables: DECLARED_TABLES }
  const store = await openPostgresEntityStore(options)
  try {
    return await measure(store, folder)
  } finally {
    await store.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

const milliseconds: Record<string, Readonly<Record<string, Spread>>> = {}
for (const database of values.databases.split(',')) {
  console.log(database)
  milliseconds[database] = await (database === 'postgres' ? onPostgres() : onSqlite())
}
writeResult('entity-query', `node benchmarks/entity-query/run.ts --devices ${DEVICES} --runs ${RUNS}`, {
  devices: DEVICES,
  milliseconds,
})
