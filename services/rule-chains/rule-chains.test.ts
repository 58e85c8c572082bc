import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { RuleChain } from '../../model/entities.ts'
import type { GraphDraft, NodeDraft } from './drafts.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
let chain: RuleChain

before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())
beforeEach(async () => {
  chain = await platform.services.ruleChains.saveByUser(platform.tenant, { name: 'under test' })
  platform.changes.length = 0
  platform.link.messages.length = 0
})

function node(name: string, change: Partial<NodeDraft> = {}): NodeDraft {
  return { type: 'test.Node', name, configuration: {}, ...change }
}

function draft(
  nodes: readonly NodeDraft[],
  edges: readonly (readonly [number, number, string])[],
  change: Partial<GraphDraft> = {},
): GraphDraft {
  const connections = edges.map(([fromIndex, toIndex, type]) => ({ fromIndex, toIndex, type }))
  return { ruleChainId: chain.id, firstNodeIndex: nodes.length > 0 ? 0 : null, nodes, connections, ...change }
}

function save(graph: GraphDraft, options?: { disableUnknown: boolean }) {
  return platform.services.ruleChains.saveGraphByUser(platform.tenant, graph, options)
}

test('stores a graph whole and reads it back as it was answered', async () => {
  const saved = await save(draft([node('a'), node('b', { configuration: { x: [1, null] } })], [[0, 1, 'True']]))
  assert.equal(saved.version, 2)
  assert.deepEqual(saved.connections, [{ fromIndex: 0, toIndex: 1, type: 'True' }])
  assert.deepEqual(await platform.services.ruleChains.graph(platform.tenantId, chain.id), saved)
  const stored = await platform.services.ruleChains.find(platform.tenantId, chain.id)
  assert.equal(stored?.version, 2)
  assert.equal(stored.firstRuleNodeId, saved.nodes[0]?.id)
  assert.deepEqual(
    platform.changes.map((change) => change.kind),
    ['rule-chain-changed'],
  )
  assert.deepEqual(
    platform.link.messages.map((message) => message.type),
    ['ENTITY_UPDATED'],
  )
})

test('keeps nodes by their id, in the order of creation, and drops those that are left out', async () => {
  const first = await save(draft([node('a'), node('b'), node('c')], []))
  const [a, , c] = first.nodes
  const second = await save(
    draft(
      [node('new'), node('c2', { id: c?.id }), node('a2', { id: a?.id })],
      [
        [0, 1, 'x'],
        [1, 2, 'y'],
      ],
      { firstNodeIndex: 0 },
    ),
  )
  assert.deepEqual(
    second.nodes.map((each) => each.name),
    ['a2', 'c2', 'new'],
  )
  assert.deepEqual(second.nodes.map((each) => each.id).slice(0, 2), [a?.id, c?.id])
  assert.equal(second.firstNodeIndex, 2)
  assert.deepEqual(second.connections, [
    { fromIndex: 1, toIndex: 0, type: 'y' },
    { fromIndex: 2, toIndex: 1, type: 'x' },
  ])
  assert.deepEqual(await platform.services.ruleChains.graph(platform.tenantId, chain.id), second)
})

test('a node with an id of another chain is a new node', async () => {
  const root = await platform.services.ruleChains.root(platform.tenantId)
  const stolen = root?.firstRuleNodeId ?? ''
  const saved = await save(draft([node('a', { id: stolen }), node('b', { id: stolen })], []))
  assert.equal(saved.nodes.length, 2)
  assert.ok(saved.nodes.every((each) => each.id !== stolen))
})

const REFUSED: readonly (readonly [string, () => GraphDraft, string | RegExp])[] = [
  ['a connection to itself', () => draft([node('a')], [[0, 0, 'x']]), "Can't create the relation to yourself."],
  [
    'a circle',
    () =>
      draft(
        [node('a'), node('b'), node('c')],
        [
          [0, 1, 'x'],
          [1, 2, 'x'],
          [2, 0, 'x'],
        ],
      ),
    "Can't create circling relations in rule chain.",
  ],
  [
    'a connection out of range',
    () => draft([node('a')], [[0, 1, 'x']]),
    'toIndex 1 is not the place of a node: the chain has 1 nodes',
  ],
  ['a first node out of range', () => draft([node('a')], [], { firstNodeIndex: 4 }), /^firstNodeIndex 4/],
  [
    'a connection without a type',
    () => draft([node('a'), node('b')], [[0, 1, ' ']]),
    'The connection from node 0 to node 1 has no type',
  ],
  [
    'a bad configuration',
    () => draft([node('bad', { configuration: { bad: true } })], []),
    /^'bad' node configuration is invalid: /,
  ],
  ['mark-up in a name', () => draft([node('<img src=x>')], []), 'Validation error: name is malformed'],
  ['a stale version', () => draft([node('a')], [], { version: 7 }), 'Rule chain was already changed by someone else'],
]

for (const [what, make, message] of REFUSED) {
  test(`refuses ${what} and changes nothing`, async () => {
    const before = await save(draft([node('kept')], []))
    await assert.rejects(save(make()), { message, kind: 'invalid' })
    assert.deepEqual(await platform.services.ruleChains.graph(platform.tenantId, chain.id), before)
  })
}

test('many ways between two nodes are no circle', async () => {
  const saved = await save(
    draft(
      [node('a'), node('b'), node('c')],
      [
        [0, 1, 'x'],
        [0, 2, 'x'],
        [1, 2, 'x'],
        [1, 2, 'y'],
        [1, 2, 'x'],
      ],
    ),
  )
  assert.equal(saved.connections.length, 4)
})

test('an unknown type is saved as it is: only its node does not start', async () => {
  const odd = { type: 'com.example.Odd', configurationVersion: 3, configuration: { keep: 1 } }
  const [saved] = (await save(draft([node('odd', odd)], []))).nodes
  assert.deepEqual([saved?.type, saved?.configurationVersion, saved?.configuration], Object.values(odd))
  assert.equal(saved?.disabledReason, null)
})

test('an old configuration is raised to the present version', async () => {
  const saved = await save(
    draft([node('old', { type: 'test.Upgraded', configurationVersion: 1, configuration: { a: 1 } })], []),
  )
  assert.equal(saved.nodes[0]?.configurationVersion, 2)
  assert.deepEqual(saved.nodes[0].configuration, { a: 1, upgradedFrom: 1 })
})

test('where an old configuration cannot be raised, what still parses stays and the default replaces what does not', async () => {
  const old = { type: 'test.Upgraded', configurationVersion: 1 }
  const saved = await save(
    draft(
      [
        node('parses', { ...old, configuration: { stuck: true } }),
        node('does not', { ...old, configuration: { stuck: true, bad: true } }),
      ],
      [],
    ),
  )
  assert.deepEqual(
    saved.nodes.map(({ configuration, configurationVersion }) => [configuration, configurationVersion]),
    [
      [{ stuck: true }, 2],
      [{ byDefault: true }, 2],
    ],
  )
})

test('a legacy connection to a chain becomes an input node named after it', async () => {
  const target = await platform.services.ruleChains.saveByUser(platform.tenant, { name: 'the target' })
  const legacy = {
    fromIndex: 0,
    targetRuleChainId: { entityType: 'RULE_CHAIN', id: target.id },
    type: 'True',
    additionalInfo: { layoutX: 1 },
  }
  const saved = await save(draft([node('a')], [], { ruleChainConnections: [legacy] }))
  const input = saved.nodes[1]
  assert.equal(input?.name, 'the target')
  assert.equal(input.type, 'org.thingsboard.rule.engine.flow.TbRuleChainInputNode')
  assert.equal(input.configuration['ruleChainId'], target.id)
  assert.deepEqual(saved.connections, [{ fromIndex: 0, toIndex: 1, type: 'True' }])
})

test('debugging everything ends after 15 minutes', async () => {
  const saved = await save(draft([node('a', { debugSettings: { failuresEnabled: true, allEnabled: true } })], []))
  const until = platform.clock.time + 15 * 60_000
  assert.deepEqual(saved.nodes[0]?.debugSettings, { failuresEnabled: true, allEnabled: false, allEnabledUntil: until })
})

test('saves of a graph that meet leave one whole graph', async () => {
  const graphs = ['a', 'b', 'c'].map((name) =>
    draft([node(`${name}1`), node(`${name}2`)], [[0, 1, name]], { version: chain.version }),
  )
  const results = await Promise.allSettled(graphs.map((graph) => save(graph)))
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
  const stored = await platform.services.ruleChains.graph(platform.tenantId, chain.id)
  const letters = new Set([...(stored?.nodes.map((each) => each.name[0]) ?? []), stored?.connections[0]?.type])
  assert.equal(letters.size, 1)
})

test('one chain is root: setting another takes the mark from the first', async () => {
  const { services, tenant, tenantId } = platform
  const old = await services.ruleChains.root(tenantId)
  assert.ok(old !== undefined)
  const set = await services.ruleChains.setRootByUser(tenant, chain.id)
  assert.equal(set.root, true)
  assert.equal((await services.ruleChains.find(tenantId, old.id))?.root, false)
  await assert.rejects(services.ruleChains.deleteByUser(tenant, chain.id), {
    message: 'Deletion of Root Tenant Rule Chain is prohibited!',
  })
  await services.ruleChains.setRootByUser(tenant, old.id)
  await services.ruleChains.deleteByUser(tenant, chain.id)
  assert.equal(await services.ruleChains.find(tenantId, chain.id), undefined)
})

test('a chain of the default shape is made whole and is not root', async () => {
  const { services, tenant, tenantId } = platform
  const made = await services.ruleChains.createDefaultByUser(tenant, 'made')
  const graph = await services.ruleChains.graph(tenantId, made.id)
  assert.equal(made.root, false)
  assert.equal(graph?.firstNodeIndex, 2)
  assert.deepEqual(
    graph.connections.map((each) => each.toIndex),
    [0, 1, 3, 4, 5],
  )
  assert.match(graph.nodes[5]?.type ?? '', /TbSendRPCRequestNode$/)
})

test('a chain does not become root by saving it as root', async () => {
  const { ruleChains } = platform.services
  const message = 'Another root rule chain is present in scope of current tenant!'
  await assert.rejects(ruleChains.saveByUser(platform.tenant, { name: 'usurper', root: true }), {
    message,
    status: 400,
  })
})

test('saving the header keeps root and the graph', async () => {
  const { services, tenant, tenantId } = platform
  const root = await services.ruleChains.root(tenantId)
  const renamed = await services.ruleChains.saveByUser(tenant, {
    id: root?.id,
    name: 'Root Rule Chain',
    debugMode: true,
  })
  assert.equal(renamed.root, true)
  assert.equal(renamed.firstRuleNodeId, root?.firstRuleNodeId)
  await assert.rejects(services.ruleChains.saveByUser(tenant, { id: root?.id, name: 'x', version: 1 }), {
    status: 409,
    restCode: 35,
  })
})

test('loads every chain with its graph', async () => {
  const loaded = await platform.services.ruleChains.loadAll()
  assert.ok(
    loaded.some(({ chain: each, graph }) => each.root && graph.nodes.length === 6 && graph.version === each.version),
  )
})

test('a chain of another tenant is neither shown nor changed', async () => {
  const stranger = { ...platform.tenant, tenantId: '00000000-0000-4000-8000-000000000000' }
  const { ruleChains } = platform.services
  assert.equal(await ruleChains.graph(stranger.tenantId, chain.id), undefined)
  await assert.rejects(ruleChains.saveGraphByUser(stranger, draft([], [])), { status: 403 })
  await assert.rejects(ruleChains.setRootByUser(stranger, chain.id), { status: 403 })
})

test('a node’s queue must be there; where unknown things are let in, the node is disabled and says so', async () => {
  const graph = draft([node('check', { queueName: 'Nowhere' })], [])
  await assert.rejects(save(graph), { message: "Rule node 'check' names a queue that does not exist: Nowhere" })
  const [disabled] = (await save(graph, { disableUnknown: true })).nodes
  assert.deepEqual([disabled?.queueName, disabled?.disabledReason], ['Nowhere', 'Unknown queue: Nowhere'])
  const [known] = (await save(draft([node('check', { queueName: 'HighPriority' })], []))).nodes
  assert.deepEqual([known?.queueName, known?.disabledReason], ['HighPriority', null])
  const [blank] = (await save(draft([node('check', { queueName: '' })], []))).nodes
  assert.equal(blank?.queueName, null)
})

test('a queue that an old configuration named becomes the node’s own', async () => {
  const old = { type: 'test.MovesQueue', configuration: { queueName: 'HighPriority', kept: 1 } }
  const [moved, own] = (await save(draft([node('a', old), node('b', { ...old, queueName: 'Main' })], []))).nodes
  assert.deepEqual([moved?.queueName, moved?.configuration], ['HighPriority', { kept: 1 }])
  assert.equal(own?.queueName, 'Main')
  const gone = { ...old, configuration: { queueName: 'Nowhere' } }
  await assert.rejects(save(draft([node('c', gone)], [])), /names a queue that does not exist: Nowhere/)
})
