/** Entity queries as the store understands them: what the caller may see, names and dynamic values are resolved. */
import type { Combination, EntitySort, KeyFilter } from '../../../model/entity-query.ts'
import type { EntityType } from '../../../model/entity-id.ts'

/** What a field of a query is in the table of an entity type. */
export type QueryField =
  | { readonly is: 'text'; readonly column: string; readonly isNullable: boolean }
  | { readonly is: 'number'; readonly column: string }
  /** JSON text; `null` counts as none. */
  | { readonly is: 'json'; readonly column: string }
  /** The first that says something. */
  | { readonly is: 'first'; readonly columns: readonly string[] }
  /** The name of a row of another table. */
  | { readonly is: 'named'; readonly table: string; readonly column: string; readonly by: string }
  | { readonly is: 'constant'; readonly value: string }
  | { readonly is: 'owner-name' | 'owner-type' | 'tenant-name' }
  /** First and last name, or the email. */
  | { readonly is: 'person' }

/** Where entities of a type are, and what queries may ask of them. */
export interface QueryTable {
  readonly entityType: EntityType
  readonly table: string
  readonly tenantColumn: string
  /** Of entities that belong to customers. */
  readonly customerColumn: string | undefined
  /** Where several customers have one: a row for each. */
  readonly customerRows?: { readonly table: string; readonly column: string } | undefined
  readonly fields: Readonly<Record<string, QueryField>>
  /** Fields whose order an index has too, beside those by which every table is sorted so. */
  readonly sortedFields?: ReadonlySet<string>
}

/** Entities of one type. */
export interface EntitySource {
  readonly table: QueryTable
  /** Undefined for every tenant's. */
  readonly tenantId: string | undefined
  /** Of this customer only. */
  readonly customerId?: string | undefined
  /** Of these customers only; null for what is the tenant's own. */
  readonly owners?: readonly (string | null)[] | undefined
  /** Only these. */
  readonly ids?: readonly string[] | undefined
  /** Of these types (names of profiles). */
  readonly types?: readonly string[] | undefined
  /** A pattern of LIKE in any case; undefined for all. */
  readonly name?: string | undefined
}

/** Each match is looked up, or all are joined with all entities at once. */
export type DriverWay = 'probed' | 'joined'

export interface EntitySelection {
  readonly sources: readonly EntitySource[]
  readonly filters: readonly KeyFilter[]
  readonly operation: Combination
  /** Entities are looked up by the attributes that these of the filters match: one, where all must hold, or all, where one is enough. */
  readonly driver?: { readonly filters: readonly KeyFilter[]; readonly way: DriverWay } | undefined
  /** In these fields, joined. */
  readonly search?: { readonly text: string; readonly fields: readonly string[] } | undefined
}

export interface EntityOrder {
  readonly sort: EntitySort | undefined
  readonly limit: number
  readonly offset: number
}

export interface SelectedEntity {
  readonly id: string
  readonly entityType: EntityType
  /** In the order of the fields asked for. */
  readonly fields: readonly (string | number | null)[]
}
