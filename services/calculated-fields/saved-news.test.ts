/** A process that dies at any durable step of a field's save: where the field is there, what makes its entities calculate is too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openField } from '../../nodes/calculated/kinds.ts'
import { entityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { assets } from '../entities/asset.ts'
import { calculatedFields } from '../entities/calculated-field.ts'
import { atEveryStep } from '../kills/kill-steps.ts'
import { openTestPlatform, testSecrets } from '../testkit.ts'
import { payloadOf, TRIGGER_TYPE } from './runtime/payload.ts'

const secrets = testSecrets()
const configuration = {
  type: 'SIMPLE',
  arguments: { t: { refEntityKey: { key: 'x', type: 'ATTRIBUTE', scope: 'SERVER_SCOPE' } } },
  expression: 't + 1',
  output: { type: 'TIME_SERIES', name: 'y' },
}

await onBothDatabases('calculated fields are saved with their news, ', (open) => {
  test('at each step', async (t) => {
    const platform = await open({ secrets })
    t.after(() => platform.close())
    const { entities: store, tenant, tenantId, services } = platform
    const all = services.declared.of(calculatedFields)
    let seen = 0
    const steps = await atEveryStep(store, async (killed, { step, when }) => {
      const hall = await services.declared.of(assets).saveByUser(tenant, { name: `hall ${step} ${when}` })
      const dying = await openTestPlatform({
        ...{ start: false, openField, secrets },
        openEntities: () => Promise.resolve(killed.store),
      })
      const draft = { entityId: entityId('ASSET', hall.id), name: 'field', type: 'SIMPLE', configuration } as const
      killed.arm()
      const save = async (): Promise<void> => {
        const { id } = await dying.services.calculatedFields.saveByUser(tenant, draft)
        await dying.services.calculatedFields.saveByUser(tenant, { ...draft, id, name: 'renamed' })
      }
      await save().catch(() => undefined)
      const queued = (await store.outbox.after(0, 10_000)).map(({ message }) => message)
      const told = [...queued, ...dying.link.messages].filter(
        ({ type, originator }) => type === TRIGGER_TYPE && originator.id === hall.id,
      )
      const [field] = await all.findAllBy(tenantId, { ownerId: hall.id })
      const versions = field === undefined ? [] : Array.from({ length: field.version }, (_, index) => index + 1)
      assert.deepEqual(told.map(versionOf), versions, `${step} ${when}`)
      assert.ok(told.every(({ ruleChainId }) => ruleChainId === tenantId))
      seen += told.length
      await dying.close()
    })
    assert.ok(steps >= 2 && seen >= 3, `${steps} steps, ${seen} told`)
  })
})

function versionOf(message: Message): number | undefined {
  const news = payloadOf(message.json())
  return news.kind === 'field' ? news.version : undefined
}
