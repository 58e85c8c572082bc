/**
 * `tenant import` that is killed (SIGKILL) at moments drawn by seed, in turns the server and the command: the same command is started
 * again until it is through, and what the file says is there exactly once; once more it changes nothing. Beside the tenant that it is
 * of, and on an empty server, on SQLite and PostgreSQL. `ROUNDS` sets how often each is killed; without it 3 times, and only what there
 * is time for.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, test, type TestContext } from 'node:test'
import { readTenantRows } from '../../commands/tenant-file.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import { DEMO_SYSADMIN, type RestClient } from '../support/clients.ts'
import { startCommand, type RunningCommand } from '../support/command-process.ts'
import { figure } from '../support/figure.ts'
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { until } from '../support/until.ts'
import { drained } from './fault-run.ts'
import { reached, runKilled, World } from './killed-commands.ts'
import { administratorOf, makeLargeTenant, makeTenant, TOLD, type LargeTenant } from './large-tenant.ts'
import { missing, rowsIn, wantedRows, type Rows } from './tenant-rows.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const IS_LONG = process.env['ROUNDS'] !== undefined
/** What runs among all tests, which have no time for more, and on which database. */
const ON_SHORT: Readonly<Record<string, string>> = {
  'beside the tenant that it is of': 'SQLite',
  'on an empty server': 'PostgreSQL',
}
/** Of what is sent: behind it the command may be through before it is killed. */
const LAST_KILL = 0.7
const PAGE = 1_000
/** Between two looks at what is there while a command runs. */
const LOOKS_MS = 100
/** What a server tells of the chains that it starts. */
const STARTS = 'lifecycle_event'

const server = await serverForFile()
type Environment = Readonly<Record<string, string>>

interface Import {
  readonly world: World
  readonly file: string
  readonly args: readonly string[]
  /** What the tenant had before: it may stay. */
  readonly before?: Rows
}

const importOf = (world: World, file: string, ...into: readonly string[]): Import => ({
  ...{ world, file, args: ['tenant', 'import', file, '--apply', ...into] },
})

/** Bytes of the bodies that a whole import sends: what it asks for ids first, then all rows. */
async function sizesOf(file: string): Promise<{ readonly ids: number; readonly rows: number }> {
  const sizes = { ids: 0, rows: 0 }
  for await (const { table, rows } of readTenantRows(file)) {
    const size = Buffer.byteLength(JSON.stringify({ table, step: 'apply', rows }))
    sizes.rows += size
    if (table !== 'series') sizes.ids += size
  }
  return sizes
}

/** Each behind the one before, so that kills meet rows that are new; some while it still asks for ids. */
function momentsOf({ ids, rows }: { readonly ids: number; readonly rows: number }, random: SeededRandom) {
  const places = Array.from({ length: ROUNDS }, () => random.next() * LAST_KILL).sort((a, b) => a - b)
  return places.map((place) => (random.between(1, 5) === 1 ? place * ids : ids + place * rows))
}

async function tenantIdOf(rest: RestClient, title: string): Promise<string | undefined> {
  const path = `/api/tenants?pageSize=${PAGE}&page=0`
  const { data } = await rest.expect<{ data: readonly { title: string; id: { id: string } }[] }>('GET', path)
  return data.find((tenant) => tenant.title === title)?.id.id
}

/** Those that the large tenant has of its own, by their nodes and connections. Throws where one is not whole. */
async function requireWholeChains(system: RestClient, title: string): Promise<number> {
  const id = await tenantIdOf(system, title)
  if (id === undefined) return 0
  const path = `/api/tenant/${id}/rows?table=rule_chain`
  const { rows } = await system.expect<{ rows: readonly string[] }>('GET', path)
  const chains = rows.map((row) => JSON.parse(row) as Record<'rule_node' | 'rule_node_connection', unknown[]> & Named)
  const own = chains.filter(({ name }) => name.startsWith('chain '))
  for (const { name, rule_node: nodes, rule_node_connection: connections } of own)
    assert.deepEqual([nodes.length, connections.length], [4, 3], `${name} is seen without all of its nodes`)
  return own.length
}

interface Named {
  readonly name: string
}

/** Looks again and again while something goes on: at no time is a chain seen without its nodes. Says how often some were seen. */
async function whileChainsAreWhole<Result>(world: World, title: string, goesOn: Promise<Result>) {
  let isOver = false
  const over = goesOn.finally(() => (isOver = true))
  let seen = 0
  const broken: assert.AssertionError[] = []
  let from: World['millrace'] | undefined
  let system: RestClient | undefined
  const look = async (): Promise<void> => {
    while (!isOver && broken.length === 0) {
      try {
        if (system === undefined || from !== world.millrace) {
          from = world.millrace
          system = await world.rest(DEMO_SYSADMIN)
        }
        if ((await requireWholeChains(system, title)) > 0) seen++
      } catch (error) {
        // Told when all is over, so that nothing is left running. Other errors are of a server that is killed just now.
        if (error instanceof assert.AssertionError) broken.push(error)
        system = undefined
      }
      await delay(LOOKS_MS)
    }
  }
  const [result] = await Promise.all([over, look()])
  for (const error of broken) throw error
  return { result, seen }
}

interface Audited {
  readonly actionData: { readonly imported?: string; readonly rows?: number }
}

/** How many rows the audit log of a tenant says were brought in, by table. */
async function audited(world: World, id: string): Promise<ReadonlyMap<string, number>> {
  const rest = await administratorOf(world.millrace, id)
  const counts = new Map<string, number>()
  for (let page = 0, hasNext = true; hasNext; page++) {
    const path = `/api/audit/logs/entity/TENANT/${id}?pageSize=${PAGE}&page=${page}`
    const answer = await rest.expect<{ data: readonly Audited[]; hasNext: boolean }>('GET', path)
    for (const {
      actionData: { imported, rows = 0 },
    } of answer.data)
      if (imported !== undefined) counts.set(imported, (counts.get(imported) ?? 0) + rows)
    hasNext = answer.hasNext
  }
  return counts
}

async function exportOf(world: World, title: string): Promise<string> {
  const file = join(world.folder, `${title} ${Math.floor(performance.now())}.gz`)
  const { code, output } = await world.run('tenant', 'export', file, '--tenant', title, '--series')
  assert.equal(code, 0, output)
  return file
}

const done = (output: string): readonly string[] =>
  output.split('\n').filter((line) => / [1-9]\d* (new|changed)/.test(line))

const asSet = ([table, rows]: readonly [string, readonly string[]]) => [table, new Set(rows)] as const

/** All that the file says is there, once, and is told of once; and stays so when it is brought in once more. */
async function requireBroughtIn({ world, file, args, before = new Map() }: Import, title: string): Promise<void> {
  const id = await tenantIdOf(await world.rest(DEMO_SYSADMIN), title)
  assert.ok(id)
  const look = async (): Promise<ReadonlyMap<string, number>> => {
    await drained(world.millrace)
    const { rows: wanted } = await wantedRows(await world.rest(DEMO_SYSADMIN), file, id)
    const there = await rowsIn(await exportOf(world, title))
    assert.deepEqual(missing(wanted, there), {})
    const { [STARTS]: _own, ...others } = missing(new Map(Object.entries(missing(there, wanted)).map(asSet)), before)
    assert.deepEqual(others, {}, 'nothing else is there')
    const counts = await audited(world, id)
    const of = (rows: Rows) =>
      Object.fromEntries([...rows].filter(([table]) => table !== 'series').map(([table, { size }]) => [table, size]))
    assert.deepEqual(Object.fromEntries([...counts].filter(([table]) => table !== 'series')), of(wanted))
    return counts
  }
  const counts = await look()
  const again = await world.run(...args)
  assert.equal(again.code, 0, again.output)
  assert.deepEqual(done(again.output), [])
  assert.deepEqual(await look(), counts)
}

async function killed(context: TestContext, what: Import, title: string): Promise<void> {
  const random = seededRandom()
  context.diagnostic(`repeat with SEED=${random.seed} ROUNDS=${ROUNDS}`)
  const { world, file, args } = what
  const moments = momentsOf(await sizesOf(file), random)
  const moment = async (round: number, command: RunningCommand): Promise<boolean> => {
    const from = world.proxy.carried.toServer
    return reached(command, () => world.proxy.carried.toServer - from >= (moments[round - 1] ?? 0))
  }
  const check = async () => void (await requireWholeChains(await world.rest(DEMO_SYSADMIN), title))
  const killing = runKilled({ world, args, random, rounds: ROUNDS, moment, check })
  const { result: last, seen } = await whileChainsAreWhole(world, title, killing)
  assert.equal(last.code, 0, last.output)
  context.diagnostic(`chains were seen ${seen} times meanwhile`)
  await requireBroughtIn(what, title)
  await requireHeard(world, title)
}

/** The chain that was brought in shows what the rule engine hears: nothing of the import, as the rows show, and each change behind it once. */
async function requireHeard(world: World, title: string): Promise<void> {
  const id = await tenantIdOf(await world.rest(DEMO_SYSADMIN), title)
  const rest = await administratorOf(world.millrace, id ?? '')
  const path = '/api/tenant/devices?pageSize=1000&page=0&textSearch=device'
  const { data: devices } = await rest.expect<{ data: readonly { id: { id: string } }[] }>('GET', path)
  const heard = async (): Promise<readonly string[]> => {
    await drained(world.millrace)
    const all = devices.map(async (device) => {
      const range = `keys=${TOLD}&startTs=0&endTs=${Number.MAX_SAFE_INTEGER}&limit=1000`
      const series = `/api/plugins/telemetry/DEVICE/${device.id.id}/values/timeseries?${range}`
      const { [TOLD]: points = [] } = await rest.expect<Record<string, readonly { value: string }[]>>('GET', series)
      return points.map(({ value }) => value)
    })
    return (await Promise.all(all)).map(String)
  }
  assert.deepEqual(new Set(await heard()), new Set(['']))
  const settled = () => figure(world.millrace, 'millrace_link_settled_messages_total')
  const before = await settled()
  for (const device of devices) await rest.expect('POST', '/api/device', { ...device, label: 'heard' })
  await until(async () => !(await heard()).includes(''))
  assert.deepEqual(new Set(await heard()), new Set(['ENTITY_UPDATED']))
  // One that is doubled has the time of the first, and so the same point. The second of each change is for calculated fields.
  const count = (await settled()) - before
  assert.ok(count <= devices.length * 2, `${count} messages of ${devices.length} changes`)
}

async function onDatabase(context: TestContext, database: string, environment: () => Promise<Environment>) {
  const part = async (name: string, run: (each: TestContext) => Promise<void>): Promise<void> => {
    if (IS_LONG || ON_SHORT[name] === database) await context.test(name, run)
  }
  const world = await World.open(context, await environment())
  const large: LargeTenant = await makeLargeTenant(world.millrace)
  await drained(world.millrace)
  const file = await exportOf(world, large.title)
  await part('beside the tenant that it is of', async (each) => {
    await makeTenant(world.millrace, 'Copy', 'admin@copy.example.org')
    const before = await rowsIn(await exportOf(world, 'Copy'))
    await killed(each, { ...importOf(world, file, '--into', 'Copy'), before }, 'Copy')
  })
  await part('on an empty server', async (each) => {
    const empty = await World.open(each, await environment())
    await killed(each, importOf(empty, file), large.title)
  })
  await part('twice at once', async (each) => {
    const empty = await World.open(each, await environment())
    const what = importOf(empty, file)
    const random = seededRandom()
    each.diagnostic(`repeat with SEED=${random.seed}`)
    const first = empty.command(...what.args)
    await delay(random.between(0, 500))
    const both = Promise.all([first.ended, empty.run(...what.args)])
    const { result: ended } = await whileChainsAreWhole(empty, large.title, both)
    const outputs = ended.map(({ output }) => output).join('\n')
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0],
      outputs,
    )
    await requireBroughtIn(what, large.title)
    await requireHeard(empty, large.title)
  })
  if (database !== 'SQLite') return
  await part('a backup taken meanwhile is one cut, in which the import goes on', async (each) => {
    const empty = await World.open(each, await environment())
    await backedUp(each, importOf(empty, file), large.title)
  })
}

async function backedUp(context: TestContext, { world, file, args }: Import, title: string): Promise<void> {
  const random = seededRandom()
  context.diagnostic(`repeat with SEED=${random.seed}`)
  const { ids, rows } = await sizesOf(file)
  const least = ids + rows * (0.1 + random.next() / 2)
  const command = world.command(...args)
  assert.ok(await reached(command, () => world.proxy.carried.toServer >= least), command.output())
  const folder = join(world.folder, 'backup')
  const backup = await world.run('backup', folder)
  assert.equal(backup.code, 0, backup.output)
  const isMeanwhile = (await Promise.race([command.ended, Promise.resolve(undefined)])) === undefined
  context.diagnostic(`the import ${isMeanwhile ? 'goes on behind' : 'ended during'} the backup`)
  const { code, output } = await command.ended
  assert.equal(code, 0, output)

  const dataDir = join(world.folder, 'restored')
  const restore = await startCommand(['restore', folder], { DATA_DIR: dataDir }).ended
  assert.equal(restore.code, 0, restore.output)
  const restored = await World.open(context, {}, dataDir)
  await requireWholeChains(await restored.rest(DEMO_SYSADMIN), title)
  const further = importOf(restored, file)
  const last = await restored.run(...further.args)
  assert.equal(last.code, 0, last.output)
  // An audit row without its rows, or the other way round, would show in their sum.
  await requireBroughtIn(further, title)
  await requireHeard(restored, title)
}

const DATABASES = {
  SQLite: async () => ({}),
  ...(server === undefined
    ? {}
    : { PostgreSQL: async () => ({ DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: await emptyDatabase(server) }) }),
}

describe(
  `imports of tenants that are killed ${ROUNDS} times`,
  { timeout: (900_000 + ROUNDS * 120_000) * SLOWNESS },
  () => {
    for (const [name, environment] of Object.entries(DATABASES))
      test(`on ${name}: what the file says is there once`, (context) => onDatabase(context, name, environment))
  },
)
