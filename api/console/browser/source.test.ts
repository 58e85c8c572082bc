import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keysOf, source } from './source.js'

interface Topic {
  readonly command: (cmdId: number) => object
  readonly onFrame: (frame: object, isFirst: boolean) => void
}

test('a page that is left open keeps the newest points, not all that ever came', () => {
  const topics: Topic[] = []
  const live = {
    follow(topic: Topic) {
      topics.push(topic)
      return { again: () => undefined, end: () => undefined }
    },
    close: () => undefined,
  }
  const now = Date.now()
  const feed = source({
    live,
    filter: {},
    keyFilters: [],
    keys: keysOf([{ name: 't' }]),
    span: () => ({ isLive: true, startTs: now - 3_600_000, endTs: now, agg: 'NONE', limit: 10 }),
    onChange: () => undefined,
    onRefused: assert.fail,
  })
  const entity = (timeseries: object) => ({ entityId: { entityType: 'DEVICE', id: 'd' }, timeseries })
  const [topic] = topics
  topic?.command(1)
  topic?.onFrame({ data: { totalElements: 1, data: [entity({})] } }, true)
  for (let index = 0; index < 1_000; index++)
    topic?.onFrame({ update: [entity({ t: [{ ts: now - 1_000 + index, value: String(index) }] })] }, false)
  const values = (feed.told().lines[0]?.points ?? []).map(([, value]) => value)
  assert.ok(values.length >= 10 && values.length <= 20, `${values.length} points`)
  assert.deepEqual(
    values,
    values.map((_, index) => 1_000 - values.length + index),
  )
})
