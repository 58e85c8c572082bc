import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogueOf } from '../engine/rulechain/testkit.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import { catalogue as realNodes } from '../nodes/catalogue.ts'
import { defineErrors } from '../model/errors.ts'
import { stringifyJson } from '../model/json.ts'
import { checkChain, findingText } from '../services/rule-chains/check.ts'
import { incomingFrom } from '../services/rule-chains/incoming.ts'
import { parseChain, type DrawnChain, type DrawnNode } from './chain-file.ts'

const Errors = defineErrors('test', {
  BAD: { kind: 'invalid', status: 400, text: 'the script does not compile at 1:7' },
  AWAY: { kind: 'retryable', status: 503, text: 'no broker' },
})

type Line = readonly [name: string, type: string]

function chainOf(
  nodes: readonly Line[],
  connections: readonly (readonly [number, string, number])[],
  first: number | null = 0,
): DrawnChain {
  const file = {
    ruleChain: { name: 'Thermostat' },
    metadata: {
      firstNodeIndex: first,
      nodes: nodes.map(([name, type], index) => ({
        name,
        type,
        configuration: {},
        additionalInfo: { layoutX: index * 100, layoutY: 50 },
      })),
      connections: connections.map(([fromIndex, type, toIndex]) => ({ fromIndex, type, toIndex })),
    },
  }
  return parseChain(stringifyJson(file), 'thermostat.json')
}

const nothing = { handle: () => 'Success' }
const made = catalogueOf({ filter: () => nothing, save: () => nothing, broken: () => nothing, broker: () => nothing })
const filter = made.find('filter')
const catalogue: Pick<NodeCatalogue, 'find'> = {
  find: (type) =>
    type === 'filter' && filter !== undefined ? { ...filter, relations: ['True', 'False'] } : made.find(type),
}

async function tryNode({ type }: DrawnNode): Promise<Error | undefined> {
  return type === 'broken' ? Errors.BAD() : type === 'broker' ? Errors.AWAY() : undefined
}

async function findings(chain: DrawnChain): Promise<readonly string[]> {
  return (await checkChain(chain, { catalogue, tryNode })).map((finding) => findingText(chain, finding))
}

test('a chain without a fault has no findings, and a broker that is away is none', async () => {
  const chain = chainOf(
    [
      ['Warm', 'filter'],
      ['Save', 'save'],
      ['Send', 'broker'],
    ],
    [
      [0, 'true', 1],
      [0, 'Failure', 2],
    ],
  )
  assert.deepEqual(await findings(chain), [])
})

test('every fault is told at once, with its node and place', async () => {
  const chain = chainOf(
    [
      ['Warm', 'filter'],
      ['Save', 'save'],
      ['Odd', 'nobody.knows'],
      ['Script', 'broken'],
      ['Alone', 'save'],
    ],
    [
      [0, 'True', 1],
      [0, 'Success', 2],
      [0, 'False', 3],
    ],
  )
  assert.deepEqual(await findings(chain), [
    "warning node 0 'Warm' at 0,50: nothing ever takes its connection 'Success': filter emits 'True', 'False', 'Failure'",
    "error   node 2 'Odd' at 200,50: its type is unknown: nobody.knows",
    "error   node 3 'Script' at 300,50: the script does not compile at 1:7",
    "warning node 4 'Alone' at 400,50: no way leads to it from the first node",
  ])
})

test('a first node that fails what is no telemetry is told, unless its failures lead somewhere', async () => {
  const save = ['Save', 'save time series'] as const
  const telemetry = made.find('save')
  assert.ok(telemetry !== undefined)
  const found = async (chain: DrawnChain) => {
    const takes = { ...telemetry, relations: ['Success'], takes: ['POST_TELEMETRY_REQUEST'] }
    const own: typeof catalogue = { find: (type) => (type === save[1] ? takes : catalogue.find(type)) }
    return (await checkChain(chain, { catalogue: own, tryNode })).map((finding) => findingText(chain, finding))
  }
  assert.deepEqual(await found(chainOf([save], [])), [
    "warning node 0 'Save' at 0,50: save takes POST_TELEMETRY_REQUEST alone: all other messages, such as CONNECT_EVENT, fail here and become dead letters; put a message type switch before it",
  ])
  assert.deepEqual(await found(chainOf([save, ['Log', 'save']], [[0, 'failure', 1]])), [])
  assert.deepEqual(await found(chainOf([['Warm', 'filter'], save], [[0, 'True', 1]])), [])
})

test('a chain into which others lead behind a type switch alone may begin with what fails all else', async () => {
  const id = '0a1b2c3d-0000-1000-8000-000000000001'
  const save = ['Save', 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode'] as const
  const input: Line = ['In', 'org.thingsboard.rule.engine.flow.TbRuleChainInputNode']
  const switching: Line = ['Sort', 'org.thingsboard.rule.engine.filter.TbMsgTypeSwitchNode']
  const filtering: Line = ['Some', 'org.thingsboard.rule.engine.filter.TbMsgTypeFilterNode']
  const leading = (nodes: readonly Line[], connections: Parameters<typeof chainOf>[1]): DrawnChain => {
    const chain = chainOf(nodes, connections)
    const configured = chain.nodes.map((node) => ({
      ...node,
      configuration: node.name === 'In' ? { ruleChainId: id } : { messageTypes: ['POST_TELEMETRY_REQUEST'] },
    }))
    return { ...chain, nodes: configured }
  }
  const found = async (...others: readonly DrawnChain[]) => {
    const parts = { catalogue: realNodes, tryNode, incoming: incomingFrom(others, id, realNodes) }
    return (await checkChain(chainOf([save], []), parts)).length
  }
  const sorted = leading([switching, input], [[0, 'Post telemetry', 1]])
  const filtered = leading([filtering, input], [[0, 'true', 1]])
  const log: Line = ['Log', 'org.thingsboard.rule.engine.action.TbLogNode']
  const between = leading(
    [switching, log, input],
    [
      [0, 'post telemetry', 1],
      [1, 'Success', 2],
    ],
  )
  assert.deepEqual([await found(sorted), await found(filtered), await found(between)], [0, 0, 0])
  assert.deepEqual(
    [
      await found(),
      await found(sorted, leading([input], [])),
      await found(leading([switching, input], [[0, 'Other', 1]])),
      await found(
        leading(
          [switching, input],
          [
            [0, 'Post telemetry', 1],
            [0, 'Connect Event', 1],
          ],
        ),
      ),
      await found(leading([filtering, input], [[0, 'False', 1]])),
    ],
    [1, 1, 1, 1, 1],
  )
})

test('a secret that the file masks is told', async () => {
  const chain = chainOf([['login', 'save']], [])
  const masked = chain.nodes.map((node) => ({ ...node, configuration: { credentials: { password: '********' } } }))
  assert.deepEqual(await findings({ ...chain, nodes: masked }), [
    "error   node 0 'login' at 0,50: 'credentials.password' is masked: fill in the secret",
  ])
})

test('each way back is named with the nodes on it', async () => {
  const nodes = ['A', 'B', 'C', 'D'].map((name): Line => [name, 'save'])
  const chain = chainOf(nodes, [
    [0, 'Success', 1],
    [1, 'Success', 2],
    [2, 'Success', 1],
    [2, 'Failure', 3],
    [3, 'Success', 0],
  ])
  assert.deepEqual(await findings(chain), [
    "error   node 0 'A' at 0,50: a way leads back to it: 'A' → 'B' → 'C' → 'D' → 'A'",
    "error   node 1 'B' at 100,50: a way leads back to it: 'B' → 'C' → 'B'",
  ])
})

test('places that no node has, and a connection to the node itself', async () => {
  const chain = chainOf(
    [['A', 'save']],
    [
      [0, 'Success', 3],
      [0, 'Success', 0],
    ],
    7,
  )
  assert.deepEqual(await findings(chain), [
    'error   chain: firstNodeIndex 7 is not the place of a node: there are 1',
    "error   chain: connection 'Success' from 0 to 3: there are 1 nodes",
    "error   node 0 'A' at 0,50: 'Success' leads to the node itself",
  ])
})

test('a chain without a first node settles everything', async () => {
  assert.deepEqual(await findings(chainOf([['A', 'save']], [], null)), [
    'warning chain: no node is the first: every message ends here, settled',
  ])
})

test('a legacy connection to another chain is a node of its own', () => {
  const id = '0a1b2c3d-0000-1000-8000-000000000001'
  const text = stringifyJson({
    firstNodeIndex: 0,
    nodes: [{ name: 'A', type: 'save' }],
    connections: null,
    ruleChainConnections: [{ fromIndex: 0, targetRuleChainId: { entityType: 'RULE_CHAIN', id }, type: 'Success' }],
  })
  const chain = parseChain(text, 'old.json')
  assert.deepEqual(chain.nodes[1]?.configuration, { ruleChainId: id, forwardMsgToDefaultRuleChain: false })
  assert.deepEqual(chain.connections, [{ fromIndex: 0, toIndex: 1, type: 'Success' }])
})

test('what is no chain is refused with the reason', () => {
  assert.throws(() => parseChain('{"name":1}', 'x.json'), /x\.json is no exported rule chain/)
  assert.throws(() => parseChain('{', 'x.json'), /Invalid JSON/)
})
