/**
 * The way in which a selection is looked up: by the entities in their order, or by the attributes that an indexed filter matches. Neither
 * database is left to choose: SQLite keeps no statistics, and PostgreSQL takes key, kind and value of an attribute for independent, which is
 * wrong by a factor of ten. So matches are counted, in the index alone. Measured by `benchmarks/entity-query`.
 */
import { sql } from 'kysely'
import type { EntityKey, EntitySort, KeyFilter } from '../../../model/entity-query.ts'
import type { EntityDatabase } from '../database.ts'
import { comparesWords, isIndexed, matchingIds, scopeNumber, wordsOf } from './attribute-index.ts'
import { Estimates } from './estimates.ts'
import type { Sql } from './predicates-sql.ts'
import type { DriverWay, EntityOrder, EntitySelection, EntitySource } from './query.ts'
import { SelectionSql } from './selection-sql.ts'

/** For the total and for a page; they find the same entities. */
export interface QueryPlan {
  readonly counted: EntitySelection
  readonly found: EntitySelection
  /** At least so many match, as far as that is known. */
  readonly matches: number
  /** A page comes in the order of the index in which this filter's matches are, as that is the order asked for. */
  readonly walk?: KeyFilter | undefined
}

/** Of what a filter matches so many are counted before a way is chosen, however many entities there are. */
const MAX_COUNTED = 200_000
/** So few are looked up without a look at how many entities there are. */
const FEW_MATCHES = 100
/** Above this share of the entities SQLite merges the matches with all of them: a match that is looked up in its turn costs 1 µs. */
const MAX_PROBED_IN_SQLITE = 0.1
/**
 * Above this share it asks each of the entities for its attribute, which are side by side: 40 ms for 100,000. Numbers are sorted for a merge,
 * flags that are equal come by id, texts are looked up in the attributes, as the index has not all of them.
 */
const MAX_MERGED_IN_SQLITE = { numbers: 0.6, flags: 1, texts: 0.25, ofAnyScope: 0.2 } as const
/** The same where more is wanted of the matches than their number: each is looked up. */
const MAX_FOUND_IN_SQLITE = { numbers: 1 / 3, flags: 0.6, texts: 0.25, ofAnyScope: 0.2 } as const
/** Above this share PostgreSQL reads all entities once, on several processors. */
const MAX_PROBED_IN_POSTGRES = 0.05
/** Above this share it looks at each entity's text, and not for those that have a word in the index. */
const MAX_OF_WORDS_IN_POSTGRES = 0.25
/** Of what a filter matches a page in the index's order looks at a few: so many times fewer than there are, by what is known. */
const LEAST_LEFT_OUT = 10
/** Different texts of a key that are looked at, in place of its entities: each costs 1 to 2 µs. */
const MAX_WORDS = 1_000
/** Customers of a tenant whose entities are counted by owner: all owners are read for a page then, before its entities. */
const MAX_OWNERS = 1_000
/** Fields that an index has in their order. */
const WALKED_FIELDS: ReadonlySet<string> = new Set(['createdTime', 'name', 'id'])

export class QueryPlans {
  private readonly database: EntityDatabase
  private readonly estimates = new Estimates()

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async of(selection: EntitySelection, order?: EntityOrder): Promise<QueryPlan> {
    const { filters, operation, sources } = selection
    const nothing = { counted: selection, found: selection, matches: 0 }
    if (sources.some(({ ids }) => ids !== undefined)) return nothing
    const usable = await this.usable(filters)
    const groups =
      operation === 'OR' ? [usable].filter(({ length }) => length === filters.length) : usable.map((each) => [each])
    const [first] = groups
    if (first === undefined || first.length === 0) return nothing
    const entities = await this.entitiesIn(selection)
    // Other tenants' are in the index too: beyond what a tenant has itself nothing follows from them.
    const most = Math.min(MAX_COUNTED, powerOfTwo(Math.max(entities, FEW_MATCHES + 1)))
    let matches = Infinity
    let driving = first
    for (const group of groups) {
      const found = await this.matchesOf(group, most)
      if (found < matches) [matches, driving] = [found, group]
    }
    const probed: EntitySelection = { ...selection, driver: { filters: driving, way: 'probed' } }
    if (matches <= FEW_MATCHES) return { counted: probed, found: probed, matches: 0 }
    const share = matches / entities
    const ways = this.waysOf(driving, share)
    const driven = (way: DriverWay | undefined) =>
      way === undefined ? selection : { ...selection, driver: { filters: driving, way } }
    const counted = driven(ways.counted)
    const [filter] = driving
    const looked = ((order?.offset ?? 0) + (order?.limit ?? Infinity)) * (entities / matches)
    const isWalked = order !== undefined && isInOrderOf(sources, order.sort) && looked < matches
    const isOne = filter !== undefined && driving.length === 1 && sources.length === 1
    const isOrdered = isOne && hasOrder(filter, order?.sort) && matches < most
    const isFew = isOrdered && order !== undefined && (await this.isAmongFew(selection, order, { matches, entities }))
    return {
      counted,
      found: isWalked ? selection : driven(ways.found),
      matches: usable.length === filters.length ? matches : 0,
      walk: isFew ? filter : undefined,
    }
  }

  async hasFewOwners(tenantId: string): Promise<boolean> {
    const some = sql`select 1 from customer where tenant_id = ${tenantId} limit ${MAX_OWNERS + 1}`
    const counted = sql`select count(*) as total from (${some}) as counted`
    return (await this.estimates.of(`owners ${tenantId}`, () => this.number(counted))) <= MAX_OWNERS
  }

  /** Whether a page is among few of the matches: between its entities lie those of other types, customers and names. */
  private async isAmongFew(
    selection: EntitySelection,
    { offset, limit }: EntityOrder,
    { matches, entities }: { readonly matches: number; readonly entities: number },
  ): Promise<boolean> {
    const least = (offset + limit) * LEAST_LEFT_OUT
    return least < matches && least * (entities / (await this.entitiesOf(selection, entities))) < matches
  }

  /** How many of all entities are of the one source. */
  private async entitiesOf({ sources, operation }: EntitySelection, entities: number): Promise<number> {
    if (sources.every(({ customerId, types, name }) => (customerId ?? types ?? name) === undefined)) return entities
    const named = sources.map((source) => ({ ...source, table: source.table.table }))
    const built = new SelectionSql(this.database, { sources, filters: [], operation })
    const counted = sql`select count(*) as total from ${built.from()}`
    return this.estimates.of(JSON.stringify(named), () => this.number(counted))
  }

  /** Those of the filters by which entities may be looked up. */
  private async usable(filters: readonly KeyFilter[]): Promise<readonly KeyFilter[]> {
    const usable: KeyFilter[] = []
    for (const filter of filters) {
      // Of any scope each match is compared with its other scopes: PostgreSQL does that for all entities as fast.
      if (this.database.isShared && scopeNumber(filter.key) === null) continue
      if (isIndexed(filter) || (comparesWords(filter) && (await this.hasFewWords(filter.key)))) usable.push(filter)
    }
    return usable
  }

  /** Of any tenant's entities. */
  private async hasFewWords(key: EntityKey): Promise<boolean> {
    const some = sql`select count(*) as total from (select word from (${wordsOf(key)}) as found limit ${MAX_WORDS + 1}) as counted`
    return (await this.estimates.of(`words ${JSON.stringify(key)}`, () => this.number(some))) <= MAX_WORDS
  }

  /** Undefined where the entities are looked at one by one. */
  private waysOf(
    filters: readonly KeyFilter[],
    share: number,
  ): Readonly<Record<'counted' | 'found', DriverWay | undefined>> {
    if (this.database.isShared) {
      const isLookedUp = filters.every(isIndexed) || share <= MAX_OF_WORDS_IN_POSTGRES
      const way = share <= MAX_PROBED_IN_POSTGRES ? 'probed' : isLookedUp ? 'joined' : undefined
      return { counted: way, found: way }
    }
    const kinds = filters.map(kindOf)
    const isWithin = (most: typeof MAX_MERGED_IN_SQLITE | typeof MAX_FOUND_IN_SQLITE) =>
      kinds.every((kind) => share <= most[kind])
    const counted = share <= MAX_PROBED_IN_SQLITE ? 'probed' : isWithin(MAX_MERGED_IN_SQLITE) ? 'joined' : undefined
    return { counted, found: isWithin(MAX_FOUND_IN_SQLITE) ? 'probed' : undefined }
  }

  /** How many the sources have in all, before their filters. */
  private async entitiesIn({ sources }: EntitySelection): Promise<number> {
    let total = 0
    for (const { table, tenantId } of sources) {
      const where = tenantId === undefined ? sql`` : sql` where ${sql.ref(table.tenantColumn)} = ${tenantId}`
      const rows = sql`select count(*) as total from ${sql.table(table.table)}${where}`
      total += await this.estimates.of(`${table.table} ${tenantId ?? ''}`, () => this.number(rows))
    }
    return total
  }

  /** Of those together, of which several may match the same. */
  private async matchesOf(filters: readonly KeyFilter[], most: number): Promise<number> {
    let total = 0
    for (const filter of filters) {
      const ids = matchingIds(this.database, [filter], true)
      const counted = sql`select count(*) as total from (select 1 from (${ids}) as matching limit ${most}) as counted`
      total += await this.estimates.of(`${most} ${JSON.stringify(filter)}`, () => this.number(counted))
    }
    return Math.min(total, most)
  }

  private async number(counting: Sql): Promise<number> {
    const query = sql<{ total: number }>`${counting}`
    const [row] = await this.database.scan(query.compile(this.database.builder))
    return Number(row?.total ?? 0)
  }
}

function kindOf({ key, predicate }: KeyFilter): keyof typeof MAX_MERGED_IN_SQLITE {
  if (scopeNumber(key) === null) return 'ofAnyScope'
  return predicate.type === 'STRING' ? 'texts' : predicate.type === 'BOOLEAN' ? 'flags' : 'numbers'
}

/** Whether every table has an index in the order. */
export function isInOrder(sort: EntitySort | undefined): boolean {
  return sort === undefined || (sort.key.type === 'ENTITY_FIELD' && WALKED_FIELDS.has(sort.key.key))
}

/** The same where the entities are of one table that has more such indexes. */
function isInOrderOf([source, ...others]: readonly EntitySource[], sort: EntitySort | undefined): boolean {
  if (isInOrder(sort)) return true
  const isOfTable = others.length === 0 && sort?.key.type === 'ENTITY_FIELD'
  return isOfTable && source?.table.sortedFields?.has(sort.key.key) === true
}

/** Whether the index has the matches of the filter in this order: numbers, of which each match has one. */
function hasOrder({ key, predicate }: KeyFilter, sort: EntitySort | undefined): boolean {
  return predicate.type === 'NUMERIC' && sort?.key.type === key.type && sort.key.key === key.key
}

/** At least as much: estimates stay known while entities come and go. */
function powerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(count))
}
