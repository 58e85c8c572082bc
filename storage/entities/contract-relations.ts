/** What every entity store promises of relations: the part of `contract.ts` about them. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { entityId } from '../../model/entity-id.ts'
import type { Relation } from '../../model/relation.ts'
import type { Check } from './contract-testkit.ts'
import type { EntityStore } from './entity-store.ts'

const TENANT = randomUUID()

function relation(type = 'Contains'): Omit<Relation, 'version'> {
  return {
    from: entityId('ASSET', randomUUID()),
    to: entityId('DEVICE', randomUUID()),
    type,
    typeGroup: 'COMMON',
    additionalInfo: null,
  }
}

async function save(store: EntityStore, saved: Omit<Relation, 'version'>, tenantId = TENANT): Promise<number> {
  const written = await store.write([store.relations.save(tenantId, saved, randomUUID(), 1)])
  return store.relations.savedVersion(written, 0)
}

export function testRelations(check: Check): void {
  check('a relation that is there already is changed, not doubled', async (store) => {
    const one = relation()
    assert.equal(await save(store, one), 1)
    assert.equal(await save(store, { ...one, additionalInfo: { a: 1 } }), 2)
    assert.deepEqual(await store.relations.find(TENANT, one), { ...one, version: 2, additionalInfo: { a: 1 } })
    assert.equal(await store.relations.count('FROM', one.from.id, 10), 1)
  })

  check('relations are found from both ends, by group and type, of one tenant only', async (store) => {
    const one = relation()
    const uses = { ...one, type: 'Uses' }
    const inner = { ...one, typeGroup: 'DASHBOARD' } as const
    for (const each of [one, uses, inner]) await save(store, each)
    await save(store, one, randomUUID())
    const read = { tenantId: TENANT, group: 'COMMON', limit: 10 } as const
    const from = await store.relations.findOf({ ...read, direction: 'FROM', ids: [one.from.id, randomUUID()] })
    assert.deepEqual(from.map(({ type }) => type).toSorted(), ['Contains', 'Uses'])
    const to = await store.relations.findOf({ ...read, direction: 'TO', ids: [one.to.id], type: 'Uses' })
    assert.deepEqual(to, [{ ...uses, version: 1 }])
    assert.equal((await store.relations.findOf({ ...read, direction: 'FROM', ids: [one.from.id], limit: 1 })).length, 1)
    assert.equal(await store.relations.count('TO', one.to.id, 2), 2)
  })

  check('thousands of ends are read at once', async (store) => {
    const many = Array.from({ length: 3 }, () => relation())
    for (const each of many) await save(store, each)
    const ids = [...Array.from({ length: 2_500 }, () => randomUUID()), ...many.map(({ from }) => from.id)]
    const found = await store.relations.findOf({ tenantId: TENANT, direction: 'FROM', ids, group: 'COMMON', limit: 9 })
    assert.equal(found.length, 3)
  })

  check('with an entity its relations go, whoever made them, and in both directions', async (store) => {
    const one = relation()
    const back = { ...one, from: one.to, to: entityId('USER', randomUUID()) }
    await save(store, one)
    await save(store, back)
    await save(store, one, randomUUID())
    await store.write(store.deleteAttached(one.to.id))
    assert.equal(await store.relations.count('FROM', one.from.id, 10), 0)
    assert.equal(await store.relations.count('TO', back.to.id, 10), 0)
  })
}
