/**
 * Pages in the order of the owners' names, where owners are few: entities are counted by owner, which is the total too, and of the page's
 * owners alone are any sorted. To look up the owner of each entity first costs several times as much (`benchmarks/entity-query`).
 */
import { sql } from 'kysely'
import type { EntitySort } from '../../../model/entity-query.ts'
import type { Sql, SqlDialect } from './predicates-sql.ts'
import type { EntityOrder, EntitySelection } from './query.ts'
import { SelectionSql } from './selection-sql.ts'

export interface OwnerCount {
  /** Null for the tenant. */
  readonly owner: string | null
  readonly name: string
  readonly entities: number
}

export interface PageOwners {
  readonly owners: readonly (string | null)[]
  /** Entities of owners before them. */
  readonly skipped: number
  readonly haveOneName: boolean
}

/** The tenant whose owners these are; undefined where the order is another, or the entities of several tenants. */
export function tenantOfOwners({ sources }: EntitySelection, sort: EntitySort | undefined): string | undefined {
  const [source, ...others] = sources
  if (sort === undefined || source === undefined || others.length > 0) return undefined
  const { type, key } = sort.key
  const { fields, customerColumn } = source.table
  const isByOwner = type === 'ENTITY_FIELD' && key === 'ownerName' && fields['ownerName']?.is === 'owner-name'
  return isByOwner && customerColumn !== undefined ? source.tenantId : undefined
}

/** A query for {@link OwnerCount}s in the order of the names. */
export function ownerCounts(
  dialect: SqlDialect,
  selection: EntitySelection,
  tenantId: string,
  { direction }: Pick<EntitySort, 'direction'>,
): Sql {
  const built = new SelectionSql(dialect, selection)
  const owner = built.ownerId()
  const where = built.where()
  const counted = sql`select ${owner} as owner, count(*) as entities from ${built.fromInAnyOrder()}${where} group by ${owner}`
  const name = sql`coalesce((select c.title from customer as c where c.id = counted.owner),
    (select n.title from tenant as n where n.id = ${tenantId}), '')`
  return sql`select owner, entities, ${name} as name from (${counted}) as counted order by name ${sql.raw(direction)}`
}

/** Owners of one name go together, as their entities are sorted by id among each other. */
export function ownersOfPage(counts: readonly OwnerCount[], { limit, offset }: EntityOrder): PageOwners {
  const owners: (string | null)[] = []
  const names = new Set<string>()
  let skipped = 0
  let before = 0
  for (let from = 0, to = 0; from < counts.length && before < offset + limit; from = to) {
    const name = counts[from]?.name ?? ''
    let entities = 0
    for (; counts[to]?.name === name; to++) entities += counts[to]?.entities ?? 0
    if (before + entities <= offset) skipped += entities
    else {
      for (const { owner } of counts.slice(from, to)) owners.push(owner)
      names.add(name)
    }
    before += entities
  }
  return { owners, skipped, haveOneName: names.size === 1 }
}
