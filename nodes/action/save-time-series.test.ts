import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { isMillraceError } from '../../model/errors.ts'
import { Message } from '../../model/message.ts'
import type { DataPoint, Entry } from '../../model/value.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft, TestContext } from '../testkit.ts'
import { saveStrategy } from './save-strategy.ts'
import { saveTimeSeries } from './save-time-series.ts'

const always: JsonObject = { processingSettings: { type: 'ON_EVERY_MESSAGE' } }

async function run(configuration: JsonObject, context: TestContext, ...drafts: readonly MessageDraft[]) {
  const instance = await createNode(saveTimeSeries, configuration, context)
  return runNode(instance, ...drafts.map(testMessage))
}

async function pointsFor(draft: MessageDraft, configuration = always): Promise<readonly DataPoint[]> {
  const context = testContext()
  const [result] = await run(configuration, context, draft)
  assert.equal(result?.error, undefined)
  return context.telemetrySaves.flatMap(({ points }) => points)
}

test('values keep the type of their text, also beyond 2^53', async () => {
  const data = '{"a":2,"b":2.0,"c":9223372036854775807,"d":"007","e":"x","f":true,"g":{"h":1.0}}'
  const points = await pointsFor({ data, ts: 5 })
  assert.deepEqual(points, [
    { key: 'a', type: 'LONG', value: 2, ts: 5 },
    { key: 'b', type: 'DOUBLE', value: 2, ts: 5 },
    { key: 'c', type: 'LONG', value: 9223372036854775807n, ts: 5 },
    { key: 'd', type: 'LONG', value: 7, ts: 5 },
    { key: 'e', type: 'STRING', value: 'x', ts: 5 },
    { key: 'f', type: 'BOOLEAN', value: true, ts: 5 },
    { key: 'g', type: 'JSON', value: '{"h":1.0}', ts: 5 },
  ])
})

test('a time in the body goes before the metadata, the metadata before the message', async () => {
  const timesOf = async (draft: MessageDraft) => (await pointsFor(draft)).map(({ ts }) => ts)
  assert.deepEqual(await timesOf({ ts: 5, data: '{"a":1}' }), [5])
  assert.deepEqual(await timesOf({ ts: 5, metadata: { ts: '6' }, data: '{"a":1}' }), [6])
  assert.deepEqual(await timesOf({ ts: 5, metadata: { ts: 'soon' }, data: '{"a":1}' }), [5])
  assert.deepEqual(
    await timesOf({ ts: 5, data: '[{"a":1},{"ts":-7,"values":{"a":2}},{"ts":8.9,"values":{"a":3}}]' }),
    [5, -7, 8],
  )
  const written = ['8.12345678901234567', '"8"', '[8]'].map((ts) => `{"ts":${ts},"values":{"a":1}}`)
  assert.deepEqual(await timesOf({ ts: 5, data: `[${written.join(',')}]` }), [8, 8, 8], 'as devices write it')
})

test('entries that a transport knew are saved as its text would be, and points are made of them where they are asked for', async () => {
  const context = testContext()
  const instance = await createNode(saveTimeSeries, always, context)
  const entries: readonly Entry[] = [
    { key: 'a', type: 'LONG', value: 2 },
    { key: 'b', type: 'DOUBLE', value: 0.5 },
  ]
  const data = '{"a":2,"b":0.5}'
  const draft = testMessage({ ts: 5, metadata: { ts: '6' }, data })
  const known = new Message({ ...draft, data }, { entries })
  await runNode(instance, known, testMessage({ ts: 5, metadata: { ts: '6' }, data }))
  const [save, read] = context.telemetrySaves
  assert.deepEqual([save?.entries, save?.ts, read?.entries], [entries, 6, undefined])
  assert.deepEqual(
    save?.points,
    entries.map((entry) => ({ ...entry, ts: 6 })),
  )
  assert.deepEqual(read?.points, save?.points)
  assert.equal(save?.points, save?.points, 'made once')
})

test('entries that a transport knew fail as their text would', async () => {
  const context = testContext()
  const instance = await createNode(saveTimeSeries, always, context)
  const cases: readonly (readonly [code: string, entries: readonly Entry[]])[] = [
    ['node.BODY_EMPTY', []],
    ['node.KEY_INVALID', [{ key: ' ', type: 'LONG', value: 2 }]],
    ['node.KEY_INVALID', [{ key: '<b>', type: 'LONG', value: 2 }]],
  ]
  const results = await runNode(
    instance,
    ...cases.map(([, entries]) => new Message({ ...testMessage({ data: '{}' }), data: '{}' }, { entries })),
  )
  assert.deepEqual(
    results.map(({ error }) => (isMillraceError(error) ? error.code : error)),
    cases.map(([code]) => code),
  )
  assert.deepEqual(context.telemetrySaves, [])
})

test('with server time only points without a time of their own get it', async () => {
  const now = testContext().clock.now()
  const points = await pointsFor(
    { ts: 5, data: '[{"a":1},{"ts":7,"values":{"a":2}}]' },
    { ...always, useServerTs: true },
  )
  assert.deepEqual(
    points.map(({ ts }) => ts),
    [now, 7],
  )
})

test('ts without values, and values without ts, are keys like any other', async () => {
  const keys = (await pointsFor({ data: '[{"ts":5,"a":1},{"values":{"b":1}}]' })).map(({ key }) => key)
  assert.deepEqual(keys, ['ts', 'a', 'values'])
})

test('entries that the decoder knew are taken as they are, without parsing the body again', async () => {
  const known = { entries: [{ key: 'a', type: 'DOUBLE', value: 1 }] } as const
  const points = await pointsFor({ data: 'not parsed at all', ts: 3, known })
  assert.deepEqual(points, [{ key: 'a', type: 'DOUBLE', value: 1, ts: 3 }])
})

test('a message that can not be stored as a whole is not stored in part', async () => {
  for (const [data, reason] of [
    ['{}', /Msg body is empty/],
    ['[]', /Msg body is empty/],
    ['{"a":1,"b":null}', /null/],
    ['{"a":1," ":2}', /blank/],
    ['{"a":1,"<b>x</b>":2}', /HTML/],
    [`{"a":1,"${'k'.repeat(256)}":2}`, /longer than 255/],
    ['[{"a":1},5]', /expected an object/],
    ['[{"a":1},{"ts":"soon","values":{"b":1}}]', /'ts'/],
    ['{"ts":"1.5","values":{"b":1}}', /'ts'/],
    ['[{"a":1},{"ts":1,"values":[]}]', /'values'/],
  ] as const) {
    const context = testContext()
    const [result] = await run(always, context, { data })
    assert.match(result?.error?.message ?? 'no error', reason, data)
    assert.deepEqual(context.telemetrySaves, [], data)
  }
})

test('a key of 255 characters is stored', async () => {
  const key = 'k'.repeat(255)
  assert.deepEqual(
    (await pointsFor({ data: JSON.stringify({ [key]: 1 }) })).map((point) => point.key),
    [key],
  )
})

test('TTL comes from the metadata, then from the configuration', async () => {
  const context = testContext()
  const configuration = { ...always, defaultTTL: 60 }
  const drafts = [{}, { metadata: { TTL: '' } }, { metadata: { TTL: '3600' } }, { metadata: { TTL: 'a week' } }]
  const results = await run(configuration, context, ...drafts.map((draft) => ({ ...draft, data: '{"a":1}' })))
  assert.deepEqual(
    context.telemetrySaves.map(({ ttlSeconds }) => ttlSeconds),
    [60, 60, 3600],
  )
  assert.match(results[3]?.error?.message ?? '', /TTL.*a week/)
})

test('Success waits for the commit and a refused commit is a Failure with its error', async () => {
  const context = testContext()
  const commits: ((error: Error | undefined) => void)[] = []
  context.services.telemetry.save = ({ place = 0 }, done) => void commits.push((error) => done(error, place))
  const instance = await createNode(saveTimeSeries, always, context)
  const outcomes: string[] = []
  const ended = instance.handleBatch?.([testMessage({ data: '{"a":1}' }), testMessage({ data: '{"a":2}' })], {
    visit: (index) => ({ id: String(index), originatorId: '', sequence: index }),
    emit: (index, output) => void outcomes.push(`${index} ${JSON.stringify(output)}`),
    fail: (index, error) => void outcomes.push(`${index} ${error.message}`),
  })
  assert.deepEqual(outcomes, [])
  commits[0]?.(undefined)
  commits[1]?.(new Error('disk full'))
  await ended
  assert.deepEqual(outcomes, ['0 "Success"', '1 disk full'])
})

test('an outcome is of its own message, in whatever order the saves end', async () => {
  const context = testContext()
  const ends: (() => void)[] = []
  context.services.telemetry.save = ({ points, place = 0 }, done) => {
    const fails = points[0]?.value === 2
    ends.push(() => done(fails ? new Error('refused') : undefined, place))
  }
  const instance = await createNode(saveTimeSeries, always, context)
  const running = runNode(instance, ...[1, 2, 3].map((a) => testMessage({ data: JSON.stringify({ a }) })))
  for (const end of ends.reverse()) end()
  assert.deepEqual(
    (await running).map(({ error }) => error?.message),
    [undefined, 'refused', undefined],
  )
})

test('the processing settings decide what a save touches', async () => {
  const every = { type: 'ON_EVERY_MESSAGE' }
  const skip = { type: 'SKIP' }
  for (const [settings, expected] of [
    [every, { history: true, latest: true, notify: true }],
    [{ type: 'WEBSOCKETS_ONLY' }, { history: false, latest: false, notify: true }],
    [
      { type: 'ADVANCED', timeseries: every, latest: skip, webSockets: every, calculatedFields: every },
      { history: true, latest: false, notify: true },
    ],
  ] as const) {
    const context = testContext()
    await run({ processingSettings: settings }, context, { data: '{"a":1}' })
    const [save] = context.telemetrySaves
    assert.deepEqual({ history: save?.history, latest: save?.latest, notify: save?.notify }, expected)
  }
})

test('where everything is skipped the body is not even read', async () => {
  const context = testContext()
  const skip = { type: 'SKIP' }
  const processingSettings = {
    type: 'ADVANCED',
    timeseries: skip,
    latest: skip,
    webSockets: skip,
    calculatedFields: skip,
  }
  const [result] = await run({ processingSettings }, context, { data: 'no JSON' })
  assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
  assert.deepEqual(context.telemetrySaves, [])
})

test('deduplication stores the first message of each originator in each interval, and that one again on a retry', async () => {
  const context = testContext()
  const processingSettings = { type: 'DEDUPLICATE', deduplicationIntervalSecs: 10 }
  const drafts = [
    { id: 'a1', originatorId: 'a', ts: 0 },
    { id: 'a2', originatorId: 'a', ts: 9_999 },
    { id: 'b1', originatorId: 'b', ts: 5_000 },
    { id: 'a3', originatorId: 'a', ts: 10_000 },
    { id: 'a1', originatorId: 'a', ts: 0 },
  ]
  const results = await run(
    { processingSettings },
    context,
    ...drafts.map((draft) => ({ ...draft, data: `{"id":"${draft.id}"}` })),
  )
  assert.deepEqual(
    context.telemetrySaves.map(({ points }) => points[0]?.value),
    ['a1', 'b1', 'a3', 'a1'],
  )
  assert.ok(results.every(({ emissions }) => emissions[0]?.relations[0] === 'Success'))
})

test('what deduplication remembers is bounded over all intervals together', () => {
  const isFirst = saveStrategy({ type: 'DEDUPLICATE', deduplicationIntervalSecs: 1 }, ['timeseries'], 3)
  const stores = (id: string, originatorId: string, ts: number) =>
    isFirst(ts, testMessage({ id, originatorId, data: '{}' })).timeseries
  assert.deepEqual([stores('1', 'a', 0), stores('2', 'b', 0), stores('3', 'a', 1000)], [true, true, true])
  assert.equal(stores('4', 'a', 0), false)
  assert.equal(stores('5', 'b', 1000), true)
  // Four are one too many: the interval of the first second is forgotten, and opens again.
  assert.equal(stores('6', 'a', 0), true)
  assert.equal(stores('7', 'b', 1000), false)
})

test('the old setting that skipped latest values becomes the advanced one', () => {
  const upgraded = saveTimeSeries.upgrade?.({ defaultTTL: 5, skipLatestPersistence: true, useServerTs: true }, 0)
  assert.deepEqual(upgraded, {
    defaultTTL: 5,
    useServerTs: true,
    processingSettings: {
      type: 'ADVANCED',
      timeseries: { type: 'ON_EVERY_MESSAGE' },
      latest: { type: 'SKIP' },
      webSockets: { type: 'ON_EVERY_MESSAGE' },
      calculatedFields: { type: 'ON_EVERY_MESSAGE' },
    },
  })
  assert.deepEqual(saveTimeSeries.upgrade?.({ defaultTTL: 0 }, 0)['processingSettings'], { type: 'ON_EVERY_MESSAGE' })
})
