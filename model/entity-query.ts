/** Queries over entities: which, filtered by what, in which order, with which values. Source: `rest-api.md` 7. */
import type { BooleanOperation, NumericOperation, StringOperation } from './comparison.ts'
import type { EntityId, EntityType } from './entity-id.ts'

export const ENTITY_KEY_TYPES = [
  'ENTITY_FIELD',
  'ATTRIBUTE',
  'CLIENT_ATTRIBUTE',
  'SHARED_ATTRIBUTE',
  'SERVER_ATTRIBUTE',
  'TIME_SERIES',
  'ALARM_FIELD',
] as const
export type EntityKeyType = (typeof ENTITY_KEY_TYPES)[number]

/** Of one scope, or of any. */
export function isAttributeType(type: EntityKeyType): boolean {
  return type.endsWith('ATTRIBUTE')
}

/** A value of an entity: a member, an attribute, or its latest telemetry. */
export interface EntityKey {
  readonly type: EntityKeyType
  readonly key: string
}

export type Combination = 'AND' | 'OR'

export type KeyPredicate =
  | {
      readonly type: 'STRING'
      readonly operation: StringOperation
      readonly value: string
      readonly ignoreCase: boolean
    }
  | { readonly type: 'NUMERIC'; readonly operation: NumericOperation; readonly value: number }
  | { readonly type: 'BOOLEAN'; readonly operation: BooleanOperation; readonly value: boolean }
  | { readonly type: 'COMPLEX'; readonly operation: Combination; readonly predicates: readonly KeyPredicate[] }

export interface KeyFilter {
  readonly key: EntityKey
  readonly predicate: KeyPredicate
}

export const DYNAMIC_SOURCES = ['CURRENT_TENANT', 'CURRENT_CUSTOMER', 'CURRENT_USER', 'CURRENT_DEVICE'] as const
export type DynamicSource = (typeof DYNAMIC_SOURCES)[number]

/** What a predicate compares with, as the client says it: the first of user's, dynamic and default that there is. */
export interface AskedValue<Value> {
  readonly defaultValue: Value | undefined
  readonly userValue: Value | undefined
  readonly dynamicValue: { readonly source: DynamicSource; readonly attribute: string } | undefined
}

export type AskedPredicate =
  | {
      readonly type: 'STRING'
      readonly operation: StringOperation
      readonly value: AskedValue<string>
      readonly ignoreCase: boolean
    }
  | { readonly type: 'NUMERIC'; readonly operation: NumericOperation; readonly value: AskedValue<number> }
  | { readonly type: 'BOOLEAN'; readonly operation: BooleanOperation; readonly value: AskedValue<boolean> }
  | { readonly type: 'COMPLEX'; readonly operation: Combination; readonly predicates: readonly AskedPredicate[] }

export interface AskedFilter {
  readonly key: EntityKey
  readonly predicate: AskedPredicate
}

/** Stand for the caller's own. */
export const CALLERS_OWN = ['CURRENT_CUSTOMER', 'CURRENT_TENANT', 'CURRENT_USER', 'CURRENT_USER_OWNER'] as const
export type CallersOwn = (typeof CALLERS_OWN)[number]

export interface NamedEntity {
  readonly entityType: EntityType | CallersOwn
  /** Undefined where it follows from the caller. */
  readonly id: string | undefined
}

export interface RelationRule {
  /** Undefined for any. */
  readonly relationType: string | undefined
  /** Empty for any. */
  readonly entityTypes: readonly EntityType[]
  readonly isNegated: boolean
}

export interface RelationSearch {
  readonly roots: readonly NamedEntity[]
  readonly direction: 'FROM' | 'TO'
  readonly maxLevel: number
  readonly lastLevelOnly: boolean
  /** What is found matches one of them; all where there is none. */
  readonly rules: readonly RelationRule[]
}

export type EntityFilter =
  | { readonly kind: 'one'; readonly entity: NamedEntity }
  | { readonly kind: 'list'; readonly entityType: EntityType; readonly ids: readonly string[] }
  /** `name` is a prefix unless a `%` says otherwise; `types` are names of profiles. */
  | {
      readonly kind: 'type'
      readonly entityType: EntityType
      readonly name: string
      readonly types: readonly string[] | undefined
    }
  | { readonly kind: 'usage'; readonly customerId: string | undefined }
  | {
      readonly kind: 'related'
      readonly search: RelationSearch
      /** Of one entity type: names of its profiles. */
      readonly types: readonly string[] | undefined
    }

export interface EntityCountQuery {
  readonly filter: EntityFilter
  readonly keyFilters: readonly AskedFilter[]
  readonly operation: Combination
}

export interface EntitySort {
  readonly key: EntityKey
  readonly direction: 'ASC' | 'DESC'
}

export interface EntityPageLink {
  readonly page: number
  readonly pageSize: number
  readonly textSearch: string | undefined
  readonly sort: EntitySort | undefined
  readonly isDynamic: boolean
}

export interface EntityDataQuery extends EntityCountQuery {
  readonly page: EntityPageLink
  readonly fields: readonly string[]
  readonly latest: readonly EntityKey[]
}

/** As clients read it: text, and since when it is so. */
export interface ShownValue {
  readonly ts: number
  readonly value: string
}

/** By the type of the key, then by the key. */
export type LatestValues = Readonly<Partial<Record<EntityKeyType, Readonly<Record<string, ShownValue>>>>>

export interface EntityData {
  readonly entity: EntityId
  readonly latest: LatestValues
}
