import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  connections,
  graphOf,
  metadataOf,
  obstacle,
  savedGraph,
  tidied,
  withChange,
  withLabels,
  withNode,
  withoutNode,
} from './graph.js'
import { beginning, done, redone, saved, undone } from './history.js'

const CHAIN = { entityType: 'RULE_CHAIN', id: 'c' }
const node = (name: string, id?: string) => ({
  ...(id === undefined ? {} : { id: { entityType: 'RULE_NODE', id } }),
  type: 'some.Node',
  name,
  configuration: {},
  additionalInfo: { layoutX: 10, layoutY: 20, description: `about ${name}` },
})
const METADATA = {
  firstNodeIndex: 0,
  nodes: [node('switch', 'a'), node('save', 'b'), node('log', 'd')],
  connections: [
    { fromIndex: 0, toIndex: 1, type: 'Post telemetry' },
    { fromIndex: 0, toIndex: 1, type: 'Post attributes' },
    { fromIndex: 1, toIndex: 2, type: 'Failure' },
  ],
}
const fresh = {
  ...node('new'),
  x: 1,
  y: 2,
  id: undefined,
  debugSettings: null,
  singletonMode: false,
  queueName: null,
  configurationVersion: 0,
}
const names = ({ nodes }: { nodes: readonly { name: string }[] }) => nodes.map(({ name }) => name)

test('a graph that nobody changed is sent as it came', () => {
  const { nodes, ...sent } = metadataOf(graphOf(METADATA), CHAIN, 7)
  const { nodes: _nodes, ...rest } = METADATA
  assert.deepEqual(sent, { ruleChainId: CHAIN, version: 7, ...rest })
  assert.deepEqual(
    nodes.map(({ id, additionalInfo }) => [id?.id, additionalInfo]),
    [
      ['a', { layoutX: 10, layoutY: 20, description: 'about switch' }],
      ['b', { layoutX: 10, layoutY: 20, description: 'about save' }],
      ['d', { layoutX: 10, layoutY: 20, description: 'about log' }],
    ],
  )
})

test('a node that is taken away takes its connections along, and places are counted anew', () => {
  const sent = metadataOf(withoutNode(graphOf(METADATA), 0), CHAIN, undefined)
  assert.equal(sent.firstNodeIndex, null)
  assert.equal('version' in sent, false)
  assert.deepEqual(sent.connections, [{ fromIndex: 0, toIndex: 1, type: 'Failure' }])
})

test('the first node of an empty chain is where messages begin', () => {
  const empty = graphOf({ firstNodeIndex: null, nodes: [], connections: null })
  const first = withNode(empty, fresh)
  assert.equal(first.graph.first, first.key)
  assert.equal(withNode(first.graph, fresh).graph.first, first.key)
})

test('a connection has several labels, each once, and goes with the last of them', () => {
  const graph = graphOf(METADATA)
  assert.deepEqual(connections(graph)[0], { from: 0, to: 1, labels: ['Post telemetry', 'Post attributes'] })
  const other = withLabels(graph, 0, 1, ['True', 'True', 'False'])
  assert.deepEqual(connections(other).find(({ from }) => from === 0)?.labels, ['True', 'False'])
  assert.deepEqual(connections(withLabels(other, 0, 1, [])), [{ from: 1, to: 2, labels: ['Failure'] }])
})

test('a circle is refused, with the names of its nodes', () => {
  const graph = graphOf(METADATA)
  assert.match(obstacle(graph, 2, 0) ?? '', /"switch" leads to "log" already/)
  assert.match(obstacle(graph, 1, 1) ?? '', /itself/)
  assert.equal(obstacle(graph, 0, 2), undefined)
})

test('nodes without a place get one that none has, below those with one', () => {
  const placeless = { type: 'some.Node', name: 'imported', configuration: {} }
  const graph = graphOf({ ...METADATA, nodes: [node('switch', 'a'), placeless, { ...placeless, name: 'other' }] })
  const places = new Set(graph.nodes.map(({ x, y }) => `${x} ${y}`))
  assert.equal(places.size, 3)
  assert.deepEqual([graph.nodes[0]?.x, graph.nodes[0]?.y], [10, 20])
  for (const { y } of graph.nodes.slice(1)) assert.ok(y > 20)
})

test('after a save nodes keep their keys and have ids, however the server ordered them', () => {
  const added = withNode(graphOf(METADATA), { ...fresh, name: 'first new' })
  const sent = withLabels(withNode(added.graph, { ...fresh, name: 'second new' }).graph, added.key, 0, ['Success'])
  const answer = {
    firstNodeIndex: 0,
    nodes: [node('switch', 'a'), node('save', 'b'), node('log', 'd'), node('first new', 'e'), node('second new', 'f')],
    connections: [...METADATA.connections, { fromIndex: 3, toIndex: 0, type: 'Success' }],
  }
  const result = savedGraph(sent, answer)
  assert.deepEqual(
    result.nodes.map(({ key, id }) => [key, id?.id]),
    [
      [0, 'a'],
      [1, 'b'],
      [2, 'd'],
      [3, 'e'],
      [4, 'f'],
    ],
  )
  assert.deepEqual(result.links.at(-1), { from: 3, to: 0, type: 'Success' })
})

test('a node that is saved again under another id, as somebody else deleted it, keeps its key', () => {
  const sent = graphOf(METADATA)
  const answer = { ...METADATA, nodes: [node('switch', 'a'), node('log', 'd'), node('save', 'new')], connections: [] }
  assert.deepEqual(
    savedGraph(sent, answer).nodes.map(({ key, name }) => [key, name]),
    [
      [0, 'switch'],
      [2, 'log'],
      [1, 'save'],
    ],
  )
})

test('steps of one label are one step, and a save gives ids to all steps', () => {
  const begin = graphOf({ ...METADATA, nodes: [...METADATA.nodes, { type: 'some.Node', name: 'n' }] })
  let history = beginning(begin)
  for (const name of ['n1', 'n12', 'n123']) history = done(history, withChange(history.graph, 3, { name }), '3 name')
  const sent = history.graph
  const answer = {
    ...sent,
    nodes: sent.nodes.map((each) => ({ ...each, id: each.id ?? { entityType: 'RULE_NODE', id: 'n' } })),
  }
  history = undone(saved(history, sent, answer))
  assert.deepEqual(names(history.graph).at(-1), 'n')
  assert.equal(history.graph.nodes[3]?.id?.id, 'n')
  assert.deepEqual(names(redone(history).graph).at(-1), 'n123')
  assert.equal(undone(history), history)
})

test('what was changed while a save was under way stays changed', () => {
  const begin = beginning(graphOf(METADATA))
  const sent = withChange(begin.graph, 0, { name: 'sent' })
  const history = done(done(begin, sent), withChange(sent, 0, { name: 'later' }))
  assert.equal(saved(history, sent, sent).graph.nodes[0]?.name, 'later')
})

test('as many steps back as forward lead to where one was', () => {
  const steps = fc.array(fc.record({ key: fc.nat(2), name: fc.string() }), { maxLength: 30 })
  fc.assert(
    fc.property(steps, fc.nat(40), (changes, back) => {
      const end = changes.reduce(
        (history, { key, name }) => done(history, withChange(history.graph, key, { name })),
        beginning(graphOf(METADATA)),
      )
      let history = end
      for (let step = 0; step < back; step++) history = undone(history)
      for (let step = 0; step < back; step++) history = redone(history)
      assert.equal(history.graph, end.graph)
    }),
  )
})

test('no two nodes of a tidied graph lie in one place, and every connection leads to the right', () => {
  const edges = fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), edges, (size, pairs) => {
      const nodes = Array.from({ length: size }, (_, index) => ({ type: 't', name: `${index}` }))
      const forward = pairs.filter(([from, to]) => from < to && to < size)
      const graph = tidied(
        graphOf({
          firstNodeIndex: 0,
          nodes,
          connections: forward.map(([fromIndex, toIndex]) => ({ fromIndex, toIndex, type: 'x' })),
        }),
      )
      assert.equal(new Set(graph.nodes.map(({ x, y }) => `${x} ${y}`)).size, size)
      for (const { from, to } of graph.links)
        assert.ok((graph.nodes[from]?.x ?? 0) < (graph.nodes[to]?.x ?? 0), `${from} to ${to}`)
    }),
  )
})
