import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import type { GraphDraft, NodeDraft } from './drafts.ts'
import { INPUT_NODE_TYPE, OUTPUT_NODE_TYPE } from './node-types.ts'

const INNER = '11111111-1111-4111-8111-111111111111'
const OUTER = '22222222-2222-4222-8222-222222222222'

describe('rule chains and files', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  const node = (name: string, type = 'test.Node', configuration: NodeDraft['configuration'] = {}): NodeDraft => ({
    ...{ name, type, configuration },
  })
  const graph = (ruleChainId: string, nodes: readonly NodeDraft[], labels: readonly string[] = []): GraphDraft => ({
    ruleChainId,
    firstNodeIndex: 0,
    nodes,
    connections: labels.map((type) => ({ fromIndex: 0, toIndex: 1, type })),
  })
  const pair = (suffix: string) => ({
    ruleChains: [
      { id: OUTER, name: `outer ${suffix}` },
      { id: INNER, name: `inner ${suffix}` },
    ],
    metadata: [
      graph(INNER, [node('done', OUTPUT_NODE_TYPE), node('Failed', OUTPUT_NODE_TYPE)]),
      graph(OUTER, [node('call', INPUT_NODE_TYPE, { ruleChainId: INNER }), node('next')], ['done', 'other']),
    ],
  })
  const chains = () => platform.services.ruleChains
  const imported = (file: ReturnType<typeof pair>, overwrite = false) =>
    chains().transfer.importByUser(platform.tenant, file, { overwrite })
  const countOfChains = async () =>
    (await chains().page(platform.tenantId, 'CORE', { page: 0, pageSize: 100 })).totalElements

  test('an import makes the chains under ids of their own, and follows them from chain to chain', async () => {
    platform.link.messages.length = 0
    const [outer, inner] = await imported(pair('one'))
    assert.ok(outer !== undefined && inner !== undefined && outer.ruleChainId !== OUTER && inner.ruleChainId !== INNER)
    const drawn = await chains().graph(platform.tenantId, outer.ruleChainId)
    assert.deepEqual(drawn?.nodes[0]?.configuration['ruleChainId'], inner.ruleChainId)
    assert.equal((await chains().find(platform.tenantId, outer.ruleChainId))?.firstRuleNodeId, drawn.nodes[0].id)
    const told = platform.link.messages.map(({ type, originator }) => [type, originator.id])
    assert.deepEqual(told, [
      ['ENTITY_CREATED', outer.ruleChainId],
      ['ENTITY_CREATED', inner.ruleChainId],
    ])
    assert.deepEqual(await chains().outputLabels.of(inner.ruleChainId), ['Failed', 'done'])
    const usage = await chains().outputLabels.usage(platform.tenantId, inner.ruleChainId)
    assert.deepEqual(
      usage.map(({ ruleChainName, ruleNodeName, labels }) => [ruleChainName, ruleNodeName, labels]),
      [['outer one', 'call', ['done', 'other']]],
    )
    assert.deepEqual(await chains().outputLabels.usage(platform.tenantId, outer.ruleChainId), [])
  })

  test('an output node that gets another name takes the connections of the callers along', async () => {
    const [outer, inner] = await imported(pair('renamed'))
    assert.ok(outer !== undefined && inner !== undefined)
    const rename = async (names: Readonly<Record<string, string>>, options = {}) => {
      const held = await chains().graph(platform.tenantId, inner.ruleChainId)
      assert.ok(held !== undefined)
      const nodes = held.nodes.map((each) => ({ ...each, name: names[each.name] ?? each.name }))
      await chains().saveGraphByUser(platform.tenant, { ...held, nodes, version: undefined }, options)
    }
    const labels = async () => {
      const drawn = await chains().graph(platform.tenantId, outer.ruleChainId)
      return drawn?.connections.map(({ type }) => type).toSorted()
    }
    const version = async () => (await chains().find(platform.tenantId, outer.ruleChainId))?.version ?? 0
    const first = await version()
    platform.link.messages.length = 0
    await rename({ done: 'finished' })
    assert.deepEqual(await labels(), ['finished', 'other'])
    assert.equal(await version(), first + 1)
    assert.deepEqual(
      platform.link.messages.map(({ type, originator }) => [type, originator.id]),
      [
        ['ENTITY_UPDATED', inner.ruleChainId],
        ['ENTITY_UPDATED', outer.ruleChainId],
      ],
    )
    await rename({ finished: 'ended' }, { updateRelated: false })
    assert.deepEqual(await labels(), ['finished', 'other'])
    assert.equal(await version(), first + 1)
  })

  test('two names that change places change places with the callers, and one that became two stays', async () => {
    const OTHER = '0b1c2d3e-0000-4000-8000-00000000aa01'
    const CALLED = '0b1c2d3e-0000-4000-8000-00000000aa02'
    const outputs = ['a', 'b', 'c', 'c'].map((name) => node(name, OUTPUT_NODE_TYPE))
    const [outer, inner] = await imported({
      ruleChains: [
        { id: OTHER, name: 'caller' },
        { id: CALLED, name: 'called' },
      ],
      metadata: [
        graph(CALLED, outputs),
        graph(OTHER, [node('call', INPUT_NODE_TYPE, { ruleChainId: CALLED }), node('next')], ['a', 'c']),
      ],
    })
    assert.ok(outer !== undefined && inner !== undefined)
    const held = await chains().graph(platform.tenantId, inner.ruleChainId)
    assert.ok(held !== undefined)
    const names = ['b', 'a', 'd', 'e']
    const nodes = held.nodes.map((each, place) => ({ ...each, name: names[place] ?? '' }))
    await chains().saveGraphByUser(platform.tenant, { ...held, nodes, version: undefined })
    const drawn = await chains().graph(platform.tenantId, outer.ruleChainId)
    assert.deepEqual(drawn?.connections.map(({ type }) => type).toSorted(), ['b', 'c'])
  })

  test('what was exported is imported again: beside the old one, or over it', async () => {
    await imported(pair('two'))
    const before = await countOfChains()
    const { ruleChains, metadata } = await chains().transfer.export(platform.tenantId, 1_000)
    const own = ruleChains.filter(({ name }) => name.endsWith('two'))
    const file = {
      ruleChains: own,
      metadata: metadata.filter(({ ruleChainId }) => own.some(({ id }) => id === ruleChainId)),
    }
    const over = await chains().transfer.importByUser(platform.tenant, file, { overwrite: true })
    assert.deepEqual(
      over.map(({ ruleChainId, isUpdate }) => [ruleChainId, isUpdate]),
      own.map(({ id }) => [id, true]),
    )
    assert.equal(await countOfChains(), before)
    assert.equal((await chains().find(platform.tenantId, own[0]?.id ?? ''))?.version, 3)
    const beside = await chains().transfer.importByUser(platform.tenant, file, { overwrite: false })
    assert.ok(beside.every(({ isUpdate, error }) => !isUpdate && error === undefined))
    assert.equal(await countOfChains(), before + 2)
  })

  test('a root chain that is imported over stays the root, a new one is none', async () => {
    const root = await chains().root(platform.tenantId)
    const file = { ruleChains: [{ id: OUTER, name: root?.name ?? '', root: true }], metadata: [] }
    const [over] = await chains().transfer.importByUser(platform.tenant, file, { overwrite: true })
    assert.equal(over?.ruleChainId, root?.id)
    const [beside] = await chains().transfer.importByUser(platform.tenant, file, { overwrite: false })
    assert.equal((await chains().find(platform.tenantId, beside?.ruleChainId ?? ''))?.root, false)
    assert.equal((await chains().root(platform.tenantId))?.id, root?.id)
  })

  test('one bad chain leaves nothing of the others', async () => {
    const file = pair('three')
    const bad = graph(INNER, [node('bad', 'test.Node', { bad: true })])
    const before = await countOfChains()
    const results = await imported({ ...file, metadata: [bad, ...file.metadata.slice(1)] })
    assert.deepEqual(
      results.map(({ error }) => error),
      [
        'Not imported, as another rule chain of the file can not be',
        "'bad' node configuration is invalid: The connection from node 0 to node 1 has no type",
      ],
    )
    assert.equal(await countOfChains(), before)
    const strange = { ...file, metadata: [graph('33333333-3333-4333-8333-333333333333', [])] }
    await assert.rejects(imported(strange), { status: 400 })
    await assert.rejects(
      imported({
        ...file,
        ruleChains: [
          { id: OUTER, name: 'a' },
          { id: OUTER, name: 'b' },
        ],
      }),
      {
        status: 400,
      },
    )
    assert.equal(await countOfChains(), before)
  })
})
