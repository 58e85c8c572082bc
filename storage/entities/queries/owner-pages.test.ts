import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledQuery } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { EntityQueryRepository } from './entity-queries.ts'
import type { EntitySelection, QueryTable } from './query.ts'

const TABLE: QueryTable = {
  ...{ entityType: 'DEVICE', table: 'device', tenantColumn: 'tenant_id', customerColumn: 'customer_id' },
  fields: { ownerName: { is: 'owner-name' } },
}

/** Whether a page by owner reads all owners of a tenant with so many customers. */
async function readsAllOwners(customers: number): Promise<boolean> {
  const refuse = (): never => {
    throw new TypeError('pages scan')
  }
  const asked: string[] = []
  const database: EntityDatabase = {
    builder: queryBuilder({ read: refuse, write: refuse }, SQLITE),
    ...{ isShared: false, foldFunction: 'lower', read: refuse, write: refuse, close: () => Promise.resolve() },
    scan: <Row>(query: CompiledQuery<Row>) => {
      asked.push(query.sql)
      if (!query.sql.includes('count(*) as total')) return Promise.resolve([])
      return Promise.resolve([{ total: Math.min(customers, Number(query.parameters.at(-1))) } as Row])
    },
  }
  const selection: EntitySelection = { sources: [{ table: TABLE, tenantId: 'one' }], filters: [], operation: 'AND' }
  const sort = { key: { type: 'ENTITY_FIELD', key: 'ownerName' }, direction: 'ASC' } as const
  await new EntityQueryRepository(database).page(selection, { sort, limit: 10, offset: 0 }, [])
  return asked.some((text) => text.includes('group by'))
}

test('for a page by owner all owners are read where they are few, not where each household is a customer', async () => {
  assert.deepEqual(await Promise.all([0, 1_000, 1_001, 100_000].map(readsAllOwners)), [true, true, false, false])
})
