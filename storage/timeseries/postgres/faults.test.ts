import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import { requireOwnServer, startPostgres, type RunningServer } from '../../../test/support/servers/index.ts'
import { long, raw, write } from '../contract.ts'
import { openPostgresTimeSeries, type PostgresTimeSeries, type PostgresTimeSeriesOptions } from './store.ts'

async function serverAndStore(
  context: TestContext,
  options: Partial<PostgresTimeSeriesOptions> = {},
): Promise<{ server: RunningServer; store: PostgresTimeSeries }> {
  const server = await startPostgres()
  context.after(() => server.stop())
  const settings = { url: server.url, applicationName: 'test', clock: systemClock, ...options }
  const store = await openPostgresTimeSeries(settings)
  context.after(() => store.close())
  return { server, store }
}

/** Writes one point after the other until the store refuses; says how many were acknowledged, and with what it ended. */
async function writeUntilRefused(store: PostgresTimeSeries, entity: string, start: number, heard: () => void) {
  for (let next = start; ; next++) {
    try {
      await store.write([write(entity, [long('k', next, next)], { sequence: next + 1 })])
      heard()
    } catch (error) {
      return { next, error }
    }
  }
}

test('a server killed in the middle of writes loses nothing acknowledged, and is used again once it is back', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const { server, store } = await serverAndStore(context)
  const series = Array.from({ length: 8 }, () => ({ entity: randomUUID(), next: 0 }))
  for (let round = 1; round <= 3; round++) {
    let acknowledged = 0
    let killed: Promise<void> | undefined
    const writers = series.map(async (each) => {
      const { next, error } = await writeUntilRefused(store, each.entity, each.next, () => {
        if (++acknowledged === 100 * round) killed = server.kill()
      })
      each.next = next
      assert.equal((error as { kind?: string }).kind, 'retryable', String(error))
      assert.equal((error as { isOutage?: boolean }).isOutage, true, String(error))
    })
    await Promise.all(writers)
    await killed
    await assert.rejects(store.latest(series[0]?.entity ?? '', undefined), { code: 'postgres.UNAVAILABLE' })
    await server.restart()
    for (const { entity, next } of series) {
      // The refused one is written again: whether it was stored the first time, nobody knows.
      await store.write([write(entity, [long('k', next, next)], { sequence: next + 1 })])
      const { value } = await store.history(entity, raw(['k'], { limit: 1e6 }))
      const found = value.get('k')?.map((point) => point.value)
      assert.deepEqual(
        found,
        Array.from({ length: next + 1 }, (_, number) => number),
        `round ${round}`,
      )
      assert.equal((await store.latest(entity, ['k'])).value[0]?.value, next)
    }
    for (const each of series) each.next++
  }
})

/** Asks again for as long as the server is away: one that goes on may still be slow. */
async function whileAway<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if ((error as { isOutage?: boolean }).isOutage !== true) throw error
    }
  }
}

test('a server that is stopped is given up after the time for an answer, and used again when it goes on', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const { server, store } = await serverAndStore(context, { answerWithinMs: 4_000, connectWithinMs: 4_000 })
  const entity = randomUUID()
  await whileAway(() => store.write([write(entity, [long('k', 1, 1)])]))
  server.pause()
  await Promise.all([
    assert.rejects(store.write([write(entity, [long('k', 2, 2)])]), { code: 'postgres.UNAVAILABLE' }),
    assert.rejects(store.latest(entity, undefined), { code: 'postgres.UNAVAILABLE' }),
  ])
  await assert.rejects(store.write([write(entity, [long('k', 2, 2)])]), { code: 'postgres.UNAVAILABLE' })
  server.resume()
  await whileAway(() => store.write([write(entity, [long('k', 3, 3)])]))
  assert.equal((await whileAway(() => store.latest(entity, ['k']))).value[0]?.value, 3)
})
