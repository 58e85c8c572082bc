import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuleChainGraph } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ChainEvents } from './chain-events.ts'
import { chainOf, loaded, testEngine, testWork, type MakeNode } from './testkit.ts'

const pass: MakeNode = () => ({ handle: () => 'Success' })
const later: MakeNode = () => ({ handle: async () => 'Success' })
const two: MakeNode = () => ({ handle: (message) => [{ message, relations: ['a', 'b'] }] })
const parts: MakeNode = () => ({
  handle: (message) => [1, 2].map((part) => ({ message: message.with({ type: `P${part}` }), relations: ['Success'] })),
})
const settles: MakeNode = () => ({ handle: () => ({ flow: 'acknowledge' }) })
const queues: MakeNode = () => ({ handle: () => ({ flow: 'enqueue', relation: 'Success' }) })
const returns: MakeNode = () => ({ handle: () => ({ flow: 'return', relation: 'Done' }) })
const enters: MakeNode = () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'B' }) })
const sends: MakeNode = (context) => ({
  handle: async (message) => {
    await context.enqueue(message.with({ type: 'NEW' }))
    return 'Success'
  },
})
const silent: MakeNode = () => ({ handle: () => undefined })
const broken: MakeNode = () => ({
  handle: () => {
    throw new Error('it broke')
  },
})

async function watched(type: string, debugSettings: JsonObject | null, afterMs = 0): Promise<readonly string[]> {
  const { events, seen } = noted()
  const setup = testEngine(
    { pass, later, two, parts, silent, broken, settles, queues, returns, sends },
    {},
    undefined,
    {
      events,
    },
  )
  const { chain, graph } = chainOf('A', [{ type }, { type: 'pass' }], [[0, 'Success', 1]])
  await loaded(setup.clock, setup.engine.load(chain, withDebug(graph, debugSettings)))
  await setup.clock.advance(afterMs)
  const work = testWork({ type: 'T' })
  await setup.run(work)
  assert.ok(work.isSettled)
  return seen
}

function noted(): { readonly events: ChainEvents; readonly seen: string[] } {
  const seen: string[] = []
  const events: ChainEvents = {
    debug: ({ ruleNodeId, direction, message, relation = '', error = '' }) =>
      void seen.push([ruleNodeId, direction, message.type, relation, error].join(' ').trim()),
    failed: () => undefined,
  }
  return { events, seen }
}

/** The first node is watched. */
function withDebug(graph: RuleChainGraph, debugSettings: JsonObject | null): RuleChainGraph {
  return { ...graph, nodes: graph.nodes.map((node, index) => (index === 0 ? { ...node, debugSettings } : node)) }
}

const FOR_A_WHILE = { allEnabled: false, allEnabledUntil: 1e15 }

test('of a node that is watched each message is told, as it comes in and as it leaves', async () => {
  assert.deepEqual(await watched('pass', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T Success'])
  assert.deepEqual(await watched('later', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T Success'])
  assert.deepEqual(await watched('two', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T a', 'A-0 OUT T b'])
  assert.deepEqual(await watched('silent', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T ACK'])
  assert.deepEqual(await watched('broken', FOR_A_WHILE), ['A-0 IN T', 'A-0 OUT T Failure it broke'])
})

test('a node that takes a message over settles it, and what it made leaves besides', async () => {
  const leaving = async (type: string) => (await watched(type, FOR_A_WHILE)).slice(1)
  assert.deepEqual(await leaving('settles'), ['A-0 OUT T ACK', 'A-0 OUT T Success'])
  assert.deepEqual(await leaving('queues'), ['A-0 OUT T ACK', 'A-0 OUT T Success'])
  assert.deepEqual(await leaving('parts'), ['A-0 OUT T ACK', 'A-0 OUT P1 Success', 'A-0 OUT P2 Success'])
  assert.deepEqual(await leaving('returns'), ['A-0 OUT T ACK'])
})

test('a message of a node’s own is told as one to the root chain', async () => {
  const seen = await watched('sends', FOR_A_WHILE)
  assert.deepEqual(seen, ['A-0 IN T', 'A-0 OUT NEW To Root Rule Chain', 'A-0 OUT T Success'])
})

test('the node that enters a chain settles, and the relation that comes back is its own', async () => {
  const { events, seen } = noted()
  const setup = testEngine({ enters, returns, pass }, {}, undefined, { events })
  const inner = chainOf('B', [{ type: 'returns' }], [])
  const outer = chainOf('A', [{ type: 'enters' }, { type: 'pass' }], [[0, 'Done', 1]])
  await loaded(setup.clock, setup.engine.load(outer.chain, withDebug(outer.graph, FOR_A_WHILE)))
  await setup.run(testWork({ type: 'T', ruleChainId: 'A' }))
  const refused = seen.splice(0)
  assert.equal(refused.length, 2)
  assert.match(refused[1] ?? '', /^A-0 OUT T Failure ./)
  await loaded(setup.clock, setup.engine.load(inner.chain, withDebug(inner.graph, FOR_A_WHILE)))
  await setup.run(testWork({ type: 'T', ruleChainId: 'A' }))
  assert.deepEqual(seen.sort(), ['A-0 IN T', 'A-0 OUT T ACK', 'A-0 OUT T Done', 'B-0 IN T', 'B-0 OUT T Done'])
})

test('a message comes in by the relation that led it there', async () => {
  const relations: (string | undefined)[] = []
  const events: ChainEvents = {
    debug: ({ direction, relation }) => void (direction === 'IN' && relations.push(relation)),
    failed: () => undefined,
  }
  const setup = testEngine({ pass, later }, {}, undefined, { events })
  const { chain, graph } = chainOf(
    'A',
    [{ type: 'later' }, { type: 'pass' }, { type: 'pass' }],
    [
      [0, 'Success', 1],
      [1, 'Success', 2],
    ],
  )
  const nodes = graph.nodes.map((node) => ({ ...node, debugSettings: FOR_A_WHILE }))
  await loaded(setup.clock, setup.engine.load(chain, { ...graph, nodes }))
  await setup.run(testWork({ type: 'T' }))
  assert.deepEqual(relations, ['', 'Success', 'Success'])
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
