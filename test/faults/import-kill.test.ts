/**
 * Imports that are killed (SIGKILL) at moments drawn by seed, in turns the server and the command: `import FILE` is run again
 * until it is through, and everything is there exactly once; once more it changes nothing. On SQLite and PostgreSQL. `ROUNDS` sets
 * how often each is killed (2 by default).
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import type { RestClient } from '../support/clients.ts'
import type { RunningCommand } from '../support/command-process.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { reached, runKilled, World } from './killed-commands.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 2)
/** More than one piece of a file, and more for each kill, so that kills meet an import that is under way. */
const DEVICES = Math.max(2_400, ROUNDS * 500)
const SAMPLE = 20
const PAGE = 1_000

const server = await serverForFile()

/** Name, profile, label, token, both kinds of attribute, one point; the last line is refused. */
function deviceLines(): string {
  const lines = Array.from(
    { length: DEVICES },
    (_, n) => `killed ${n},default,Label ${n},token-${n},model ${n},${n},${n}.5`,
  )
  return `name,type,label,access_token,shared:model,server:floor,series:temperature\n${lines.join('\n')}\n,default\n`
}

interface Page<Item> {
  readonly data: readonly Item[]
  readonly totalElements: number
  readonly hasNext: boolean
}

async function allOf<Item>(ask: (page: number) => Promise<Page<Item>>): Promise<readonly Item[]> {
  const all: Item[] = []
  for (let page = 0; ; page++) {
    const { data, hasNext } = await ask(page)
    all.push(...data)
    if (!hasNext) return all
  }
}

interface Listed {
  readonly id: { readonly id: string }
  readonly name: string
  readonly label: string
  readonly version: number
}

const devicesIn = (rest: RestClient) =>
  allOf((page) =>
    rest.expect<Page<Listed>>('GET', `/api/tenant/devices?pageSize=${PAGE}&page=${page}&textSearch=killed`),
  )

interface Audited {
  readonly entityName: string
  readonly actionStatus: string
}

/** How often each was made, by the audit log. */
async function creations(rest: RestClient): Promise<ReadonlyMap<string, number>> {
  const path = '/api/audit/logs?textSearch=killed&actionTypes=ADDED'
  const rows = await allOf((page) => rest.expect<Page<Audited>>('GET', `${path}&pageSize=${PAGE}&page=${page}`))
  const counts = new Map<string, number>()
  for (const { entityName, actionStatus } of rows)
    if (actionStatus === 'SUCCESS') counts.set(entityName, (counts.get(entityName) ?? 0) + 1)
  return counts
}

interface Found {
  readonly latest: Readonly<Record<string, Readonly<Record<string, { readonly value: string }>>>>
}

/** By name: what a dashboard shows of it. */
async function valuesOf(rest: RestClient): Promise<ReadonlyMap<string, readonly (string | undefined)[]>> {
  const name = { type: 'ENTITY_FIELD', key: 'name' }
  const keys = [
    { type: 'SHARED_ATTRIBUTE', key: 'model' },
    { type: 'SERVER_ATTRIBUTE', key: 'floor' },
    { type: 'TIME_SERIES', key: 'temperature' },
  ]
  const query = (page: number) => ({
    entityFilter: { type: 'entityName', entityType: 'DEVICE', entityNameFilter: 'killed' },
    entityFields: [name],
    latestValues: keys,
    pageLink: { page, pageSize: PAGE, sortOrder: { key: name, direction: 'ASC' } },
  })
  const found = await allOf((page) => rest.expect<Page<Found>>('POST', '/api/entitiesQuery/find', query(page)))
  return new Map(
    found.map(({ latest }) => {
      const [itsName = '', ...values] = [name, ...keys].map(({ type, key }) => latest[type]?.[key]?.value)
      return [itsName, values]
    }),
  )
}

async function pointsOf(rest: RestClient, type: string, id: string): Promise<number> {
  const path = `/api/plugins/telemetry/${type}/${id}/values/timeseries?keys=temperature&startTs=0&endTs=9999999999999&limit=1000`
  const { temperature = [] } = await rest.expect<{ temperature?: unknown[] }>('GET', path)
  return temperature.length
}

async function killsBulkImport(context: TestContext, environment: Readonly<Record<string, string>>): Promise<void> {
  const random = seededRandom()
  context.diagnostic(`repeat with SEED=${random.seed} ROUNDS=${ROUNDS}`)
  const world = await World.open(context, environment)
  const file = join(world.folder, 'devices.csv')
  await writeFile(file, deviceLines())
  const refusedLine = `Line ${DEVICES + 2}: `
  const moments = Array.from({ length: ROUNDS }, () => random.between(0, DEVICES - 200)).sort((a, b) => a - b)
  const moment = async (round: number, command: RunningCommand): Promise<boolean> => {
    const rest = await world.rest()
    const count = async () =>
      (await rest.expect<Page<unknown>>('GET', '/api/tenant/devices?pageSize=1&page=0&textSearch=killed')).totalElements
    const least = moments[round - 1] ?? 0
    return reached(command, async () => command.output().includes('importing') && (await count()) >= least)
  }
  const last = await runKilled({ world, args: ['import', file], random, rounds: ROUNDS, moment })
  assert.match(last.output, new RegExp(`${DEVICES} created, 0 updated, 1 refused`))

  const once = async (): Promise<void> => {
    const rest = await world.rest()
    const names = Array.from({ length: DEVICES }, (_, n) => `killed ${n}`).sort()
    const listed = await devicesIn(rest)
    assert.deepEqual(listed.map(({ name }) => name).sort(), names)
    assert.deepEqual(
      listed.filter(({ name, label, version }) => version !== 1 || label !== name.replace('killed', 'Label')),
      [],
    )
    const made = await creations(rest)
    assert.deepEqual([...made.keys()].sort(), names)
    assert.deepEqual(
      [...made].filter(([, count]) => count !== 1),
      [],
    )
    const values = await valuesOf(rest)
    assert.equal(values.size, DEVICES)
    for (let n = 0; n < DEVICES; n++) assert.deepEqual(values.get(`killed ${n}`), [`model ${n}`, String(n), `${n}.5`])
    for (let count = 0; count < SAMPLE; count++)
      assert.equal(await pointsOf(rest, 'DEVICE', random.pick(listed).id.id), 1)
    const errors = await readFile(`${file}.errors`, 'utf8')
    assert.equal(errors.split('\n').length, 2, errors)
    assert.ok(errors.startsWith(refusedLine), errors)
  }
  await once()
  const again = await world.run('import', file)
  assert.match(again.output, /imported before/)
  await once()
}

const DATABASES = {
  SQLite: async () => ({}),
  ...(server === undefined
    ? {}
    : { PostgreSQL: async () => ({ DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: await emptyDatabase(server) }) }),
}

describe(`imports that are killed ${ROUNDS} times`, { concurrency: 2, timeout: 300_000 + ROUNDS * 60_000 }, () => {
  for (const [name, environment] of Object.entries(DATABASES)) {
    test(`import FILE on ${name}: each line is there once`, async (context) =>
      killsBulkImport(context, await environment()))
  }
})
