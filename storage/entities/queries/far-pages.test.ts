import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledQuery } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { EntityQueryRepository } from './entity-queries.ts'
import type { EntitySelection, QueryTable } from './query.ts'

const TABLE: QueryTable = {
  ...{ entityType: 'DEVICE', table: 'device', tenantColumn: 'tenant_id', customerColumn: 'customer_id' },
  fields: {},
}

test('of a page far behind, sorted by an attribute, no ids of the pages before it are read', async () => {
  const refuse = (): never => {
    throw new TypeError('pages scan')
  }
  const asked: (readonly unknown[])[] = []
  const database: EntityDatabase = {
    builder: queryBuilder({ read: refuse, write: refuse }, SQLITE),
    ...{ isShared: false, foldFunction: 'lower', read: refuse, write: refuse, close: () => Promise.resolve() },
    scan: <Row>(query: CompiledQuery<Row>) => {
      asked.push(query.parameters)
      return Promise.resolve([])
    },
  }
  const selection: EntitySelection = { sources: [{ table: TABLE, tenantId: 'one' }], filters: [], operation: 'AND' }
  const sort = { key: { type: 'SERVER_ATTRIBUTE', key: 'level' }, direction: 'ASC' } as const
  await new EntityQueryRepository(database).find(selection, { sort, limit: 10, offset: 1_000_000 }, [])
  assert.deepEqual(
    asked.map((parameters) => parameters.slice(-2)),
    [[10, 1_000_000]],
  )
})
