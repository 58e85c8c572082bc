import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { currentConfiguration } from './configuration.ts'
import { checkGraph } from './graph-check.ts'
import { ORDINARY_EDITOR } from './testkit.ts'
import type { NodeDefinition } from './node.ts'

const nodes = ['a', 'b', 'c', 'd'].map((name) => ({ name }))

function graph(edges: readonly (readonly [number, number])[], firstNodeIndex: number | null = 0) {
  const connections = edges.map(([fromIndex, toIndex]) => ({ fromIndex, toIndex, type: 'Success' }))
  return { firstNodeIndex, nodes, connections }
}

test('a graph whose ways join again is fine, and so is one without connections', () => {
  checkGraph(
    graph([
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
      [1, 2],
    ]),
  )
  checkGraph({ firstNodeIndex: null, nodes: [], connections: null })
})

test('cycles are found wherever they are and named', () => {
  for (const [edges, pattern] of [
    [[[0, 0]], /relation to yourself.*'a'/],
    [
      [
        [0, 1],
        [1, 0],
      ],
      /'a' → 'b' → 'a'/,
    ],
    [
      [
        [0, 1],
        [2, 3],
        [3, 2],
      ],
      /'c' → 'd' → 'c'/,
    ],
    [
      [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 1],
      ],
      /'b' → 'c' → 'd' → 'b'/,
    ],
  ] as const) {
    assert.throws(
      () => checkGraph(graph(edges)),
      (error) => isMillraceError(error) && error.kind === 'invalid' && pattern.test(error.message),
      String(pattern),
    )
  }
})

test('an index that names no node is refused with its field', () => {
  for (const [given, field] of [
    [graph([[0, 4]]), 'toIndex'],
    [graph([[-1, 0]]), 'fromIndex'],
    [graph([[0.5, 1]]), 'fromIndex'],
    [graph([], 4), 'firstNodeIndex'],
  ] as const) {
    assert.throws(() => checkGraph(given), new RegExp(field))
  }
})

test('a chain of 100,000 nodes is checked without exhausting the stack', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ name: String(index) }))
  const connections = many.slice(1).map((_, index) => ({ fromIndex: index, toIndex: index + 1, type: 'Success' }))
  checkGraph({ firstNodeIndex: 0, nodes: many, connections })
})

const definition: NodeDefinition = {
  type: 'a',
  name: 'a',
  category: 'FILTER',
  configurationVersion: 2,
  description: '',
  relations: [],
  defaultConfiguration: { from: 'default' },
  configurationSchema: {},
  uses: [],
  effects: false,
  editor: ORDINARY_EDITOR,
  upgrade: (configuration, version) => {
    if (configuration['broken'] === true) throw new Error('cannot be raised')
    return { ...configuration, raisedFrom: version }
  },
  create: () => ({}),
  check: (configuration) => {
    if (configuration['wrong'] === true) throw new Error('does not parse')
    if (configuration['from'] === undefined) throw new Error('lacks from')
  },
}

test('an older configuration is raised, the present one stays as it is', () => {
  const raised = currentConfiguration(definition, { configuration: { a: 1 }, configurationVersion: 1 })
  assert.deepEqual(raised, { configuration: { a: 1, raisedFrom: 1 }, configurationVersion: 2 })
  const present = { configuration: { a: 1 }, configurationVersion: 2 }
  assert.deepEqual(currentConfiguration(definition, present), present)
})

test('an absent configuration of an older version becomes the default', () => {
  const raised = currentConfiguration(definition, { configuration: {}, configurationVersion: 0 })
  assert.deepEqual(raised, { configuration: { from: 'default' }, configurationVersion: 2 })
})

test('where raising fails, what still parses stays and the default replaces what does not', () => {
  const raise = (configuration: { broken: true; wrong?: true }) =>
    currentConfiguration(definition, { configuration, configurationVersion: 0 })
  assert.deepEqual(raise({ broken: true }), { configuration: { broken: true }, configurationVersion: 2 })
  assert.deepEqual(raise({ broken: true, wrong: true }), {
    configuration: { from: 'default' },
    configurationVersion: 2,
  })
})
