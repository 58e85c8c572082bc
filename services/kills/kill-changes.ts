/** For tests: changes by a user that a process may die in, and what must hold whenever it did. */
import assert from 'node:assert/strict'
import { entityId } from '../../model/entity-id.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { actionOf } from '../audit/actions.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { dashboards } from '../entities/dashboard.ts'
import { devices } from '../entities/device.ts'
import { users } from '../entities/user.ts'
import type { TestPlatform } from '../testkit.ts'

/** Changes by a user, each with names of its own. */
export const CHANGES: Readonly<Record<string, (platform: TestPlatform, name: string) => Promise<void>>> = {
  'a device with a new profile and its credentials': async ({ services, tenant }, name) => {
    const device = await services.devices.saveByUser(tenant, { name, type: `type of ${name}` }, `token-${name}`)
    await services.devices.saveByUser(tenant, { id: device.id, name, label: 'changed' }, `other-${name}`)
    await services.declared.of(devices).deleteByUser(tenant, device.id)
  },
  'an asset with attributes, assigned to a customer': async ({ services, tenant }, name) => {
    const customer = await services.declared.of(customers).saveByUser(tenant, { title: name })
    const asset = await services.declared.of(assets).saveByUser(tenant, { name, type: 'hall' })
    await services.declared.of(assets).assignByUser(tenant, asset.id, customer)
    const attribute = { key: 'floor', type: 'LONG', value: 1 } as const
    await services.attributes.saveByUser(tenant, entityId('ASSET', asset.id), 'SERVER_SCOPE', [attribute])
    await services.declared.of(customers).deleteByUser(tenant, customer.id)
  },
  'a dashboard of two customers': async ({ services, tenant }, name) => {
    const all = services.declared.of(customers)
    const two = [
      await all.saveByUser(tenant, { title: `${name} 1` }),
      await all.saveByUser(tenant, { title: `${name} 2` }),
    ]
    const dashboard = await services.declared.of(dashboards).saveByUser(tenant, { title: name })
    await services.content.dashboards.setCustomers(tenant, dashboard.id, two)
  },
  'a user, and a relation to it': async ({ services, tenant, tenantId }, name) => {
    const email = `${name.replace(/\W/g, '-')}@example.org`
    const user = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
    const ends = { from: entityId('TENANT', tenantId), to: entityId('USER', user.id) }
    await services.relations.saveByUser(tenant, { ...ends, type: 'Has', typeGroup: 'COMMON', additionalInfo: null })
  },
  'a rule chain': async ({ services, tenant }, name) => {
    const { id } = await services.ruleChains.saveByUser(tenant, { name })
    await services.ruleChains.deleteByUser(tenant, id)
  },
}

/** What the audit log says was done is what the rule engine hears of, and what was made is there. */
export async function assertAllOrNone(store: EntityStore, { services, tenantId }: TestPlatform): Promise<void> {
  const page = { pageSize: 10_000, page: 0 }
  const { data } = await services.audit.page(
    { tenantId, startTime: 0, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] },
    page,
  )
  const done = data.filter(({ actionStatus }) => actionStatus === 'SUCCESS')
  const audited = done.map(({ actionType, entity }) => `${actionType} ${entity.id}`)
  const messages = (await store.outbox.after(0, 10_000)).map(({ message }) => message)
  const told = messages.map(({ type, originator }) => `${actionOf(type as 'ENTITY_CREATED') ?? ''} ${originator.id}`)
  const ofRelations = (text: string): boolean => text.startsWith('RELATION')
  assert.deepEqual(
    audited.filter((text) => !ofRelations(text)).toSorted(),
    told.filter((text) => !ofRelations(text)).toSorted(),
  )
  assert.equal(audited.some(ofRelations), told.some(ofRelations))
  const gone = new Set(done.filter(({ actionType }) => actionType === 'DELETED').map(({ entity }) => entity.id))
  for (const { actionType, entity } of done) {
    if (actionType !== 'ADDED' || services.declared.ofType(entity.entityType) === undefined) continue
    const isThere = (await services.declared.findAnywhere(entity)) !== undefined
    assert.equal(isThere, !gone.has(entity.id), `${entity.entityType} ${entity.id}`)
  }
}
