import { ATTRIBUTE_SCOPES } from '../../model/value.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { Log, LogFields } from '../../model/log.ts'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import type { Read } from '../../storage/entities/database.ts'
import { RedisAttributes, type RedisSettings } from '../../storage/redis/redis-attributes.ts'
import { startFaultProxy, type FaultProxy } from '../../test/support/fault-proxy.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { requireOwnServer, requireServer, startValkey, type RunningServer } from '../../test/support/servers/index.ts'
import type { AttributesAsOf } from './attribute-cache.ts'
import { attribute, MAX_BYTES, saved, testAttributeCache, valuesOf } from './attribute-cache.contract.ts'
import { SharedAttributeCache } from './shared-attribute-cache.ts'

let server: Promise<RunningServer> | undefined
const valkey = (): Promise<RunningServer> => (server ??= startValkey())
after(async () => (await server)?.stop())

interface Told {
  readonly text: string
  readonly fields: LogFields | undefined
}

async function connect(
  context: TestContext,
  url: string,
  settings: Partial<RedisSettings> = {},
  clock: Clock = systemClock,
): Promise<{ shared: RedisAttributes; told: Told[] }> {
  const told: Told[] = []
  const tell = (text: string, fields?: LogFields) => void told.push({ text, fields })
  const log: Log = { debug() {}, info: tell, warn: tell, error: tell }
  const { hostname: host, port } = new URL(url)
  const shared = new RedisAttributes(
    {
      ...{ host, port: Number(port), database: 0, tls: undefined, namespace: randomUUID() },
      ...{ connectTimeoutMs: 5_000, readTimeoutMs: 2_000, ttlMs: 60_000 },
      ...settings,
    },
    clock,
    log,
  )
  context.after(() => shared.close())
  await shared.ready()
  return { shared, told }
}

testAttributeCache(async (context, readAll, maxBytes) => {
  if (!requireServer(context, 'valkey')) return undefined
  const { shared } = await connect(context, (await valkey()).url)
  return new SharedAttributeCache(readAll, maxBytes, shared)
})

/** What both processes read and write: numbered commits. */
class Database {
  reads = 0
  commits = 0
  readonly rows = new Map<string, ScopedAttribute[]>()

  readonly readAll = async (entityId: string): Promise<Read<ScopedAttribute>> => {
    this.reads++
    return { rows: [...(this.rows.get(entityId) ?? [])], sequence: this.commits }
  }

  write(entityId: string, value: number): number {
    this.rows.set(entityId, [attribute('a', value)])
    return ++this.commits
  }
}

/** Processes that hold nothing in memory, so that each look goes to the shared store. */
async function openProcesses(
  context: TestContext,
  url: string,
  count: number,
  settings: Partial<RedisSettings> = {},
  clock?: Clock,
): Promise<{ database: Database; processes: SharedAttributeCache[]; stores: RedisAttributes[] }> {
  const database = new Database()
  const namespace = randomUUID()
  const stores: RedisAttributes[] = []
  for (let each = 0; each < count; each++) {
    stores.push((await connect(context, url, { namespace, ...settings }, clock)).shared)
  }
  const processes = stores.map((shared) => new SharedAttributeCache(database.readAll, 0, shared))
  // A process asks for the time with its first look.
  for (const each of processes) await each.load('first')
  database.reads = 0
  return { database, processes, stores }
}

/** Offers are not waited for: the next question over the same connection comes after them. */
const settled = (stores: readonly RedisAttributes[]) => Promise.all(stores.map((each) => each.find('none', undefined)))

const valueAt = async (process: SharedAttributeCache, entityId: string): Promise<unknown> =>
  valuesOf((await process.load(entityId)).attributes)['a']

test('what one process read, the others need not read, absence too', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { database, processes, stores } = await openProcesses(context, (await valkey()).url, 3)
  database.write('e', 1)
  const [first] = processes
  assert.ok(first !== undefined)
  await first.load('e')
  await first.load('empty')
  await settled(stores)
  for (const each of processes) {
    assert.equal(await valueAt(each, 'e'), 1)
    assert.equal(await valueAt(each, 'empty'), undefined)
  }
  assert.equal(database.reads, 2)
})

test('values keep their types, and no digit is lost', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { database, processes, stores } = await openProcesses(context, (await valkey()).url, 2)
  const rows: ScopedAttribute[] = [
    { key: 'big', type: 'LONG', value: 9223372036854775807n, lastUpdateTs: 5, scope: 'CLIENT_SCOPE' },
    { key: 'minus zero', type: 'DOUBLE', value: -0, lastUpdateTs: 6, scope: 'SERVER_SCOPE' },
    { key: 'whole', type: 'DOUBLE', value: 2, lastUpdateTs: 7, scope: 'SHARED_SCOPE' },
    { key: 'yes', type: 'BOOLEAN', value: true, lastUpdateTs: 8, scope: 'SERVER_SCOPE' },
    { key: 'text\n"', type: 'STRING', value: 'ü\n"\u2028', lastUpdateTs: 9, scope: 'SERVER_SCOPE' },
    { key: 'json', type: 'JSON', value: '{"a":1.0}', lastUpdateTs: 10, scope: 'SERVER_SCOPE' },
  ]
  database.rows.set('e', rows)
  const [first, second] = processes
  await first?.load('e')
  await settled(stores)
  const loaded = await second?.load('e')
  const found = ATTRIBUTE_SCOPES.flatMap((scope) => [...(loaded?.attributes.get(scope)?.values() ?? [])])
  assert.deepEqual(
    rows.toSorted((one, other) => one.lastUpdateTs - other.lastUpdateTs),
    found.toSorted((one, other) => one.lastUpdateTs - other.lastUpdateTs),
  )
  assert.equal(database.reads, 1)
})

test('a process that heard of a change does not believe what was read before it', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { database, processes, stores } = await openProcesses(context, (await valkey()).url, 2)
  const [reader, writer] = processes
  assert.ok(reader !== undefined && writer !== undefined)
  database.write('e', 1)
  await reader.load('e')
  await settled(stores)
  // Written beside the shared store, as by a process that does not reach it.
  reader.invalidate('e', database.write('e', 2))
  assert.equal(await valueAt(reader, 'e'), 2)
  writer.apply(database.write('e', 3), saved('e', 'a', 3))
  await settled(stores)
  assert.equal(await valueAt(writer, 'e'), 3)
})

test('a late offer of what was read before a change is not believed', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { database, processes, stores } = await openProcesses(context, (await valkey()).url, 2)
  const [reader] = processes
  const [store] = stores
  assert.ok(reader !== undefined && store !== undefined)
  database.write('e', 1)
  const old = await database.readAll('e')
  const began = (await store.find('e', undefined))?.now ?? 0
  reader.invalidate('e', database.write('e', 2))
  store.offer('e', old, began)
  assert.equal(await valueAt(reader, 'e'), 2)
})

test('a new process and one that missed something believe only what is read from then on', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { database, processes, stores } = await openProcesses(context, (await valkey()).url, 2)
  const [one, other] = processes
  assert.ok(one !== undefined && other !== undefined)
  database.write('e', 1)
  await one.load('e')
  await settled(stores)
  database.write('e', 2) // Nobody hears of it.
  other.invalidateAll()
  assert.equal(await valueAt(other, 'e'), 2)
  await settled(stores)
  const before = database.reads
  assert.equal(await valueAt(other, 'e'), 2)
  assert.equal(database.reads, before)
})

test('numbers of a database that begins anew do not make its old entries new', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const namespace = randomUUID()
  const { url } = await valkey()
  const former = await openProcesses(context, url, 1, { namespace })
  former.database.commits = 1_000_000
  former.database.write('e', 1)
  await former.processes[0]?.load('e')
  await settled(former.stores)
  const restored = await openProcesses(context, url, 1, { namespace })
  restored.database.write('e', 2)
  const [process] = restored.processes
  assert.ok(process !== undefined)
  assert.equal(await valueAt(process, 'e'), 2)
})

test('an entity that is gone is taken out', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { database, processes, stores } = await openProcesses(context, (await valkey()).url, 1)
  database.write('e', 1)
  const [process] = processes
  const [store] = stores
  await process?.load('e')
  await settled(stores)
  const anyAge = { commit: 0, began: 0 }
  assert.ok((await store?.find('e', anyAge))?.read !== undefined)
  process?.forget('e')
  assert.equal((await store?.find('e', anyAge))?.read, undefined)
})

test('entries that no Millrace wrote are none', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const { url } = await valkey()
  const { Redis } = await import('ioredis')
  const namespace = randomUUID()
  const other = new Redis(url)
  context.after(() => other.disconnect())
  const { shared } = await connect(context, url, { namespace })
  for (const text of ['', 'x', '1 2\n', '1 2\n{}', '1 2\n[[9,"a","LONG","1",1]]', '1 2\n[[1,"a","LONG","1"']) {
    await other.set(`millrace:${namespace}:attributes:e`, text)
    assert.equal((await shared.find('e', { commit: 0, began: 0 }))?.read, undefined, text)
  }
})

test('whoever changes what, with changes heard late: nobody is served what it heard is over', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const random = seededRandom(7)
  const { database, processes } = await openProcesses(context, (await valkey()).url, 3)
  const late: (() => void)[] = []
  /** The last value that a process heard of, by its place and the entity. */
  const heard = new Map<string, number>()
  for (let step = 1; step <= 1_500; step++) {
    const place = Math.floor(random.next() * processes.length)
    const process = processes[place]
    const entityId = `e${random.between(0, 3)}`
    assert.ok(process !== undefined)
    const choice = random.next()
    if (choice < 0.25) {
      const commit = database.write(entityId, step)
      process.apply(commit, saved(entityId, 'a', step))
      heard.set(`${place} ${entityId}`, step)
      for (const [other, cache] of processes.entries()) {
        if (other === place) continue
        late.push(() => {
          cache.invalidate(entityId, commit)
          heard.set(`${other} ${entityId}`, Math.max(step, heard.get(`${other} ${entityId}`) ?? 0))
        })
      }
    } else if (choice < 0.5) late.splice(Math.floor(random.next() * late.length), 1)[0]?.()
    else {
      const least = heard.get(`${place} ${entityId}`) ?? 0
      const value = Number((await valueAt(process, entityId)) ?? 0)
      assert.ok(value >= least, `step ${step}: ${value}, and ${least} was heard`)
    }
  }
  assert.ok(database.reads < 700, `${database.reads} reads of the database`)
})

test('a server that hangs costs one time-out, then the database answers, and nothing is wrong when it is back', async (context) => {
  if (!requireOwnServer(context, 'valkey')) return
  const own = await startValkey()
  context.after(() => own.stop())
  // The rest behind a time-out lasts, however long the machine takes over the reads.
  const standing: Clock = {
    now: () => systemClock.now(),
    monotonic: () => 0,
    after: (delayMs, run) => systemClock.after(delayMs, run),
    soon: (run) => systemClock.soon(run),
  }
  const { database, processes, stores } = await openProcesses(context, own.url, 2, { readTimeoutMs: 150 }, standing)
  const [one, other] = processes
  assert.ok(one !== undefined && other !== undefined)
  database.write('e', 1)
  await other.load('e')
  await settled(stores)
  own.pause()
  one.apply(database.write('e', 2), saved('e', 'a', 2))
  other.invalidate('e', database.commits)
  assert.equal(await valueAt(one, 'e'), 2)
  const waited = stores[0]?.figures()
  assert.ok(waited !== undefined && waited.failures > 0)
  for (let round = 1; round < 50; round++) assert.equal(await valueAt(one, 'e'), 2)
  const { failures, skipped } = stores[0]?.figures() ?? assert.fail()
  assert.deepEqual([failures - waited.failures, skipped - waited.skipped], [0, 49])
  own.resume()
  assert.equal(await valueAt(other, 'e'), 2)
})

test('a server that is killed and comes back is used again', async (context) => {
  if (!requireOwnServer(context, 'valkey')) return
  const own = await startValkey()
  context.after(() => own.stop())
  const { database, processes, stores } = await openProcesses(context, own.url, 1)
  const [process] = processes
  const [store] = stores
  assert.ok(process !== undefined && store !== undefined)
  await own.kill()
  database.write('e', 1)
  assert.equal(await valueAt(process, 'e'), 1)
  await own.restart()
  await store.ready()
  while ((await store.find('e', { commit: 0, began: 0 }))?.read === undefined)
    assert.equal(await valueAt(process, 'e'), 1)
})

test('a connection that breaks in the middle of an answer wrongs nothing', async (context) => {
  if (!requireServer(context, 'valkey')) return
  const proxy: FaultProxy = await startFaultProxy({ target: (await valkey()).url })
  context.after(() => proxy.close())
  const { database, processes, stores } = await openProcesses(context, proxy.url, 1)
  const [process] = processes
  assert.ok(process !== undefined)
  const length = 200
  const check = (rows: AttributesAsOf, round: number): void => {
    const byKey = rows.attributes.get('SERVER_SCOPE') ?? new Map<string, ScopedAttribute>()
    assert.equal(byKey.size, length)
    for (const { value } of byKey.values()) assert.equal(value, round)
  }
  for (let round = 0; round < 8; round++) {
    database.rows.set(
      'e',
      Array.from({ length }, (_, index) => attribute(`k${index}`, round)),
    )
    process.invalidate('e', ++database.commits)
    await process.load('e')
    await settled(stores)
    proxy.cutAfter(100 + round * 700, 'toClient')
    check(await process.load('e'), round)
    await stores[0]?.ready()
  }
})

test('a server that is not there stops nothing', async (context) => {
  const { shared, told } = await connect(context, 'redis://127.0.0.1:1')
  assert.equal(shared.connected, false)
  const cache = new SharedAttributeCache(async () => ({ rows: [attribute('a', 1)], sequence: 1 }), MAX_BYTES, shared)
  assert.deepEqual(valuesOf((await cache.load('e')).attributes), { a: 1 })
  assert.match(told[0]?.text ?? '', /^Redis does not answer/)
  assert.equal(told.length, 1, 'once an outage')
})

for (const [maxmemoryPolicy, maxmemory, advice] of [
  ['noeviction', '64mb', /^set maxmemory-policy to allkeys-random .*noeviction/],
  ['volatile-lru', '64mb', /^set maxmemory-policy to allkeys-random .*volatile-lru/],
  ['allkeys-lru', '0', /^set maxmemory:/],
  ['allkeys-random', '64mb', undefined],
] as const) {
  test(`the start says what to set with maxmemory-policy ${maxmemoryPolicy} and maxmemory ${maxmemory}`, async (context) => {
    if (!requireOwnServer(context, 'valkey')) return
    const own = await startValkey({ maxmemoryPolicy, maxmemory, password: 'secret' })
    context.after(() => own.stop())
    const { shared, told } = await connect(context, own.url, { password: 'secret' })
    await settled([shared])
    await settled([shared])
    const given = told
      .filter(({ text }) => text === 'Redis is not set up as a cache')
      .map(({ fields }) => fields?.['advice'])
    assert.equal(given.length, advice === undefined ? 0 : 1)
    if (advice !== undefined) assert.match(String(given[0]), advice)
  })
}

test('a server too busy to say how it is set up is asked again', async (context) => {
  let asked = 0
  const busy = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      for (const command of bytes
        .toString('latin1')
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        if (!/info\r\n/i.test(command) || /setinfo/i.test(command)) socket.write('+OK\r\n')
        // The first is the client's own look whether the server has loaded its data; the second stays without an answer.
        else if (++asked !== 2) socket.write(bulk('maxmemory:1\r\nmaxmemory_policy:noeviction\r\n'))
        else setTimeout(() => socket.write(bulk('maxmemory:1\r\n')), 300)
      }
    })
  })
  await once(busy.listen(0, '127.0.0.1'), 'listening')
  context.after(() => busy.close())
  const { port } = z.object({ port: z.number() }).parse(busy.address())
  const { told } = await connect(context, `redis://127.0.0.1:${port}`, { readTimeoutMs: 100 })
  const advices = () => told.filter(({ text }) => text === 'Redis is not set up as a cache')
  while (advices().length === 0) await pause(10)
  assert.match(String(advices()[0]?.fields?.['advice']), /^set maxmemory-policy to allkeys-random/)
})

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`
}
