import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../engine/actor/testkit.ts'
import type { ChainStatistics } from '../../engine/rulechain/rule-engine.ts'
import { ChainStatisticsReader } from './chain-statistics.ts'

const LATENCY = { measured: 1, p50: 1, p95: 2, p99: 3, max: 4 }

function setUp() {
  const clock = new ManualClock()
  const since = clock.now()
  const counts = { received: 0, failed: 0, taken: 0 }
  const reader = new ChainStatisticsReader(clock)
  const source = (id: string): ChainStatistics | undefined =>
    id !== 'A'
      ? undefined
      : {
          ...{ ruleChainId: 'A', tenantId: 't', name: 'chain', inFlight: 2, dropped: 1 },
          nodes: [
            {
              ...{ ruleNodeId: 'n', name: 'node', type: 'T', timedOut: 0, late: 0, busyMs: 5, since, latency: LATENCY },
              ...{ received: counts.received, failed: counts.failed, ended: 3 },
              routes: [{ relation: 'Success', targets: ['m'], taken: counts.taken }],
            },
          ],
        }
  return { clock, counts, reader, source }
}

test('rates are since it counts at first, then since the chain was looked at, ten seconds at least', async () => {
  const { clock, counts, reader, source } = setUp()
  reader.follow(source)
  await clock.advance(10_000)
  Object.assign(counts, { received: 100, failed: 10, taken: 90 })
  const first = reader.read('t', 'A')
  const [node] = first.nodes
  assert.deepEqual(
    [first.windowMs, node?.rate, node?.failureRate, node?.edges],
    [0, 10, 1, [{ relation: 'Success', toRuleNodeIds: ['m'], messages: 90, rate: 9 }]],
  )
  assert.deepEqual([first.inFlight, first.dropped, node?.latency, node?.ended], [2, 1, LATENCY, 3])
  await clock.advance(5_000)
  assert.equal(reader.read('t', 'A').windowMs, 0)
  await clock.advance(5_000)
  Object.assign(counts, { received: 400, failed: 10, taken: 390 })
  const second = reader.read('t', 'A')
  assert.deepEqual([second.windowMs, second.nodes[0]?.rate, second.nodes[0]?.failureRate], [10_000, 30, 0])
  assert.equal(second.nodes[0]?.edges[0]?.rate, 30)
})

test('a chain of another tenant, one that does not run, and a process without an engine have none', () => {
  const { reader, source } = setUp()
  assert.throws(() => reader.read('t', 'A'), /does not run in this process/)
  reader.follow(source)
  assert.throws(() => reader.read('other', 'A'), /is not running/)
  assert.throws(() => reader.read('t', 'B'), /is not running/)
})
