/**
 * A process that dies at a durable step of a save of "only changed" attributes: the log delivers the message again, and it tells what it would
 * have told without the kill.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CapabilityName } from '../../engine/rulechain/capabilities.ts'
import { causedId } from '../../engine/rulechain/child-id.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { NodeInstance } from '../../engine/rulechain/node-instance.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { saveAttributes } from '../../nodes/action/save-attributes.ts'
import { testContext } from '../../nodes/testkit.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { RESULT_TYPE } from '../calculated-fields/runtime/payload.ts'
import { storingNode } from '../calculated-fields/runtime/storing.ts'
import { atEveryStep } from '../kills/kill-steps.ts'
import { nodeAttributes } from '../node-capabilities/attributes.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'

const secrets = testSecrets()
const VALUES = { same: 1, other: 2 }
const ON_CHANGE = { updateAttributesOnlyOnValueChange: true, sendAttributesUpdatedNotification: true }

interface Case {
  readonly what: string
  readonly type: string
  readonly data: JsonObject
  readonly node: (context: NodeContext<CapabilityName>) => NodeInstance | Promise<NodeInstance>
}

const CASES: readonly Case[] = [
  {
    ...{ what: 'save attributes', type: 'POST_ATTRIBUTES_REQUEST', data: VALUES },
    node: (context) =>
      saveAttributes.create({ ...saveAttributes.defaultConfiguration, ...ON_CHANGE, scope: 'SERVER_SCOPE' }, context),
  },
  {
    ...{ what: 'calculated attributes', type: RESULT_TYPE, node: storingNode },
    data: {
      ...{ kind: 'attributes', scope: 'SERVER_SCOPE', values: VALUES, ...ON_CHANGE },
      ...{ saveAttribute: true, sendWsUpdate: true, processCfs: false },
    },
  },
]

await onBothDatabases('news of changed attributes, ', (open) => {
  let live: TestPlatform
  let dying: TestPlatform
  let store: EntityStore
  before(async () => {
    live = await open({ secrets })
    store = live.entities
    const switched: EntityStore = {
      ...live.entities,
      write: (steps) => store.write(steps),
      close: async () => undefined,
    }
    dying = await openTestPlatform({ start: false, secrets, openEntities: async () => switched })
  })
  after(async () => {
    await dying.close()
    await live.close()
  })

  for (const each of CASES)
    test(each.what, async () => {
      let kills = 0
      const steps = await atEveryStep(live.entities, async (killed, { step, when }) => {
        const { id } = await live.services.devices.saveByUser(live.tenant, { name: `${each.what} ${step} ${when}` })
        const device = entityId('DEVICE', id)
        await change(live, device, 'same', 1)
        killed.arm()
        store = killed.store
        await run(each, dying, device).catch(() => undefined)
        store = live.entities
        if (killed.isDead) kills++

        live.clock.time += 1000
        const told = await run(each, live, device)
        assert.deepEqual(
          told.map(({ data }) => data),
          ['{"other":2}'],
          `${step} ${when}`,
        )
        // All was done and told, but not settled; a user changed it meanwhile.
        await change(live, device, 'other', 3)
        assert.deepEqual(await run(each, live, device), told)
        const { value } = await live.services.attributes.find(device, 'SERVER_SCOPE', ['other'])
        assert.equal(value[0]?.value, 3)
      })
      assert.ok(steps >= 1 && kills >= 2, `${steps} steps, ${kills} kills`)
    })

  test('another node, and another message, finds what was written unchanged', async () => {
    const { id } = await live.services.devices.saveByUser(live.tenant, { name: 'others' })
    const [device, [each]] = [entityId('DEVICE', id), CASES]
    assert.ok(each !== undefined)
    const count = async (node: string, message: string) => (await run(each, live, device, node, message)).length
    assert.deepEqual(
      [await count('node', 'message'), await count('other node', 'message'), await count('node', 'other message')],
      [1, 0, 0],
    )
    // A time-out has it tried again in the same process, which knows the attributes from its own memory.
    assert.equal(await count('node', 'message'), 1)
  })
})

async function change({ services, tenant }: TestPlatform, device: EntityId, key: string, value: number) {
  await services.attributes.saveByUser(tenant, device, 'SERVER_SCOPE', [{ key, type: 'LONG', value }])
}

/** One delivery of the message at a node. */
async function run(each: Case, platform: TestPlatform, device: EntityId, node = 'node', name = 'message') {
  const { clock, tenantId, services } = platform
  const message = new Message({
    ...{ id: name, ts: 1_700_000_000_000, type: each.type, tenantId, originator: device, metadata: {} },
    data: JSON.stringify(each.data),
  })
  message.sequence = 7
  const test = testContext({ clock })
  const attributes = nodeAttributes(services, { owns: () => true })({ tenantId })
  const context = { ...test, tenantId, ruleNodeId: node, services: { ...test.services, attributes } }
  const visit = () => ({ id: message.id, originatorId: device.id, sequence: message.sequence })
  const instance = await each.node(context)
  try {
    await instance.handle?.(message, { visit })
  } finally {
    await instance.close?.()
  }
  return test.enqueued.map((one) => ({ id: causedId(one, node), data: one.data }))
}
