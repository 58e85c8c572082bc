import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledQuery } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { EntityQueryRepository } from './entity-queries.ts'
import type { EntitySelection, QueryTable } from './query.ts'

const TABLE: QueryTable = {
  ...{ entityType: 'DEVICE', table: 'device', tenantColumn: 'tenant_id', customerColumn: 'customer_id' },
  fields: {
    name: { is: 'text', column: 'name', isNullable: false },
    createdTime: { is: 'number', column: 'created_time' },
  },
}
const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((digit) => digit.repeat(36)) as [string, string, string]
const ENTITIES = 100

function answering(rowsFor: (query: CompiledQuery) => readonly unknown[]): EntityQueryRepository {
  const refuse = (): never => {
    throw new TypeError('pages scan')
  }
  const database: EntityDatabase = {
    builder: queryBuilder({ read: refuse, write: refuse }, SQLITE),
    ...{ isShared: false, foldFunction: 'lower', read: refuse, write: refuse, close: () => Promise.resolve() },
    scan: <Row>(query: CompiledQuery<Row>) => Promise.resolve(rowsFor(query) as readonly Row[]),
  }
  return new EntityQueryRepository(database)
}

/** A page of three by an attribute, where these are found, and of them these are left when their fields are read. */
async function pageWhere(found: readonly string[], left: readonly string[]) {
  const rowsFor = ({ sql }: CompiledQuery): readonly unknown[] => {
    if (sql.includes('group_concat')) return [{ ids: found.join('') }]
    if (sql.includes('count(*) as total')) return [{ total: ENTITIES }]
    return left.map((id) => ({ id, entity_type: 'DEVICE', v0: `name of ${id}` }))
  }
  const selection: EntitySelection = { sources: [{ table: TABLE, tenantId: 'one' }], filters: [], operation: 'AND' }
  const sort = { key: { type: 'SERVER_ATTRIBUTE', key: 'level' }, direction: 'ASC' } as const
  const page = await answering(rowsFor).page(selection, { sort, limit: 3, offset: 0 }, ['name'])
  return { total: page.total, ids: page.rows.map(({ id }) => id) }
}

test('a page of which an entity goes while it is read is not taken for the last one', async () => {
  assert.deepEqual(await pageWhere([FIRST, SECOND, THIRD], [THIRD, FIRST]), { total: ENTITIES, ids: [FIRST, THIRD] })
  assert.deepEqual(await pageWhere([SECOND, FIRST], [FIRST, SECOND]), { total: 2, ids: [SECOND, FIRST] })
})

/** The statement that reads ids of entities of which so many have the attribute, in no order; of all where none is asked for. */
async function idsWhere(matching: number | undefined): Promise<string> {
  let asked = ''
  const queries = answering(({ sql }) => {
    if (sql.includes('group_concat')) asked = sql
    return sql.includes('group_concat')
      ? [{ ids: '' }]
      : [{ total: sql.includes('attribute') ? matching : ENTITIES_OF_MANY }]
  })
  const key = { type: 'SERVER_ATTRIBUTE', key: 'level' } as const
  const filters =
    matching === undefined ? [] : [{ key, predicate: { type: 'NUMERIC', operation: 'LESS', value: 1 } as const }]
  await queries.ids(
    { sources: [{ table: TABLE, tenantId: 'one' }], filters, operation: 'AND' },
    undefined,
    ENTITIES_OF_MANY,
  )
  return asked
}
const ENTITIES_OF_MANY = 100_000

test('ids in no order are read by id where attributes are compared, merged with the matches or asked one by one, by age else', async () => {
  assert.match(await idsWhere(ENTITIES_OF_MANY / 2), /intersect select id from .* order by 1/)
  assert.match(await idsWhere(ENTITIES_OF_MANY * 0.9), /order by t\.id limit -1/)
  for (const share of [0.5, 0.9]) assert.doesNotMatch(await idsWhere(ENTITIES_OF_MANY * share), /created_time/)
  assert.match(await idsWhere(undefined), /created_time.* order by "e"\."f0"/)
})
