import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledQuery } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { QueryPlans } from './plans.ts'
import type { KeyFilter } from '../../../model/entity-query.ts'
import type { EntitySelection, QueryTable } from './query.ts'

const TABLE: QueryTable = {
  ...{ entityType: 'DEVICE', table: 'device', tenantColumn: 'tenant_id', customerColumn: 'customer_id' },
  fields: { name: { is: 'text', column: 'name', isNullable: false } },
}

/** Answers counts: of entities so many, of matches as many as it may look at. */
function countingDatabase(entitiesOf: (tenantId: unknown, customerId: unknown) => number, matches: number) {
  const limits: number[] = []
  const refuse = (): never => {
    throw new TypeError('plans count')
  }
  const database: EntityDatabase = {
    builder: queryBuilder({ read: refuse, write: refuse }, SQLITE),
    ...{ isShared: false, foldFunction: 'lower', read: refuse, write: refuse, close: () => Promise.resolve() },
    scan: <Row>(query: CompiledQuery<Row>) => {
      const isOfMatches = query.sql.includes('attribute')
      const limit = Number(query.parameters.at(-1))
      if (isOfMatches) limits.push(limit)
      const total = isOfMatches ? Math.min(limit, matches) : entitiesOf(query.parameters[0], query.parameters[1])
      return Promise.resolve([{ total } as Row])
    },
  }
  return { plans: new QueryPlans(database), limits }
}

const selection = (tenantId: string): EntitySelection => ({
  ...{ sources: [{ table: TABLE, tenantId }], operation: 'AND' },
  filters: [
    { key: { type: 'SERVER_ATTRIBUTE', key: 'level' }, predicate: { type: 'NUMERIC', operation: 'LESS', value: 1 } },
  ],
})

test('for a tenant of few entities no more matches are counted than that many, however many others have', async () => {
  const { plans, limits } = countingDatabase((tenantId) => (tenantId === 'small' ? 300 : 100_000), 1e6)
  assert.equal((await plans.of(selection('small'))).counted.driver, undefined)
  await plans.of(selection('large'))
  assert.deepEqual(limits, [512, 131_072])
})

test('what was counted for a small tenant does not stand for a large one', async () => {
  const { plans } = countingDatabase((tenantId) => (tenantId === 'small' ? 300 : 100_000), 20_000)
  await plans.of(selection('small'))
  assert.equal((await plans.of(selection('large'))).found.driver?.way, 'probed')
})

test('a page by the attribute that the filter compares comes out of the index, where far more match than it shows', async () => {
  const { plans } = countingDatabase(() => 100_000, 1_000)
  const walked = async (key: string, limit: number) =>
    (
      await plans.of(selection('one'), {
        ...{ sort: { key: { type: 'SERVER_ATTRIBUTE', key }, direction: 'ASC' }, limit, offset: 0 },
      })
    ).walk !== undefined
  assert.deepEqual(await Promise.all([walked('level', 20), walked('level', 200), walked('other', 20)]), [
    true,
    false,
    false,
  ])
})

test('a page of a customer who has few of the entities does not come out of the index of all', async () => {
  const customers = new Map<unknown, number>([
    ['large', 50_000],
    ['small', 5],
    ['none', 0],
  ])
  const { plans } = countingDatabase((_, customerId) => customers.get(customerId) ?? 100_000, 10_000)
  const walked = async (customerId: string) => {
    const { filters, operation } = selection('one')
    const sort = { key: { type: 'SERVER_ATTRIBUTE', key: 'level' }, direction: 'ASC' } as const
    const sources = [{ table: TABLE, tenantId: 'one', customerId }]
    return (await plans.of({ sources, filters, operation }, { sort, limit: 10, offset: 0 })).walk !== undefined
  }
  assert.deepEqual(await Promise.all(['large', 'small', 'none'].map(walked)), [true, false, false])
})

test('a page by a field whose order an index of the table has is read in it, where many match', async () => {
  const { plans } = countingDatabase(() => 100_000, 10_000)
  const { sources, filters, operation } = selection('one')
  const driverOf = async (sortedFields: readonly string[], fields = sources) => {
    const ordered = fields.map((source) => ({ ...source, table: { ...TABLE, sortedFields: new Set(sortedFields) } }))
    const sort = { key: { type: 'ENTITY_FIELD', key: 'label' }, direction: 'ASC' } as const
    const plan = await plans.of({ sources: ordered, filters, operation }, { sort, limit: 20, offset: 0 })
    assert.notEqual(plan.counted.driver, undefined)
    return plan.found.driver
  }
  assert.equal(await driverOf(['label']), undefined)
  assert.notEqual(await driverOf(['name']), undefined)
  // The entities of two tables come in no order that an index has.
  assert.notEqual(await driverOf(['label'], [...sources, ...sources]), undefined)
})

const text = (operation: 'CONTAINS' | 'NOT_CONTAINS'): KeyFilter => ({
  key: { type: 'SERVER_ATTRIBUTE', key: 'site' },
  predicate: { type: 'STRING', operation, value: 'a', ignoreCase: true },
})

test('where one of several filters is enough, entities are looked up by what any of them matches, if an index finds all', async () => {
  const { plans } = countingDatabase(() => 100_000, 800)
  const { sources, filters } = selection('one')
  const driverOf = async (...others: readonly KeyFilter[]) =>
    (await plans.of({ sources, filters: [...filters, ...others], operation: 'OR' })).counted.driver?.filters.length
  assert.deepEqual(await Promise.all([driverOf(), driverOf(text('CONTAINS')), driverOf(text('NOT_CONTAINS'))]), [
    1,
    2,
    undefined,
  ])
})

test('a part of a text is looked for in the different texts of a key, where these are few', async () => {
  const driven = async (words: number) => {
    const { plans } = countingDatabase(() => 100_000, words)
    const { sources, operation } = selection('one')
    return (await plans.of({ sources, filters: [text('CONTAINS')], operation })).counted.driver !== undefined
  }
  assert.deepEqual(await Promise.all([10, 1_000, 1_001].map(driven)), [true, true, false])
})

test('on SQLite many matches are merged with all entities to be counted, and nearly all are not', async () => {
  const wayOf = async (matches: number) => {
    const { counted, found } = await countingDatabase(() => 100_000, matches).plans.of(selection('one'))
    return [counted.driver?.way, found.driver?.way]
  }
  assert.deepEqual(await Promise.all([5_000, 20_000, 50_000, 90_000].map(wayOf)), [
    ['probed', 'probed'],
    ['joined', 'probed'],
    ['joined', undefined],
    [undefined, undefined],
  ])
})
