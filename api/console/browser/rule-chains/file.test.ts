import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportOf, fileNameOf, importBody, typesIn } from './file.js'

const GRAPH = {
  firstNodeIndex: 0,
  nodes: [
    { type: 'a.Node', name: 'first', configuration: {} },
    { type: 'b.Node', name: 'second', configuration: {} },
  ],
  connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
}

const FORMS: Readonly<Record<string, object>> = {
  'as the editor exports it': { ruleChain: { name: 'Chain', root: true }, metadata: GRAPH },
  'as version control keeps it': { entity: { name: 'Chain' }, metaData: GRAPH },
  'as the REST API exports it': {
    ruleChains: [{ id: { id: 'x' }, name: 'Chain' }],
    metadata: [{ ...GRAPH, ruleChainId: { id: 'x' } }],
  },
}

for (const [form, file] of Object.entries(FORMS))
  test(`a file is read ${form}`, () => {
    const { ruleChains, metadata } = importBody(JSON.stringify(file), 'chain.json')
    const [chain] = ruleChains as { id: { id: string }; name: string }[]
    const [graph] = metadata as { ruleChainId: { id: string } }[]
    assert.equal(chain?.name, 'Chain')
    assert.equal(graph?.ruleChainId.id, chain?.id.id)
    assert.deepEqual(typesIn({ ruleChains, metadata }), ['a.Node', 'b.Node'])
  })

test('a graph alone is named by its file', () => {
  const [chain] = importBody(JSON.stringify(GRAPH), 'Thermostats.json').ruleChains as { name: string }[]
  assert.equal(chain?.name, 'Thermostats')
})

const MISTAKES: readonly (readonly [string, RegExp])[] = [
  ['{"a":', /x\.json is not JSON: /],
  ['[]', /is no rule chain: it has neither/],
  ['{"title":"Dashboard","configuration":{}}', /Is it the export of something else\?/],
  [JSON.stringify({ ruleChains: [] }), /"ruleChains" without "metadata"/],
  [JSON.stringify({ ruleChain: {}, metadata: GRAPH }), /the rule chain has no "name"/],
  [JSON.stringify({ ruleChain: { name: 'a' }, metadata: {} }), /"metadata" has no list "nodes"/],
  [JSON.stringify({ nodes: [{ name: 'Is it hot' }] }), /node "Is it hot" has no "type"/],
  [JSON.stringify({ nodes: [{}] }), /node 1 has no "type"/],
  [JSON.stringify({ ...GRAPH, connections: {} }), /"connections" is not a list/],
  [
    JSON.stringify({ ...GRAPH, connections: [{ fromIndex: 0, toIndex: 2, type: 'True' }] }),
    /connection 1 leads from or to a node that is not in the file/,
  ],
  [JSON.stringify({ ...GRAPH, connections: [{ fromIndex: 0, toIndex: 1 }] }), /connection 1 has no label/],
]
for (const [text, said] of MISTAKES)
  test(`a file that is wrong is told: ${said.source}`, () => {
    assert.throws(() => importBody(text, 'x.json'), said)
  })

test('an export holds nothing that only counts here, and is read again', () => {
  const id = { entityType: 'RULE_CHAIN', id: 'x' }
  const chain = {
    id,
    createdTime: 1,
    tenantId: id,
    version: 3,
    name: 'Chain',
    root: true,
    firstRuleNodeId: id,
    type: 'CORE',
    externalId: null,
  }
  const nodes = GRAPH.nodes.map((node) => ({ ...node, id, createdTime: 1, ruleChainId: id, externalId: null }))
  const file = exportOf(chain, { ...GRAPH, nodes, ruleChainId: id, version: 3 })
  assert.deepEqual(file, {
    ruleChain: { name: 'Chain', root: false, firstRuleNodeId: null, type: 'CORE' },
    metadata: GRAPH,
  })
  assert.equal(importBody(JSON.stringify(file), 'a.json').ruleChains.length, 1)
})

test('a file is named after its chain', () => {
  assert.deepEqual(['Root Rule Chain', 'Öfen / Süd!', '???'].map(fileNameOf), [
    'root_rule_chain.json',
    'öfen_süd.json',
    'rule_chain.json',
  ])
})
