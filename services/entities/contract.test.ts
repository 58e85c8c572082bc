/** What each declared type promises, by its declaration and its `example` alone, on both databases. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import type { Column } from './column.ts'
import { ContractWorld, hasMany, type AnyDefinition, type AnyDraft, type AnyRecord } from './contract-world.ts'
import { DECLARED } from './declared.ts'
import { draftOf, type ColumnSet } from './define.ts'

await onBothDatabases('', testAll)

function testAll(open: () => Promise<TestPlatform>): void {
  for (const definition of DECLARED.filter(hasMany)) describe(definition.type, () => testDeclared(definition, open))
}

function testDeclared(definition: AnyDefinition, open: () => Promise<TestPlatform>): void {
  let world: ContractWorld
  before(async () => {
    world = new ContractWorld(await open())
    await world.makeThoseBefore(definition)
  })
  after(() => world.platform.close())

  test('is there as it was saved', async () => {
    const service = world.service(definition)
    const saved = await world.make(definition)
    assert.equal(saved.version, 1)
    assert.deepEqual(await service.find(saved.tenantId, saved.id), saved)
    assert.deepEqual(await service.findByIds(saved.tenantId, [saved.id, randomUUID()]), [saved])
    assert.deepEqual(await service.findByName(saved.tenantId, nameOf(definition, saved)), saved)
    assert.equal(await service.find(randomUUID(), saved.id), undefined)
    const json = definition.jsonOf(saved)
    assert.deepEqual(json['id'], { entityType: definition.type, id: saved.id })
    for (const [member, { isInternal }] of Object.entries(definition.columns))
      assert.equal(json[member] !== undefined, isInternal !== true, member)
  })

  test('tells the rule engine of what users change', async () => {
    const saved = await world.make(definition)
    await world.service(definition).saveByUser(world.maker(definition), again(definition, saved))
    await world.service(definition).deleteByUser(world.maker(definition), saved.id)
    const { link, changes } = world.platform
    const told = link.messages.filter(({ originator }) => originator.id === saved.id).map(({ type }) => type)
    const expected = ['ENTITY_CREATED', 'ENTITY_UPDATED', 'ENTITY_DELETED']
    // What belongs to no tenant has no rule chain.
    assert.deepEqual(told, saved.tenantId === SYSTEM_TENANT ? [] : expected)
    assert.ok(changes.some(({ kind, entity }) => kind === 'entity-deleted' && entity.id === saved.id))
  })

  test('is saved over the version that a save names, else refused', async () => {
    const service = world.service(definition)
    const first = await world.make(definition)
    const second = await service.saveByUser(world.maker(definition), { ...again(definition, first), version: 1 })
    assert.equal(second.version, 2)
    assert.equal(second.createdTime, first.createdTime)
    for (const version of [1, 3]) {
      const stale = service.saveByUser(world.maker(definition), { ...again(definition, second), version })
      await assert.rejects(stale, { status: 409 })
    }
    assert.deepEqual(await service.findAnywhere(first.id), second)
    await assert.rejects(world.platform.entities.write([service.update(second)]), { status: 409 })
  })

  test('has no twin in its tenant', async () => {
    const service = world.service(definition)
    for (const { members, isMadeUnlike } of definition.unique ?? []) {
      const first = await world.make(definition)
      const before = await service.count(first.tenantId, {})
      const same = Object.fromEntries(members.map((member) => [member, first[member]]))
      if (isMadeUnlike !== true) await assert.rejects(world.make(definition, same), isRefused, members.join(', '))
      const twin = service.insert({ ...first, id: randomUUID() })
      await assert.rejects(world.platform.entities.write([twin]), isRefused, members.join(', '))
      assert.equal(await service.count(first.tenantId, {}), before)
    }
  })

  test('names nothing that is not there', async () => {
    for (const [member, { references }] of referring(definition)) {
      if (references === undefined) continue
      await assert.rejects(world.make(definition, { [member]: randomUUID() }), isRefused, member)
    }
  })

  test('goes, stays or forgets when what it names goes', async () => {
    for (const [member, { references, absent }] of referring(definition)) {
      const other = DECLARED.find(({ type }) => type === references?.entityType)
      if (references === undefined || other === undefined || references.whenDeleted === 'keep') continue
      const named = await world.make(other, references.ofKind)
      const record = await world.make(definition, { [member]: named.id })
      assert.equal(record[member], named.id, member)
      const remove = () => world.service(other).deleteByUser(world.maker(other), named.id)
      const service = world.service(definition)
      if (references.whenDeleted === 'refuse') {
        await assert.rejects(remove(), isRefused, member)
        await service.deleteByUser(world.maker(definition), record.id)
        await remove()
        continue
      }
      await remove()
      const left = await service.findAnywhere(record.id)
      if (references.whenDeleted === 'delete') assert.equal(left, undefined, member)
      else assert.deepEqual([left?.[member], left?.version], [absent, record.version + 1], member)
    }
  })

  test('comes in pages, sorted and searched, to its tenant alone', async () => {
    const service = world.service(definition)
    const made = [await world.make(definition), await world.make(definition), await world.make(definition)]
    const tenantId = made[0]?.tenantId ?? ''
    const names = made.map((record) => nameOf(definition, record)).sort()
    const everything = await service.page(tenantId, {}, { pageSize: 100, page: 0 })
    const query = { pageSize: 2, page: 0, sortProperty: definition.name } as const
    if (definition.columns[definition.name]?.isSorted === true) {
      const all = everything.data.map(({ record }) => nameOf(definition, record)).sort()
      const first = await service.page(tenantId, {}, query)
      assert.deepEqual(shownNames(definition, first.data), all.slice(0, 2))
      assert.deepEqual([first.totalElements, first.hasNext], [all.length, all.length > 2])
      const last = await service.page(tenantId, {}, { ...query, sortOrder: 'DESC' })
      assert.deepEqual(shownNames(definition, last.data), all.toReversed().slice(0, 2))
    }
    const searched = { pageSize: 100, page: 0, textSearch: names[0]?.slice(1).toUpperCase() }
    for (const form of ['plain', 'infos'] as const) {
      const found = shownNames(definition, (await service.page(tenantId, {}, searched, form)).data)
      assert.ok(found.includes(names[0] ?? '') && !found.includes(names[2] ?? ''), `${form}: ${found.join(', ')}`)
    }
    assert.equal((await service.page(randomUUID(), {}, { pageSize: 100, page: 0 })).totalElements, 0)
  })

  test('is sorted by each property that is declared so, by no other', async () => {
    const service = world.service(definition)
    const columns = Object.entries(definition.columns)
    const sortable = columns.filter(([, { isSorted }]) => isSorted).map(([member]) => member)
    // The reference sorts by any member that is one value.
    const plain = columns
      .filter(([, column]) => column.isInternal !== true && isPlain(column))
      .map(([member]) => member)
    assert.deepEqual(
      plain.filter((member) => !sortable.includes(member)),
      [],
    )
    // What nobody is shown tells nothing by its order either.
    assert.ok(!sortable.includes('hash'))
    const properties = ['createdTime', 'tenantId', 'version', ...sortable, ...Object.keys(definition.shows ?? {})]
    for (const sortProperty of properties) {
      const page = await service.page(randomUUID(), {}, { pageSize: 1, page: 0, sortProperty })
      assert.deepEqual(page.data, [], sortProperty)
    }
    const unknown = service.page(randomUUID(), {}, { pageSize: 1, page: 0, sortProperty: 'tenant_id; --' })
    await assert.rejects(unknown, { status: 400 })
  })

  test('is changed with others that match, each a change of its own', async () => {
    const service = world.service(definition)
    const [changed, kept] = [await world.make(definition), await world.make(definition)]
    const name = definition.name
    const members = { [name]: `${nameOf(definition, changed)} changed` }
    const where = { [name]: changed[name] }
    await world.platform.entities.write([service.updateAll(changed.tenantId, where, members)])
    await world.platform.entities.write([service.updateAll(randomUUID(), { [name]: kept[name] }, members)])
    assert.deepEqual(await service.findAnywhere(changed.id), { ...changed, ...members, version: 2 })
    assert.deepEqual(await service.findAnywhere(kept.id), kept)
  })

  test('is gone with its attributes, relations and series when it was deleted', async () => {
    const service = world.service(definition)
    const record = await world.make(definition)
    const { entities, services, timeSeries } = world.platform
    const self = entityId(definition.type, record.id)
    const other = entityId('TENANT', world.platform.tenantId)
    const relation = { type: 'Uses', typeGroup: 'DASHBOARD', additionalInfo: null } as const
    await services.relations.save(record.tenantId, { ...relation, from: self, to: other })
    await services.relations.save(world.platform.tenantId, { ...relation, from: other, to: self })
    const attribute = { key: 'a', type: 'LONG', value: 1, lastUpdateTs: 1 } as const
    const written = { entityId: record.id, scope: 'SERVER_SCOPE', attribute, sequence: 1 } as const
    await entities.write([entities.attributes.save([written])])
    assert.equal((await services.attributes.find(self, undefined, ['a'])).value.length, 1)
    await service.deleteByUser(world.maker(definition), record.id)
    assert.equal(await service.findAnywhere(record.id), undefined)
    assert.deepEqual((await entities.attributes.all(record.id)).rows, [])
    assert.deepEqual((await services.attributes.find(self, undefined, undefined)).value, [])
    assert.equal(await entities.relations.count('FROM', record.id, 1), 0)
    assert.equal(await entities.relations.count('TO', record.id, 1), 0)
    const isNoted = (await entities.cleanups.pending()).includes(record.id)
    assert.ok(isNoted || timeSeries.deletedEntities.includes(record.id))
    await assert.rejects(service.deleteByUser(world.maker(definition), record.id), { status: 404 })
    await assert.rejects(service.saveByUser(world.maker(definition), again(definition, record)), { status: 404 })
  })
}

/** The record as a client sends it back, without its version. */
function again({ columns }: AnyDefinition, record: AnyRecord): AnyDraft {
  const members: Record<string, unknown> = { id: record.id }
  for (const member of Object.keys(columns)) members[member] = record[member]
  return draftOf<ColumnSet>(members)
}

function isPlain({ references, shape, isJson }: Column<unknown>): boolean {
  const { type } = shape
  return references !== undefined || (isJson !== true && (type === 'boolean' || type === 'integer'))
}

function referring({ columns }: AnyDefinition): readonly (readonly [string, Column<unknown>])[] {
  return Object.entries(columns).filter(([, { references }]) => references !== undefined)
}

function nameOf({ name }: AnyDefinition, record: AnyRecord): string {
  return String(record[name])
}

function shownNames(definition: AnyDefinition, data: readonly { readonly record: AnyRecord }[]): readonly string[] {
  return data.map(({ record }) => nameOf(definition, record))
}

function isRefused(error: unknown): boolean {
  return isMillraceError(error) && [400, 403, 404, 409].includes(error.status)
}
