import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock, Random } from '../../model/clock.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import type { CapabilitySources } from './capabilities.ts'
import { nodeContext } from './node-context.ts'
import { TENANT_ID, chainOf, loaded, testEngine } from './testkit.ts'

const { chain, graph } = chainOf('chain-1', [{ type: 'test', name: 'the node' }], [])

function contextOf(capabilities: CapabilitySources, uses: Parameters<typeof nodeContext>[3]) {
  const clock: Clock = new ManualClock()
  const random: Random = new SeededRandom(1)
  const sources = {
    ...{ clock, random, capabilities, settings: { castStrings: true, logsInfo: true } },
    ...{ link: { publish: () => undefined }, log: () => undefined, enqueued: () => undefined },
  }
  const [node] = graph.nodes
  assert.ok(node !== undefined)
  return nodeContext(sources, chain, node, uses)
}

test('a node gets the capabilities it names, made for it, and no other', () => {
  const madeFor: string[] = []
  const queues = { linkName: async () => undefined }
  const sources: CapabilitySources = {
    queues: ({ tenantId, ruleNodeName }) => {
      madeFor.push(tenantId, ruleNodeName)
      return queues
    },
    views: () => {
      throw new Error('nobody named it')
    },
  }
  const { services } = contextOf(sources, ['queues'])
  assert.deepEqual(services, { queues })
  assert.deepEqual(madeFor, [TENANT_ID, 'the node'])
})

test('a node that names what there is no source for does not start, and the reason names it', () => {
  assert.throws(() => contextOf({}, ['mail']), /'mail'/)
})

test('a node is made of its opened configuration, its capabilities know the secrets in it, and the record stays sealed', async () => {
  const made: unknown[] = []
  const known: unknown[] = []
  const states: CapabilitySources['state'] = ({ secrets }) => {
    known.push(secrets)
    throw new Error('there is no state here')
  }
  const { engine, clock } = testEngine({ test: () => ({ handle: () => 'Success' }) }, {}, undefined, {
    capabilities: { state: states },
    openConfiguration: ({ configuration }) => {
      made.push(configuration)
      return { password: 'open' }
    },
  })
  const sealed = { password: 'sealed' }
  const drawn = { ...graph, nodes: graph.nodes.map((node) => ({ ...node, configuration: sealed })) }
  await loaded(clock, engine.load(chain, drawn))
  assert.deepEqual(made, [sealed])
  assert.deepEqual(known, [['open']])
  await engine.close()
})

test('a node whose configuration can not be opened does not start, and says why', async () => {
  const { engine, clock } = testEngine({ test: () => ({ handle: () => 'Success' }) }, {}, undefined, {
    openConfiguration: () => {
      throw new Error('fill in the password')
    },
  })
  const { nodes } = await loaded(clock, engine.load(chain, graph))
  assert.match(nodes[0]?.error?.message ?? '', /'the node'.*fill in the password/)
  await engine.close()
})
