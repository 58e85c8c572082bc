import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import type { ChainEvents } from './chain-events.ts'
import { chainOf, loaded, testEngine, testWork, type MakeNode } from './testkit.ts'

const pass: MakeNode = () => ({ handle: () => 'Success' })
const later: MakeNode = () => ({ handle: async () => 'Success' })
const two: MakeNode = () => ({ handle: (message) => [{ message, relations: ['a', 'b'] }] })
const silent: MakeNode = () => ({ handle: () => undefined })
const broken: MakeNode = () => ({
  handle: () => {
    throw new Error('it broke')
  },
})

async function watched(type: string, debugSettings: JsonObject | null, afterMs = 0): Promise<readonly string[]> {
  const seen: string[] = []
  const events: ChainEvents = {
    debug: ({ ruleNodeId, direction, message, relation = '', error = '' }) =>
      void seen.push([ruleNodeId, direction, message.type, relation, error].join(' ').trim()),
    failed: () => undefined,
  }
  const setup = testEngine({ pass, later, two, silent, broken }, {}, undefined, events)
  const { chain, graph } = chainOf('A', [{ type }, { type: 'pass' }], [[0, 'Success', 1]])
  const nodes = graph.nodes.map((node, index) => (index === 0 ? { ...node, debugSettings } : node))
  await loaded(setup.clock, setup.engine.load(chain, { ...graph, nodes }))
  await setup.clock.advance(afterMs)
  const work = testWork({ type: 'T' })
  await setup.run(work)
  assert.ok(work.isSettled)
  return seen
}

const FOR_A_WHILE = { allEnabled: false, allEnabledUntil: 1e15 }

test('of a node that is watched each message is told, as it comes in and as it leaves', async () => {
  assert.deepEqual(await watched('pass', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T Success'])
  assert.deepEqual(await watched('later', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T Success'])
  assert.deepEqual(await watched('two', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T a', 'A-0 OUT T b'])
  assert.deepEqual(await watched('silent', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T ACK'])
  assert.deepEqual(await watched('broken', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T Failure it broke'])
})

test('of a node whose failures are watched nothing else is told', async () => {
  assert.deepEqual(await watched('broken', { failuresEnabled: true }), ['A-0 OUT T Failure it broke'])
  assert.deepEqual(await watched('pass', { failuresEnabled: true }), [])
})

test('nothing is told of others, nor when the time is over', async () => {
  assert.deepEqual(await watched('pass', null), [])
  assert.deepEqual(await watched('pass', {}), [])
  const until = testEngine({}).clock.now() + 1_000
  assert.deepEqual(await watched('pass', { allEnabledUntil: until }), ['A-0 IN T', 'A-0 OUT T Success'])
  assert.deepEqual(await watched('pass', { allEnabledUntil: until }, 2_000), [])
})
