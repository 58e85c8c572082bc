import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import { isJsonObject, parseJson, type JsonValue } from '../../model/json.ts'
import { openRestWorld } from '../../test/security/rest-world.ts'

test('events are the caller’s tenant’s, whatever tenant the query names; system administrators name one', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const { platform, otherTenantId } = world
  const entity = entityId('TENANT', platform.tenantId)
  for (const [tenantId, event] of [
    [platform.tenantId, 'own'],
    [otherTenantId, 'foreign'],
  ] as const)
    platform.services.events.writer.add({ type: 'LC_EVENT', tenantId, entity, body: { event, success: true } })
  const path = `${world.url}/api/events/TENANT/${platform.tenantId}`
  const seen = async (token: string, tenantId: string): Promise<readonly JsonValue[]> => {
    const query = `?tenantId=${tenantId}&pageSize=9&page=0`
    const filter = JSON.stringify({ eventType: 'LC_EVENT' })
    const headers = { 'x-authorization': `Bearer ${token}` }
    const answers = await Promise.all([
      fetch(`${path}${query}`, { headers }),
      fetch(`${path}/LC_EVENT${query}`, { headers }),
      fetch(`${path}${query}`, { headers, method: 'POST', body: filter }),
    ])
    const pages = await Promise.all(answers.map(async (answer) => parseJson(await answer.text())))
    return pages.map((page) => {
      const data = isJsonObject(page) && Array.isArray(page['data']) ? page['data'] : [page]
      return data.map((each) =>
        isJsonObject(each) && isJsonObject(each['body']) ? (each['body']['event'] ?? each) : each,
      )
    })
  }
  assert.deepEqual(await seen(world.tenant, otherTenantId), [['own'], ['own'], ['own']])
  assert.deepEqual(await seen(world.tenant, platform.tenantId), [['own'], ['own'], ['own']])
  assert.deepEqual(await seen(world.systemAdministrator, otherTenantId), [['foreign'], ['foreign'], ['foreign']])
})
