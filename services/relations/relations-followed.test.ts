import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openField } from '../../nodes/calculated/kinds.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import { payloadOf, TRIGGER_TYPE } from '../calculated-fields/runtime/payload.ts'
import { assets } from '../entities/asset.ts'
import { openTestPlatform } from '../testkit.ts'

test('calculated fields are told of a relation that came or went, and of nothing that was so before', async (t) => {
  const platform = await openTestPlatform({ openField })
  t.after(() => platform.close())
  const { services, tenant, tenantId, entities, link } = platform
  await services.calculation?.start()
  const hall = await services.declared.of(assets).saveByUser(tenant, { name: 'hall' })
  const from = entityId('ASSET', hall.id)
  const levels = [{ direction: 'FROM', relationType: 'Contains' }]
  const configuration = {
    ...{ type: 'SIMPLE', expression: 't', output: { type: 'TIME_SERIES', name: 'o' } },
    arguments: {
      t: {
        refEntityKey: { key: 'temperature', type: 'TS_LATEST' },
        refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels },
      },
    },
  }
  await services.calculatedFields.saveByUser(tenant, { entityId: from, name: 'f', type: 'SIMPLE', configuration })
  const relation = (to: EntityId) =>
    ({ from, to, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null }) as const
  const newsOf = async (to: EntityId): Promise<readonly Message[]> => {
    const queued = (await entities.outbox.after(0, 10_000)).map(({ message }) => message)
    const news = new Map([...queued, ...link.messages].map((message) => [message.id, message]))
    return [...news.values()].filter((message) => {
      if (message.type !== TRIGGER_TYPE) return false
      const payload = payloadOf(message.json())
      return payload.kind === 'relations' && payload.changed.some((changed) => changed.to.id === to.id)
    })
  }
  /** How often it was told of the relation. */
  const told = async (to: EntityId): Promise<number> => (await newsOf(to)).length
  // The field is known here a moment after it was saved.
  for (let known = 0; known === 0;) {
    const to = entityId('ASSET', randomUUID())
    await services.relations.save(tenantId, relation(to))
    known = await told(to)
  }
  const to = entityId('ASSET', randomUUID())
  await services.relations.save(tenantId, relation(to))
  await services.relations.save(tenantId, relation(to))
  assert.equal(await told(to), 1)
  assert.equal(await services.relations.delete(tenantId, relation(to)), true)
  assert.equal(await told(to), 2)
  assert.equal(await services.relations.delete(tenantId, relation(to)), false)
  assert.equal(await told(to), 2)
  const behind = entityId('ASSET', randomUUID())
  await services.relations.save(tenantId, relation(behind), ['f'])
  await services.relations.delete(tenantId, relation(behind), ['f'])
  const news = await newsOf(behind)
  assert.deepEqual(
    news.map(({ calculatedFieldIds }) => calculatedFieldIds),
    [['f'], ['f']],
    'behind a result they say of which field',
  )
})
