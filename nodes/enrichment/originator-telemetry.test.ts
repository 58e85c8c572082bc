import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import type { JsonObject } from '../../model/json.ts'
import type { DataPoint } from '../../model/value.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft } from '../testkit.ts'
import { originatorTelemetry } from './originator-telemetry.ts'

const NOW = 1_700_000_000_000
const POINTS: readonly DataPoint[] = [
  { key: 'v', type: 'LONG', value: 1, ts: NOW - 100_000 },
  { key: 'v', type: 'DOUBLE', value: 5, ts: NOW - 90_000 },
  { key: 'v', type: 'JSON', value: '{"a":1}', ts: NOW - 80_000 },
  { key: 'v', type: 'LONG', value: 9, ts: NOW - 60_000 },
  { key: 's', type: 'STRING', value: 'say "x"', ts: NOW - 70_000 },
]

async function run(change: JsonObject, draft: Partial<MessageDraft> = {}) {
  const context = testContext()
  const message = testMessage({ data: '{}', ...draft })
  context.fakes.history.add(message.originator, ...POINTS)
  const configuration = { ...originatorTelemetry.defaultConfiguration, latestTsKeyNames: ['v'], ...change }
  const [result] = await runNode(await createNode(originatorTelemetry, configuration, context), message)
  const [out] = result?.emissions ?? []
  const { queries } = context.fakes.history
  return { relation: out?.relations[0], metadata: out?.message.metadata, error: result?.error?.message, queries }
}

test('one value is text in quotes, all are a list; the end is exclusive', async () => {
  const latestTsKeyNames = ['v', 's', 'never']
  const first = await run({ fetchMode: 'FIRST', latestTsKeyNames })
  assert.deepEqual(first.metadata, { v: '"1"', s: '"say \\"x\\""' })
  assert.deepEqual((await run({ fetchMode: 'LAST' })).metadata, { v: JSON.stringify('{"a":1}') })
  const all = await run({ fetchMode: 'ALL', orderBy: 'DESC', limit: 2 })
  assert.deepEqual(all.metadata, {
    v: `[{"ts":${NOW - 80_000},"value":{"a":1}},{"ts":${NOW - 90_000},"value":5.0}]`,
  })
})

test('an aggregation takes the whole interval as one', async () => {
  const { queries } = await run({ fetchMode: 'ALL', aggregation: 'AVG', startIntervalTimeUnit: 'HOURS' })
  assert.deepEqual(queries, [
    {
      keys: ['v'],
      startTs: NOW - 7_200_000,
      endTs: NOW - 60_000,
      limit: 1000,
      order: 'ASC',
      agg: 'AVG',
      interval: 7_140_000,
    },
  ])
})

test('the interval may stand in the message', async () => {
  const interval = { useMetadataIntervalPatterns: true, startIntervalPattern: '${from}', endIntervalPattern: '$[to]' }
  const metadata = { from: String(NOW - 90_000) }
  const found = await run({ ...interval, fetchMode: 'LAST' }, { data: `{"to":${NOW - 80_000}}`, metadata })
  assert.equal(found.metadata?.['v'], '"5.0"')
  const empty = await run(interval, { data: `{"to":${NOW - 90_000}}`, metadata })
  assert.deepEqual([empty.relation, empty.metadata, empty.queries], ['Success', metadata, []])
  for (const data of ['{}', '{"to":"soon"}', '{"to":1.5}', '{"to":5}']) {
    const failed = await run(interval, { data, metadata })
    assert.match(failed.error ?? '', /The interval is wrong/, data)
  }
})

test('a node that can fetch nothing does not start', async () => {
  const refused: readonly (readonly [JsonObject, RegExp])[] = [
    [{ latestTsKeyNames: [] }, /latestTsKeyNames/],
    [{ fetchMode: 'ALL', limit: 1 }, /limit/],
    [{ fetchMode: 'ALL', limit: 1001 }, /limit/],
    [{ fetchMode: 'ALL', orderBy: null }, /orderBy/],
    [{ fetchMode: 'ALL', aggregation: null }, /aggregation/],
    [{ fetchMode: 'SOME' }, /fetchMode/],
    [{ startIntervalTimeUnit: 'WEEKS' }, /startIntervalTimeUnit/],
  ]
  for (const [change, field] of refused) {
    await assert.rejects(run(change), field)
  }
  await run({ fetchMode: 'FIRST', limit: 1 })
})

test('old configurations become those of now', () => {
  const upgraded = (configuration: JsonObject, configurationVersion: number) =>
    currentConfiguration(originatorTelemetry, { configuration, configurationVersion }).configuration
  assert.deepEqual(upgraded({ fetchMode: 'LAST' }, 0), {
    fetchMode: 'LAST',
    orderBy: 'DESC',
    aggregation: 'NONE',
    limit: 1000,
  })
  assert.equal(upgraded({ fetchMode: 'OTHER' }, 0)['fetchMode'], 'LAST')
  assert.deepEqual(upgraded({ fetchMode: 'ALL', orderBy: '', aggregation: null }, 1), {
    fetchMode: 'ALL',
    orderBy: 'ASC',
    aggregation: 'NONE',
    limit: 1000,
  })
})
