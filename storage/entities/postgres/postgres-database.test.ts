import assert from 'node:assert/strict'
import { DECLARED_TABLES } from '../../../services/entities/declared.ts'
import { createHash } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { isMillraceError } from '../../../model/errors.ts'
import { Message } from '../../../model/message.ts'
import { TRANSFER_LINES, TRANSFERS } from '../../../services/import/positions.ts'
import { insertTenant } from '../../../services/testkit.ts'
import { PostgresConnection } from '../../postgres/connection.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { requireOwnServer, startPostgres } from '../../../test/support/servers/index.ts'
import { until } from '../../../test/support/until.ts'
import { attribute, deviceOf, household, insertionOf, pageOfDevices } from '../contract-testkit.ts'
import { openPostgresEntityStore, type EntityStore } from '../entity-store.ts'

const server = await serverForFile()
const skip = { skip: server === undefined }
const settings = { applicationName: 'test', clock: { now: () => 1_700_000_000_000 } }

async function stores(context: TestContext, count: number): Promise<{ all: EntityStore[]; url: string }> {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  // All at once, as processes of one cluster start.
  const all = await Promise.all(
    Array.from({ length: count }, () => openPostgresEntityStore({ ...settings, url, tables: DECLARED_TABLES })),
  )
  context.after(() => Promise.all(all.map((store) => store.close())))
  return { all, url }
}

async function store(context: TestContext): Promise<EntityStore> {
  const [only] = (await stores(context, 1)).all
  assert.ok(only !== undefined)
  return only
}

test(
  'processes that open an empty database at once share one schema and see each other’s writes',
  skip,
  async (context) => {
    const { all } = await stores(context, 5)
    await Promise.all(all.map((each, index) => each.settings.put(`s${index}`, index)))
    for (const each of all) {
      for (const index of all.keys()) assert.equal(await each.settings.find(`s${index}`), index)
    }
    const agreed = await Promise.all(all.map((each, index) => each.settings.putIfAbsent('key', index)))
    assert.equal(new Set(agreed).size, 1)
  },
)

test('what one process committed is in every later read of another, by its number too', skip, async (context) => {
  const { all } = await stores(context, 2)
  const [mine, other] = all
  assert.ok(mine !== undefined && other !== undefined)
  let last = 0
  for (let value = 1; value <= 20; value++) {
    const writer: EntityStore = value % 2 === 0 ? mine : other
    const reader: EntityStore = value % 2 === 0 ? other : mine
    const { sequence } = await writer.write([writer.attributes.save([attribute('e', 'k', value, value)])])
    assert.ok(sequence > last, 'numbers rise over the processes')
    last = sequence
    const read = await reader.attributes.all('e')
    assert.deepEqual(
      read.rows.map((row) => row.value),
      [value],
    )
    assert.ok(read.sequence >= sequence)
  }
})

test('processes that write the same rows in opposite orders all come through', skip, async (context) => {
  const { all } = await stores(context, 3)
  const keys = Array.from({ length: 30 }, (_, index) => `k${index}`)
  const writes = all.flatMap((each, process) =>
    Array.from({ length: 20 }, (_, round) => {
      const order = (process + round) % 2 === 0 ? keys : [...keys].reverse()
      const sequence = round * all.length + process + 1
      // Statements of one row each: these keep their order, so that transactions can meet crosswise.
      return each.write(order.map((key) => each.attributes.save([attribute('e', key, sequence, sequence)])))
    }),
  )
  await Promise.all(writes)
  const [first] = all
  const { rows } = (await first?.attributes.all('e')) ?? { rows: [] }
  assert.deepEqual(
    rows.map((row) => row.value),
    keys.map(() => 60),
  )
})

test('one save may hold a key several times: each write is judged in its turn', skip, async (context) => {
  const entities = await store(context)
  const statement = entities.attributes.save([
    attribute('e', 'k', 1, 5),
    attribute('e', 'other', 7, 1),
    attribute('e', 'k', 2, 4),
    attribute('e', 'k', 3, 6),
  ])
  const { results } = await entities.write([statement])
  assert.deepEqual(results[0], { changes: 3, rows: [], untouched: [2] })
  assert.deepEqual(
    (await entities.attributes.all('e')).rows.map((row) => row.value),
    [3, 7],
  )
})

test('texts that PostgreSQL cannot hold come back as they were, and are found by them', skip, async (context) => {
  const entities = await store(context)
  const { tenant, profile } = await household(entities)
  const device = { ...deviceOf(tenant, profile, 'a\u0000b \u001a \ud800 🌡️'), label: '\u0000' }
  await entities.write([insertionOf(entities, device)])
  const found = (await pageOfDevices(entities, tenant.id, { pageSize: 1, page: 0, textSearch: device.name })).data[0]
  assert.equal(found?.label, '\u0000')
  assert.equal(found.name, device.name)
})

test(
  'a text too long for an index is the sender’s fault, and costs its own transaction alone',
  skip,
  async (context) => {
    const entities = await store(context)
    // Text that does not compress.
    const long = Array.from({ length: 100 }, (_, index) =>
      createHash('sha256').update(String(index)).digest('base64'),
    ).join('')
    const before = entities.write([entities.attributes.save([attribute('e', 'before', 1, 1)])])
    const bad = entities.write([entities.attributes.save([attribute('e', long, 1, 1)])])
    const after = entities.write([entities.attributes.save([attribute('e', 'after', 1, 1)])])
    await assert.rejects(bad, { code: 'entities.CONSTRAINT', kind: 'invalid' })
    await Promise.all([before, after])
    assert.equal((await entities.attributes.all('e')).rows.length, 2)
  },
)

test('many refused at once are each sent a few times, between others that are committed', skip, async (context) => {
  const entities = await store(context)
  const { tenant, profile } = await household(entities)
  const taken = deviceOf(tenant, profile, 'taken')
  await entities.write([insertionOf(entities, taken)])
  const sent = context.mock.method(PostgresConnection.prototype, 'queries')
  const writes = Array.from({ length: 400 }, (_, index) => {
    const name = index % 40 === 20 ? `free ${index}` : taken.name
    return entities.write([insertionOf(entities, deviceOf(tenant, profile, name))])
  })
  const outcomes = await Promise.allSettled(writes)
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
  assert.equal((await pageOfDevices(entities, tenant.id, { pageSize: 1, page: 0 })).totalElements, 11)
  const queries = sent.mock.calls.reduce((sum, { arguments: [some] }) => sum + some.length, 0)
  // One insert a write, four queries around each transaction; sent again for each refusal before it, it was 80,000.
  assert.ok(queries < 400 * 10, `${queries} queries`)
})

test('inserts that wait together go as one statement a table, each with its own answer', skip, async (context) => {
  const entities = await store(context)
  const { tenant, profile } = await household(entities)
  const devices = Array.from({ length: 100 }, (_, index) => deviceOf(tenant, profile, `device ${index} \u0000`))
  const message = (index: number) =>
    new Message({
      ...{ id: `m${index}`, ts: 1, type: 'ENTITY_CREATED', tenantId: tenant.id, metadata: {}, data: `${index}` },
      originator: { entityType: 'DEVICE', id: devices[index]?.id ?? '' },
    })
  const sent = context.mock.method(PostgresConnection.prototype, 'queries')
  const written = await Promise.all(
    devices.map((device, index) => {
      const attributes = [attribute(device.id, 'one', index, 5), attribute(device.id, 'two', 1, 1)]
      const saved = entities.attributes.save(attributes)
      return entities.write([insertionOf(entities, device), entities.outbox.add(message(index)), saved])
    }),
  )
  const queries = sent.mock.calls.reduce((sum, { arguments: [some] }) => sum + some.length, 0)
  // Around each transaction are four.
  assert.ok(queries < 20, `${queries} queries`)
  const there = await entities.outbox.after(0, 1000)
  for (const [index, each] of written.entries()) {
    const entry = there.find(({ id }) => id === entities.outbox.addedId(each, 1))
    assert.equal(entry?.message.data, String(index))
    assert.deepEqual(each.results[0], { changes: 1, rows: [], untouched: [] })
    assert.deepEqual(each.results[2], { changes: 2, rows: [], untouched: [] })
  }
  const older = (index: number) => [
    attribute(devices[index]?.id ?? '', 'new', 1, 4),
    attribute(devices[index]?.id ?? '', 'one', 1, 4),
  ]
  const late = await Promise.all([1, 2, 3].map((index) => entities.write([entities.attributes.save(older(index))])))
  for (const { results } of late) assert.deepEqual(results, [{ changes: 1, rows: [], untouched: [1] }])
  const page = await pageOfDevices(entities, tenant.id, { pageSize: 1000, page: 0 })
  assert.deepEqual(page.data.map(({ name }) => name).sort(), devices.map(({ name }) => name).sort())
  assert.equal(await entities.tenantCounts.count(tenant.id, 'device'), 100)
  await entities.write([entities.outbox.remove(there.slice(1).map(({ id }) => id))])
  assert.equal(await entities.outbox.size(), 1)
})

test('one refused among inserts that go together costs itself alone', skip, async (context) => {
  const entities = await store(context)
  const { tenant, profile } = await household(entities)
  const names = Array.from({ length: 50 }, (_, index) => (index === 20 ? 'device 7' : `device ${index}`))
  const outcomes = await Promise.allSettled(
    names.map((name) => entities.write([insertionOf(entities, deviceOf(tenant, profile, name))])),
  )
  const refused = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))
  assert.deepEqual(refused, [20])
  assert.equal((await pageOfDevices(entities, tenant.id, { pageSize: 1, page: 0 })).totalElements, 49)
})

test(
  'a number that no column holds costs its own transaction alone, also where several have one',
  skip,
  async (context) => {
    const entities = await store(context)
    const { tenant, profile } = await household(entities)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => {
        const device = deviceOf(tenant, profile, `device ${index}`)
        const createdTime = index === 3 || index === 4 ? 1e20 : 1
        return entities.write([insertionOf(entities, { ...device, createdTime })])
      }),
    )
    const refused = outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected'
        ? [[index, isMillraceError(outcome.reason) ? outcome.reason.code : outcome.reason]]
        : [],
    )
    assert.deepEqual(refused, [
      [3, 'entities.CONSTRAINT'],
      [4, 'entities.CONSTRAINT'],
    ])
  },
)

test(
  'what goes in only while another row is as it was is seen by whoever changes that row next',
  skip,
  async (context) => {
    const { all } = await stores(context, 2)
    const [mine, other] = all
    assert.ok(mine !== undefined && other !== undefined)
    const { tenant } = await household(mine)
    const unexpected = () => new Error('it was as it was')
    const errors = { taken: {}, overtaken: unexpected }
    const identity = { created_time: 1, version: 1, tenant_id: tenant.id }
    const counts = { position: 0, created: 0, updated: 0, refused: 0, last_from: 0, last_errors: '[]', moved_time: 1 }
    const transfer = { id: 'transfer', ...identity, name: 'file', ...counts }
    await mine.write([mine.rows(TRANSFERS, errors).insert(transfer)])
    const lineOf = (line: number) => ({
      id: `line ${line}`,
      ...identity,
      transfer_id: transfer.id,
      line,
      is_new: 1,
      series_left: 0,
    })
    const held = { table: TRANSFERS.name, where: { id: transfer.id, version: 1 } }
    const insertion = (line: number) => mine.rows(TRANSFER_LINES, errors).insertWhile(lineOf(line), held, unexpected)
    // These go as one statement.
    await Promise.all([1, 2, 3].map((line) => mine.write([insertion(line)])))
    const marked = mine.write([insertion(4), { sql: 'select pg_sleep(1)', parameters: [], returnsRows: true }])
    const sleeping = `select 1 from pg_stat_activity where datname = current_database() and query = 'select pg_sleep(1)' and state = 'active'`
    await until(async () => {
      const { results } = await other.write([{ sql: sleeping, parameters: [], returnsRows: true }])
      return results[0]?.rows.length === 1
    })
    await other.write([other.rows(TRANSFERS, errors).update({ ...transfer, version: 2 })])
    const lines = await other.rows(TRANSFER_LINES, errors).findAll([{ column: 'transfer_id', is: transfer.id }])
    assert.deepEqual(
      lines.toSorted((a, b) => Number(a['line']) - Number(b['line'])),
      [1, 2, 3, 4].map(lineOf),
    )
    await marked
  },
)

test('refuses a schema that a newer program made', skip, async (context) => {
  const { url } = await stores(context, 1)
  const connection = new PostgresConnection({ url, applicationName: 'test' })
  await connection.query({ text: `insert into schema_version values ('entities', 999, 1)` })
  await connection.close()
  await assert.rejects(openPostgresEntityStore({ ...settings, url, tables: DECLARED_TABLES }), {
    code: 'postgres.SCHEMA_NEWER',
    message: /has version 999, this program knows versions up to \d+/,
  })
})

test('a server killed under writes loses nothing acknowledged, and serves again once it is back', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const own = await startPostgres()
  context.after(() => own.stop())
  const entities = await openPostgresEntityStore({ ...settings, url: own.url, tables: DECLARED_TABLES })
  context.after(() => entities.close())
  let acknowledged = 0
  let killed: Promise<void> | undefined
  for (let counter = 1; killed === undefined || acknowledged === counter - 1; counter++) {
    try {
      await entities.settings.put('counter', counter)
      acknowledged = counter
      if (counter === 50) killed = own.kill()
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'entities.UNAVAILABLE', String(error))
      assert.equal((error as { isOutage?: boolean }).isOutage, true)
    }
  }
  await killed
  await assert.rejects(entities.settings.find('counter'), { code: 'entities.UNAVAILABLE', kind: 'retryable' })
  await own.restart()
  const stored = Number(await entities.settings.find('counter'))
  assert.ok(stored === acknowledged || stored === acknowledged + 1, `stored ${stored}, acknowledged ${acknowledged}`)
  await entities.settings.put('counter', 1_000)
  assert.equal(await entities.settings.find('counter'), 1_000)
})

test('where there is no server the open says so in time', async () => {
  const url = 'postgres://nobody@127.0.0.1:1/none'
  await assert.rejects(openPostgresEntityStore({ ...settings, url, serverWithinMs: 0, tables: DECLARED_TABLES }), {
    code: 'postgres.UNAVAILABLE',
    message: /ECONNREFUSED/,
  })
})

const dashboard = (tenantId: string, id: string) => ({
  sql: `insert into dashboard (id, created_time, version, tenant_id, title, mobile_hide, configuration, was_assigned)
    values ('${id}', 1, 1, '${tenantId}', '${id}', 0, '{}', 0)`,
  parameters: [],
})

async function rowsOf(of: EntityStore, sql: string): Promise<readonly unknown[]> {
  const { results } = await of.write([{ sql, parameters: [], returnsRows: true }])
  return results[0]?.rows ?? []
}

test(
  'a limit holds to the row, and processes that take tenants in opposite orders never deadlock',
  skip,
  async (context) => {
    const { all } = await stores(context, 2)
    const [first] = all
    assert.ok(first !== undefined)
    const tenants = ['t1', 't2', 't3', 't4']
    const limit = 30
    await first.write(tenants.map((id) => insertTenant(first, id, id)))
    const refused = new Error('refused')
    const slow = { sql: 'select pg_sleep(0.03)', parameters: [], returnsRows: true }
    const create = async (store: EntityStore, tenantId: string, id: string, round: number): Promise<boolean> => {
      try {
        const guard = store.tenantCounts.guard(tenantId, 'dashboard', limit, () => refused)
        // The first take so long that those of both processes are under way together.
        await store.write([guard, dashboard(tenantId, id), ...(round === 0 ? [slow] : [])])
        return true
      } catch (error) {
        if (error === refused) return false
        throw error
      }
    }
    const tries = Array.from({ length: 20 }, (_, round) =>
      all.flatMap((store, process) =>
        (process === 0 ? tenants : tenants.toReversed()).map((tenantId) =>
          create(store, tenantId, `${tenantId} ${process} ${round}`, round),
        ),
      ),
    ).flat()
    const made = (await Promise.all(tries)).filter((isMade) => isMade).length
    assert.equal(made, tenants.length * limit)
    const there = 'select tenant_id, count(*) as n from dashboard group by tenant_id order by tenant_id'
    assert.deepEqual(
      await rowsOf(first, there),
      tenants.map((id) => ({ tenant_id: id, n: limit })),
    )
    for (const id of tenants) assert.equal(await first.tenantCounts.count(id, 'dashboard'), limit)
    // The server reports these when a connection is idle: its own numbers are forced out first.
    await rowsOf(first, 'select pg_stat_force_next_flush()')
    const [met] = await rowsOf(first, 'select deadlocks from pg_stat_database where datname = current_database()')
    assert.deepEqual(met, { deadlocks: 0 })
  },
)

test('what a process counted that ended becomes one row with a later start', skip, async (context) => {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  for (const id of ['a', 'b', 'c']) {
    const ended = await openPostgresEntityStore({ ...settings, url, tables: DECLARED_TABLES })
    await ended.write([dashboard('t1', id)])
    await ended.close()
  }
  const last = await openPostgresEntityStore({ ...settings, url, tables: DECLARED_TABLES })
  context.after(() => last.close())
  let rows: readonly unknown[] = []
  // The server shows a connection for a moment longer than it is there.
  await until(async () => {
    await last.tenantCounts.fold()
    rows = await rowsOf(last, 'select writer, n from tenant_count')
    return rows.length === 1
  })
  assert.deepEqual(rows, [{ writer: 0, n: 3 }])
})

test('a limit holds where the server begins transactions as repeatable reads', skip, async (context) => {
  const { all, url } = await stores(context, 1)
  const name = new URL(url).pathname.slice(1)
  await all[0]?.write([
    { sql: `alter database ${name} set default_transaction_isolation = 'repeatable read'`, parameters: [] },
  ])
  const processes = await Promise.all(
    [1, 2].map(() => openPostgresEntityStore({ ...settings, url, tables: DECLARED_TABLES })),
  )
  context.after(() => Promise.all(processes.map((each) => each.close())))
  const [first] = processes
  assert.ok(first !== undefined)
  await first.write([insertTenant(first, 't1', 't1')])
  const refused = new Error('refused')
  const slow = { sql: 'select pg_sleep(0.3)', parameters: [], returnsRows: true }
  const made = await Promise.allSettled(
    processes.map((each, index) =>
      each.write([each.tenantCounts.guard('t1', 'dashboard', 1, () => refused), dashboard('t1', `d${index}`), slow]),
    ),
  )
  const failed = made.find((each) => each.status === 'rejected')
  assert.ok(failed !== undefined, 'both found room')
  assert.equal(failed.reason, refused)
  assert.ok(made.some((each) => each.status === 'fulfilled'))
})
