import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import type { DataPoint } from '../../../model/value.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { long, raw, write } from '../contract.ts'
import { openPostgresTimeSeries, type PostgresTimeSeries } from './store.ts'

const server = await serverForFile()
const skip = { skip: server === undefined }

async function opened(context: TestContext, maxAnswerBytes?: number): Promise<PostgresTimeSeries> {
  assert.ok(server !== undefined)
  const bound = maxAnswerBytes === undefined ? {} : { maxAnswerBytes }
  const url = await emptyDatabase(server)
  const store = await openPostgresTimeSeries({ url, applicationName: 'test', clock: systemClock, ...bound })
  context.after(() => store.close())
  return store
}

const text = (ts: number, length: number): DataPoint => ({ key: 't', ts, type: 'STRING', value: 'x'.repeat(length) })

test('issue-8 2.2: raw history is bounded in bytes, and says so', skip, async (context) => {
  const store = await opened(context, 3e6)
  const entity = randomUUID()
  await store.write([
    write(
      entity,
      Array.from({ length: 40 }, (_, ts) => text(ts, 100_000)),
    ),
  ])
  await assert.rejects(store.history(entity, raw(['t'])), {
    code: 'timeseries.ANSWER_TOO_BIG',
    status: 400,
    message: /3000000 bytes/,
  })
  const { value } = await store.history(entity, raw(['t'], { limit: 29, order: 'DESC' }))
  assert.deepEqual(
    value.get('t')?.map((point) => [point.ts, String(point.value).length]),
    Array.from({ length: 29 }, (_, index) => [39 - index, 100_000]),
  )
})

test('issue-8 2.2: a bound in bytes holds for points without texts too', skip, async (context) => {
  const store = await opened(context, 200_000)
  const entity = randomUUID()
  await store.write([
    write(
      entity,
      Array.from({ length: 4_000 }, (_, ts) => long('k', ts, ts)),
    ),
  ])
  await assert.rejects(store.history(entity, raw(['k'], { limit: 4_000 })), { kind: 'invalid', message: /bytes/ })
  assert.equal((await store.history(entity, raw(['k'], { limit: 3_000 }))).value.get('k')?.length, 3_000)
})

test('a large answer comes whole and in order, and many at once take turns', skip, async (context) => {
  const store = await opened(context)
  const entity = randomUUID()
  const times = Array.from({ length: 5_500 }, (_, ts) => ts)
  const points = times.flatMap((ts) => [long('a', ts, ts), long('b', ts, -ts)])
  const sequence = await store.write([write(entity, points), write(entity, [text(1, 2_000_000)])])
  const query = raw(['a', 't', 'b'], { limit: 1e6, order: 'DESC' })
  const answers = await Promise.all(Array.from({ length: 7 }, () => store.history(entity, query)))
  for (const answer of answers) {
    assert.ok(answer.sequence >= sequence)
    assert.deepEqual(
      answer.value.get('a')?.map(({ ts }) => ts),
      times.toReversed(),
    )
    assert.equal(answer.value.get('b')?.length, times.length)
    assert.equal(String(answer.value.get('t')?.[0]?.value).length, 2_000_000)
  }
  await store.close()
  await assert.rejects(store.history(entity, query), { code: 'postgres.CLOSED' })
})
