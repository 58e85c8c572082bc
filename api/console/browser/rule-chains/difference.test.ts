import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contested, difference } from './difference.js'
import { graphOf, withChange, withLabels, withNode, withoutNode } from './graph.js'

const node = (id: string, name: string, configuration: Record<string, unknown> = {}) => ({
  ...{ id: { entityType: 'RULE_NODE', id }, type: 'a.Node', name, configuration },
})
const before = graphOf({
  firstNodeIndex: 0,
  nodes: [node('1', 'First', { limit: 1, unit: 'm' }), node('2', 'Second'), node('3', 'Third')],
  connections: [{ fromIndex: 0, toIndex: 1, type: 'True' }],
})

test('what moved, and the order in which members stand, is no difference', () => {
  const moved = withChange(before, 0, { x: 900, y: 900, configuration: { unit: 'm', limit: 1 } })
  assert.deepEqual(difference(before, moved), { lines: [], touched: new Map() })
})

test('what was added, changed, renamed, deleted and connected is told', () => {
  let after = withChange(before, 0, { configuration: { limit: 2, unit: 'm', more: true } })
  after = withChange(after, 1, { name: 'Middle' })
  after = withoutNode(after, 2)
  const [first] = before.nodes
  assert(first !== undefined)
  after = withNode(after, { ...first, id: undefined, name: 'New' }).graph
  after = withLabels(after, 0, 1, ['False'])
  const { lines, touched } = difference(before, { ...after, first: 1 })
  assert.deepEqual(lines, [
    'changed "First": limit, more',
    'renamed "Second" to "Middle"',
    'deleted "Third"',
    'added "New"',
    'connected "First" to "Middle" (False)',
    'took apart "First" to "Second" (True)',
    'messages begin at "Middle"',
  ])
  assert.deepEqual([...touched.keys()], ['1', '2', '3'])
})

test('a node that was renamed keeps its connections', () => {
  assert.deepEqual(difference(before, withChange(before, 1, { name: 'Middle' })).lines, [
    'renamed "Second" to "Middle"',
  ])
})

test('nodes that both touched are named', () => {
  const mine = difference(before, withChange(before, 0, { name: 'Mine' }))
  const theirs = difference(before, withoutNode(withChange(before, 0, { name: 'Theirs' }), 2))
  assert.deepEqual(contested(mine, theirs), ['First'])
  assert.deepEqual(contested(mine, difference(before, withoutNode(before, 2))), [])
})
