import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { AttributeScope } from '../../model/value.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { assets } from './asset.ts'
import { entityViews } from './entity-view.ts'

const NONE = { cs: [], ss: [], sh: [] }

describe('entity views', () => {
  let platform: TestPlatform
  let source: EntityId
  let made = 0

  before(async () => {
    platform = await openTestPlatform()
    const { services, tenant } = platform
    const { id } = await services.devices.saveByUser(tenant, { name: 'source' })
    source = entityId('DEVICE', id)
    await services.attributes.saveByUser(tenant, source, 'SERVER_SCOPE', [
      { key: 's1', type: 'STRING', value: 'a' },
      { key: 's2', type: 'STRING', value: 'b' },
    ])
    await services.attributes.saveByUser(tenant, source, 'SHARED_SCOPE', [{ key: 'sh1', type: 'LONG', value: 1 }])
  })
  after(() => platform.close())

  const views = () => platform.services.declared.of(entityViews)

  const draft = (members: object = {}) => ({ name: `view ${++made}`, type: 't', entityId: source, ...members })

  async function attributesOf(id: string, scope?: AttributeScope): Promise<readonly string[]> {
    const { value } = await platform.services.attributes.find(entityId('ENTITY_VIEW', id), scope, undefined)
    return value.map(({ key, value: held }) => `${key}=${held}`)
  }

  test('copy the attributes they show when they are saved, and take back what they show no more', async () => {
    const { tenant, services } = platform
    const keys = { timeseries: [], attributes: { cs: [], ss: ['s1', 'absent'], sh: ['sh1'] } }
    const view = await views().saveByUser(tenant, draft({ keys }))
    assert.deepEqual(await attributesOf(view.id), ['s1=a', 'sh1=1'])
    const entity = entityId('ENTITY_VIEW', view.id)
    await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [{ key: 'own', type: 'LONG', value: 9 }])
    const other = { timeseries: [], attributes: { ...NONE, ss: ['s2'] } }
    await views().saveByUser(tenant, { ...view, keys: other })
    assert.deepEqual(await attributesOf(view.id), ['own=9', 's2=b'])
  })

  test('copy only attributes that were written within their time', async () => {
    const keys = { timeseries: [], attributes: { ...NONE, ss: ['s1'] } }
    const now = platform.clock.now()
    const copied = async (startTimeMs: number, endTimeMs: number) => {
      const view = await views().saveByUser(platform.tenant, draft({ keys, startTimeMs, endTimeMs }))
      return (await attributesOf(view.id)).length
    }
    assert.equal(await copied(0, now - 1), 0)
    assert.equal(await copied(now + 1, 0), 0)
    assert.equal(await copied(now - 1, now + 1), 1)
    assert.equal(await copied(now - 1, 0), 1)
  })

  test('keep a device and an asset from being deleted', async () => {
    const { tenant, services } = platform
    const asset = await services.declared.of(assets).saveByUser(tenant, { name: 'seen asset' })
    const view = await views().saveByUser(tenant, draft({ entityId: entityId('ASSET', asset.id) }))
    const deleting = () => services.declared.of(assets).deleteByUser(tenant, asset.id)
    const message = "Can't delete asset that has entity views or is referenced in calculated fields!"
    await assert.rejects(deleting, { status: 400, message })
    await views().deleteByUser(tenant, view.id)
    await deleting()
  })

  test('are refused without a source, of one that is not there, and of another tenant', async () => {
    const { tenant } = platform
    const saving = (entity: EntityId | undefined) => views().saveByUser(tenant, draft({ entityId: entity }))
    await assert.rejects(saving(undefined), { status: 400 })
    const unknown = entityId('DEVICE', '11111111-2222-4333-8444-555555555555')
    await assert.rejects(saving(unknown), { status: 404, message: `Device with id [${unknown.id}] is not found` })
    const stranger = { ...tenant, tenantId: '11111111-2222-4333-8444-666666666666' }
    await assert.rejects(views().saveByUser(stranger, draft()), { status: 403 })
  })

  test('show a customer user no more of a source that is not the customer’s', async () => {
    const { tenant, customer } = platform
    const mine = { customerId: customer.customerId ?? '' }
    const view = await views().saveByUser(tenant, draft({ ...mine, endTimeMs: 5 }))
    const renamed = await views().saveByUser(customer, { ...view, name: 'renamed' })
    assert.equal(renamed.name, 'renamed')
    await assert.rejects(views().saveByUser(customer, { ...renamed, endTimeMs: 0 }), { status: 403 })
    const keys = { timeseries: ['secret'], attributes: NONE }
    await assert.rejects(views().saveByUser(customer, { ...renamed, keys }), { status: 403 })
  })

  test('refuse telemetry of their own, from users and from rule nodes', async () => {
    const view = await views().saveByUser(platform.tenant, draft())
    const entity = entityId('ENTITY_VIEW', view.id)
    const group = { ts: 1, entries: [{ key: 'k', type: 'LONG', value: 1 }] } as const
    const refusal = { status: 400, message: "Telemetry data can't be stored for entity view. Read only" }
    await assert.rejects(platform.services.telemetry.saveByUser(platform.tenant, entity, [group], 0), refusal)
    const { tenantId } = platform
    const request = {
      tenantId,
      entity,
      points: [],
      sequence: 1,
      ttlSeconds: 0,
      history: true,
      latest: true,
      notify: true,
    }
    const error = await new Promise((resolve) => platform.services.telemetry.save(request, resolve))
    assert.equal((error as Error).message, refusal.message)
  })
})
