/** What is away, suspended, refused or set otherwise: what is told, and that nothing acknowledged is lost. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, request, type Server } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { MillraceError } from '../../../model/errors.ts'
import { requireOwnServer } from '../../../test/support/servers/index.ts'
import { startQuestDb } from '../../../test/support/servers/questdb.ts'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { long, raw, write } from '../contract.ts'
import { shardOf } from './shards.ts'
import { freshPlace, openedStore, serversForFile, type Servers } from './testkit.ts'
import type { QuestDbTimeSeries, QuestDbTimeSeriesOptions } from './store.ts'

const servers = await serversForFile({ settings: { 'dev.mode.enabled': 'true' } }) // Without it no table can be suspended by hand.
const OUTAGE = { kind: 'retryable', isOutage: true }

function check(sentence: string, run: (context: TestContext, servers: Servers) => Promise<void>): void {
  test(sentence, { skip: servers === undefined }, async (context) => {
    assert.ok(servers !== undefined)
    await run(context, servers)
  })
}

async function times(store: QuestDbTimeSeries, entity: string): Promise<readonly number[]> {
  const { value } = await store.history(entity, raw(['k'], { limit: 1_000_000 }))
  return (value.get('k') ?? []).map(({ ts }) => ts)
}

/** Asks again for as long as the store says that something is away: what is well again may still be slow. */
async function whileAway<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error as MillraceError).isOutage) throw error
    }
  }
}

/** Resolves with what the store tells next. */
function watched(): {
  readonly onTrouble: NonNullable<QuestDbTimeSeriesOptions['onTrouble']>
  next(): Promise<string>
} {
  const told: string[] = []
  let hear: (() => void) | undefined
  return {
    onTrouble: (reason) => {
      told.push(reason ?? 'well')
      hear?.()
    },
    next: async () => {
      while (told.length === 0) {
        await new Promise<void>((resolve) => {
          hear = resolve
        })
      }
      return String(told.shift())
    },
  }
}

check("points that QuestDB refuses are their writer's error, and its neighbours are stored", async (context, own) => {
  const proxy = await refusing(context, own.questdb.url, 'poison')
  const { store } = await openedStore(context, own, { url: proxy })
  const entities = Array.from({ length: 20 }, () => randomUUID())
  const bad = new Set([3, 4, 17])
  const outcomes = await Promise.allSettled(
    entities.map((entity, index) =>
      store.write([
        write(entity, [
          long('k', index, index),
          { key: 't', ts: 1, type: 'STRING', value: bad.has(index) ? 'poison' : '' },
        ]),
      ]),
    ),
  )
  for (const [index, outcome] of outcomes.entries()) {
    assert.equal(outcome.status, bad.has(index) ? 'rejected' : 'fulfilled', String(index))
    if (outcome.status === 'rejected') assert.equal((outcome.reason as MillraceError).code, 'questdb.POINTS_REFUSED')
    assert.deepEqual(await times(store, entities[index] ?? ''), bad.has(index) ? [] : [index])
  }
  assert.equal(store.figures().writesRefused, bad.size)
})

check('a number beyond 64 bits is refused before it meets anybody', async (context, own) => {
  const { store } = await openedStore(context, own)
  const entity = randomUUID()
  const [, rejected] = await Promise.allSettled([
    store.write([write(entity, [long('k', 1, 1)])]),
    store.write([write(entity, [long('k', 2, 2n ** 63n)])]),
  ])
  assert.equal(rejected.status === 'rejected' && (rejected.reason as MillraceError).kind, 'invalid')
  assert.deepEqual(await times(store, entity), [1])
})

check(
  'D9: a table whose log is no longer applied is told, takes no writes, and has them all once it is resumed',
  async (context, own) => {
    const watch = watched()
    const { store, place } = await openedStore(context, own, {
      watchMs: 20,
      onTrouble: watch.onTrouble,
      applyTimeoutMs: 2000,
    })
    const entity = randomUUID()
    await store.write([write(entity, [long('k', 1, 1)])])
    await whileAway(() => store.history(entity, raw(['k'])))
    await place.questdb.execute(`alter table ${place.table} suspend wal`)
    assert.match(await watch.next(), /suspended/)
    await assert.rejects(store.write([write(entity, [long('k', 2, 2)])]), { ...OUTAGE, code: 'questdb.SUSPENDED' })
    assert.match(String(store.figures().trouble), /suspended/)
    // Acknowledged by QuestDB itself before anybody noticed: it is in its log.
    const [row] = await place.questdb.query(`select key from ${place.table} where entity = '${entity}'`)
    const start = `${place.table},shard=${shardOf(entity)} entity="${entity}",key=${String(row?.[0])}i`
    await place.questdb.write(`${start},kind=2i,long_v=3i 3000t\n`)
    await assert.rejects(store.history(entity, raw(['k'])), { ...OUTAGE, code: 'questdb.SUSPENDED' })
    await place.questdb.execute(`alter table ${place.table} resume wal`)
    assert.equal(await watch.next(), 'well')
    await untilStored(store, entity, 2)
    assert.deepEqual(await whileAway(() => times(store, entity)), [1, 2, 3])
  },
)

check('a table that was dropped or changed behind the store is told, and takes no writes', async (context, own) => {
  for (const [statement, told] of [
    [(table: string) => `alter table ${table} dedup disable`, /no deduplication/],
    [(table: string) => `alter table ${table} drop column text_v`, /text_v is absent/],
    [(table: string) => `drop table ${table}`, /absent/],
  ] as const) {
    const watch = watched()
    const { store, place } = await openedStore(context, own, { watchMs: 20, onTrouble: watch.onTrouble })
    await place.questdb.execute(statement(place.table))
    assert.match(await watch.next(), told)
    await assert.rejects(store.write([write(randomUUID(), [long('k', 1, 1)])]), OUTAGE)
    await store.close()
  }
})

check('a table that others made is refused at the open, with what differs', async (_, own) => {
  const place = await freshPlace(own)
  await place.questdb.execute(
    `create table ${place.table} (ts timestamp, shard symbol, entity uuid, key int, kind long) timestamp(ts) partition by day wal dedup upsert keys(ts, entity)`,
  )
  await assert.rejects(place.open(), { code: 'questdb.SCHEMA_UNKNOWN', message: /the column key is no key/ })
})

check(
  'a server that would forget in a power cut is refused where that counts, and taken where it does not',
  async (context, own) => {
    if (!requireOwnServer(context, 'questdb')) return
    const forgetful = await startQuestDb({ commitMode: 'nosync', settings: { 'cairo.ttl.use.wall.clock': 'false' } })
    context.after(() => forgetful.stop())
    const place = await freshPlace({ ...own, questdb: forgetful })
    await assert.rejects(place.open(), { code: 'questdb.NOT_DURABLE', message: /nosync/ })
    await assert.rejects(place.open({ durability: 'process-death', ttlSeconds: 86_400 }), {
      code: 'questdb.TTL_UNSAFE',
    })
    const store = await place.open({ durability: 'process-death' })
    await store.write([write(randomUUID(), [long('k', 1, 1)])])
    await store.close()
  },
)

check('an address that is none, and a server that does not answer, are told at the open', async (_, own) => {
  const place = await freshPlace(own)
  await assert.rejects(place.open({ url: 'tcp://127.0.0.1:9009' }), { code: 'questdb.URL_INVALID' })
  await assert.rejects(place.open({ url: 'http://127.0.0.1:1', serverWithinMs: 0 }), { code: 'questdb.UNREACHABLE' })
})

check('while a server is away writes are rejected as an outage, and all resumes by itself', async (context, own) => {
  if (!requireOwnServer(context, 'questdb', 'postgres')) return
  const { store } = await openedStore(context, own, { requestTimeoutMs: 2000 })
  const entity = randomUUID()
  await untilStored(store, entity, 0)
  let ts = 1
  for (const server of [own.questdb, own.postgres]) {
    await server.kill()
    await assert.rejects(store.write([write(entity, [long('k', ts, ts)])]), OUTAGE)
    await assert.rejects(store.history(entity, raw(['k'])), OUTAGE)
    await server.restart()
    await untilStored(store, entity, ts)
    ts++
  }
  assert.deepEqual(await whileAway(() => times(store, entity)), [0, 1, 2])
})

check('a QuestDB that sleeps for seconds is an outage, and what it slept over is stored once', async (context, own) => {
  if (!requireOwnServer(context, 'questdb')) return
  const { store } = await openedStore(context, own, { requestTimeoutMs: 1000 })
  const entity = randomUUID()
  await untilStored(store, entity, 0)
  own.questdb.pause()
  try {
    await assert.rejects(store.write([write(entity, [long('k', 1, 1)])]), { ...OUTAGE, code: 'questdb.UNREACHABLE' })
    await assert.rejects(times(store, entity), { ...OUTAGE, code: 'questdb.UNREACHABLE' })
  } finally {
    own.questdb.resume()
  }
  await untilStored(store, entity, 1)
  await untilStored(store, entity, 2)
  assert.deepEqual(await whileAway(() => times(store, entity)), [0, 1, 2])
})

check(
  'a QuestDB killed in the middle of writes loses nothing that was acknowledged, and nothing is there twice',
  async (context, own) => {
    if (!requireOwnServer(context, 'questdb')) return
    const random = seededRandom()
    const { store } = await openedStore(context, own, { requestTimeoutMs: 3000 })
    const acknowledged: { entity: string; ts: number }[] = []
    const entities = Array.from({ length: 8 }, () => randomUUID())
    for (let round = 0; round < 3; round++) {
      const killAfter = acknowledged.length + random.between(50, 400)
      let killed: Promise<void> | undefined
      const device = async (entity: string) => {
        for (let step = 0; killed === undefined; step++) {
          const ts = round * 1e6 + step
          try {
            await store.write([write(entity, [long('k', ts, ts), long('other', ts, ts)])])
            acknowledged.push({ entity, ts })
          } catch (error) {
            assert.equal((error as MillraceError).isOutage, true, String(error))
          }
          if (acknowledged.length >= killAfter) killed ??= own.questdb.kill()
        }
      }
      await Promise.all(entities.map(device))
      await killed
      await own.questdb.restart()
      await untilStored(store, randomUUID(), 1)
    }
    for (const entity of entities) {
      const found = await whileAway(() => times(store, entity))
      assert.equal(new Set(found).size, found.length, `duplicates, seed ${random.seed}`)
      const missing = acknowledged.filter((point) => point.entity === entity && !found.includes(point.ts))
      assert.deepEqual(missing, [], `seed ${random.seed}`)
    }
  },
)

/** Writes again for as long as the store says that something is away. */
async function untilStored(store: QuestDbTimeSeries, entity: string, ts: number): Promise<void> {
  await whileAway(() => store.write([write(entity, [long('k', ts, ts)])]))
}

/** QuestDB behind a proxy that answers 400 to lines with this word. */
async function refusing(context: TestContext, target: string, word: string): Promise<string> {
  const server: Server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      if (body.includes(word)) {
        outgoing.writeHead(400).end(`no ${word} here`)
        return
      }
      const headers = { ...incoming.headers, host: new URL(target).host }
      const passed = request(
        new URL(incoming.url ?? '/', target),
        { method: incoming.method ?? 'GET', headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing)
        },
      )
      passed.on('error', (error) => outgoing.destroy(error))
      passed.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return `http://127.0.0.1:${address.port}`
}
