import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledQuery } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { EntityQueryRepository } from './entity-queries.ts'
import type { EntitySelection, QueryTable } from './query.ts'

const TABLE: QueryTable = {
  ...{ entityType: 'DEVICE', table: 'device', tenantColumn: 'tenant_id', customerColumn: 'customer_id' },
  fields: { name: { is: 'text', column: 'name', isNullable: false } },
}
const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((digit) => digit.repeat(36)) as [string, string, string]
const ENTITIES = 100

/** A page of three by an attribute, where these are found, and of them these are left when their fields are read. */
async function pageWhere(found: readonly string[], left: readonly string[]) {
  const refuse = (): never => {
    throw new TypeError('pages scan')
  }
  const rowsFor = ({ sql }: CompiledQuery): readonly unknown[] => {
    if (sql.includes('group_concat')) return [{ ids: found.join('') }]
    if (sql.includes('count(*) as total')) return [{ total: ENTITIES }]
    return left.map((id) => ({ id, entity_type: 'DEVICE', v0: `name of ${id}` }))
  }
  const database: EntityDatabase = {
    builder: queryBuilder({ read: refuse, write: refuse }, SQLITE),
    ...{ isShared: false, foldFunction: 'lower', read: refuse, write: refuse, close: () => Promise.resolve() },
    scan: <Row>(query: CompiledQuery<Row>) => Promise.resolve(rowsFor(query) as readonly Row[]),
  }
  const selection: EntitySelection = { sources: [{ table: TABLE, tenantId: 'one' }], filters: [], operation: 'AND' }
  const sort = { key: { type: 'SERVER_ATTRIBUTE', key: 'level' }, direction: 'ASC' } as const
  const page = await new EntityQueryRepository(database).page(selection, { sort, limit: 3, offset: 0 }, ['name'])
  return { total: page.total, ids: page.rows.map(({ id }) => id) }
}

test('a page of which an entity goes while it is read is not taken for the last one', async () => {
  assert.deepEqual(await pageWhere([FIRST, SECOND, THIRD], [THIRD, FIRST]), { total: ENTITIES, ids: [FIRST, THIRD] })
  assert.deepEqual(await pageWhere([SECOND, FIRST], [FIRST, SECOND]), { total: 2, ids: [SECOND, FIRST] })
})
