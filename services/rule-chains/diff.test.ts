import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { parseChain, type DrawnChain } from '../../workbench/chain-file.ts'
import { diffChains, differenceLines } from './diff.ts'

interface Line {
  readonly name: string
  readonly configuration?: JsonObject
  readonly x?: number
}

function chainOf(
  nodes: readonly Line[],
  connections: readonly (readonly [number, string, number])[],
  firstNodeIndex = 0,
): DrawnChain {
  const drawn = nodes.map(({ name, configuration = {}, x = 0 }) => ({
    ...{ name, configuration, type: 'filter', additionalInfo: { layoutX: x, layoutY: 0 } },
  }))
  const ways = connections.map(([fromIndex, type, toIndex]) => ({ fromIndex, type, toIndex }))
  return parseChain(stringifyJson({ firstNodeIndex, nodes: drawn, connections: ways }), 'chain.json')
}

const lines = (before: DrawnChain, after: DrawnChain): readonly string[] =>
  diffChains(before, after).flatMap(differenceLines)

test('order, layout and the case of labels are no difference', () => {
  const before = chainOf([{ name: 'A' }, { name: 'B' }], [[0, 'True', 1]])
  const after = chainOf([{ name: 'B', x: 300 }, { name: 'A' }], [[1, 'true', 0]], 1)
  assert.deepEqual(lines(before, after), [])
})

test('nodes, fields, connections and the first node', () => {
  const before = chainOf(
    [{ name: 'A', configuration: { scope: 'SERVER_SCOPE', keys: ['a'], deep: { x: 1 } } }, { name: 'Old' }],
    [[0, 'True', 1]],
  )
  const after = chainOf(
    [{ name: 'A', configuration: { scope: 'SHARED_SCOPE', keys: ['a', 'b'], deep: { x: 1, y: 2 } } }, { name: 'New' }],
    [[1, 'Success', 0]],
    1,
  )
  assert.deepEqual(lines(before, after), [
    "~ node 'A'",
    '    - configuration.scope: "SERVER_SCOPE"',
    '    + configuration.scope: "SHARED_SCOPE"',
    '    - configuration.keys: ["a"]',
    '    + configuration.keys: ["a","b"]',
    '    + configuration.deep.y: 2',
    "+ node 'New' (filter)",
    "- node 'Old' (filter)",
    '~ first node: A → New',
    "+ 'New' ─ Success → 'A'",
    "- 'A' ─ True → 'Old'",
  ])
})

test('nodes of one name are told apart', () => {
  const before = chainOf([{ name: 'Save' }, { name: 'Save' }], [])
  const after = chainOf([{ name: 'Save' }], [])
  assert.deepEqual(lines(before, after), ["- node 'Save #2' (filter)"])
})

test('2 and 2.0 are not the same', () => {
  const of = (text: string): DrawnChain =>
    parseChain(`{"firstNodeIndex":0,"nodes":[{"name":"A","type":"t","configuration":{"n":${text}}}]}`, 'x')
  assert.deepEqual(lines(of('2'), of('2.0')), ["~ node 'A'", '    - configuration.n: 2', '    + configuration.n: 2.0'])
})
