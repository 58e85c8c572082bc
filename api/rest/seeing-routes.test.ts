import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { ChainStatistics } from '../../engine/rulechain/rule-engine.ts'
import { openRestWorld, type RestWorld } from '../../test/security/rest-world.ts'

const MESSAGE = '44444444-4444-4444-8444-444444444444'
const NODES = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const

async function get(world: RestWorld, path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${world.url}${path}`, { headers: { 'x-authorization': `Bearer ${world.tenant}` } })
  return { status: answer.status, body: JSON.parse(await answer.text()) as unknown }
}

test('the way of a message is told step by step, in the order in which its nodes told it, of the own tenant', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const { platform, otherTenantId } = world
  const add = (tenantId: string, node: string, type: 'IN' | 'OUT', relationType: string, msgId = MESSAGE): void =>
    platform.services.events.writer.add({
      type: 'DEBUG_RULE_NODE',
      tenantId,
      entity: entityId('RULE_NODE', node),
      body: {
        type,
        relationType,
        msgId,
        msgType: 'T',
        entityType: 'DEVICE',
        entityId: MESSAGE,
        data: '{}',
        metadata: '{}',
      },
    })
  add(platform.tenantId, NODES[0], 'IN', '')
  add(platform.tenantId, NODES[0], 'OUT', 'True')
  add(platform.tenantId, NODES[1], 'IN', 'True')
  add(platform.tenantId, NODES[1], 'OUT', 'Success')
  add(platform.tenantId, NODES[1], 'OUT', 'Success', 'another')
  add(otherTenantId, NODES[0], 'IN', '')
  const { status, body } = await get(world, `/api/ruleEngine/message/${MESSAGE}/path`)
  assert.equal(status, 200)
  assert.ok(Array.isArray(body))
  const steps = body as readonly {
    readonly ruleNodeId: { readonly id: string }
    readonly direction: string
    readonly relation: string
  }[]
  assert.deepEqual(
    steps.map(({ ruleNodeId, direction, relation }) => [
      NODES.findIndex((id) => id === ruleNodeId.id),
      direction,
      relation,
    ]),
    [
      [0, 'IN', ''],
      [0, 'OUT', 'True'],
      [1, 'IN', 'True'],
      [1, 'OUT', 'Success'],
    ],
  )
  assert.deepEqual((await get(world, `/api/ruleEngine/message/${NODES[0]}/path`)).body, [])
})

test('figures of a chain are those of the engine here; without one the process says so', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const { platform } = world
  const root = await platform.services.ruleChains.root(platform.tenantId)
  assert.ok(root !== undefined)
  const path = `/api/ruleChain/${root.id}/statistics`
  assert.equal((await get(world, path)).status, 404)
  const statistics: ChainStatistics = {
    ...{ ruleChainId: root.id, tenantId: platform.tenantId, name: 'Root', inFlight: 1, dropped: 0 },
    nodes: [
      {
        ...{ ruleNodeId: NODES[0], name: 'first', type: 'T', received: 10, failed: 2, timedOut: 1, late: 0, busyMs: 3 },
        ...{ since: 0, ended: 4, latency: { measured: 5, p50: 1, p95: 2, p99: 3, max: 4 } },
        routes: [{ relation: 'True', targets: [NODES[1]], taken: 6 }],
      },
    ],
  }
  platform.services.chainStatistics.follow(() => statistics)
  const { status, body } = await get(world, path)
  assert.equal(status, 200)
  const { nodes, inFlight } = body as { readonly nodes: readonly Record<string, unknown>[]; readonly inFlight: number }
  const [{ edges, messages, failures, latency, ended } = {}] = nodes
  assert.deepEqual([inFlight, messages, failures, ended], [1, 10, 2, 4])
  assert.deepEqual(latency, { measured: 5, p50: 1, p95: 2, p99: 3, max: 4 })
  const [edge] = edges as readonly { readonly to: unknown; readonly messages: number }[]
  assert.deepEqual([edge?.to, edge?.messages], [[{ entityType: 'RULE_NODE', id: NODES[1] }], 6])
})

test('nodes that did not start are told with one call: by their last try, of the own tenant alone', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const { platform, otherTenantId } = world
  const { services, tenantId } = platform
  const root = await services.ruleChains.root(tenantId)
  assert.ok(root !== undefined)
  const [broken, mended, foreign] = (await services.ruleChains.graph(tenantId, root.id))?.nodes ?? []
  assert.ok(broken !== undefined && mended !== undefined && foreign !== undefined)
  let createdTime = 0
  const start = (owner: string, { id }: { readonly id: string }, error?: string) => ({
    ...{ id: randomUUID(), createdTime: ++createdTime, tenantId: owner, server: 'here', type: 'LC_EVENT' as const },
    entity: entityId('RULE_NODE', id),
    body: { event: 'STARTED', success: error === undefined, ...(error === undefined ? {} : { error }) },
  })
  await platform.entities.events.add([
    ...[start(tenantId, broken), start(tenantId, broken, 'no such topic')],
    ...[start(tenantId, mended, 'no such host'), start(tenantId, mended)],
    start(otherTenantId, foreign, 'of another tenant'),
  ])
  assert.deepEqual((await get(world, `/api/ruleChain/${root.id}/startErrors`)).body, [
    { ruleNodeId: { entityType: 'RULE_NODE', id: broken.id }, error: 'no such topic' },
  ])
})
