/** What a query means for its caller: which tables it looks into, whose entities, and what its dynamic values are. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import {
  isAttributeType,
  type AskedFilter,
  type AskedPredicate,
  type AskedValue,
  type EntityCountQuery,
  type EntityFilter,
  type EntityKey,
  type KeyFilter,
  type KeyPredicate,
  type NamedEntity,
} from '../../model/entity-query.ts'
import type { Principal } from '../../model/principal.ts'
import type { TypedValue } from '../../model/value.ts'
import type { EntitySelection, EntitySource, QueryTable } from '../../storage/entities/queries/query.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { AccessControl } from '../access/access-control.ts'
import type { AttributeService } from '../attributes/attribute-service.ts'
import type { Operation } from '../access/permissions.ts'
import type { RelationSearches } from './relation-search.ts'

export interface ResolverParts {
  readonly tables: ReadonlyMap<EntityType, QueryTable>
  readonly access: Pick<AccessControl, 'allowed'>
  readonly attributes: Pick<AttributeService, 'find'>
  readonly relations: RelationSearches
}

interface Resolving {
  /** All that the query reads of entities. */
  readonly keys: readonly EntityKey[]
  /** Whether dynamic values are looked up; otherwise the defaults count. */
  readonly isDynamic: boolean
  /** Only how many there are is asked, and nothing of them. */
  readonly isNumber?: boolean
}

export class QueryResolver {
  private readonly parts: ResolverParts

  constructor(parts: ResolverParts) {
    this.parts = parts
  }

  async selection(
    principal: Principal,
    { filter, keyFilters, operation }: EntityCountQuery,
    { keys, isDynamic, isNumber = false }: Resolving,
  ): Promise<EntitySelection> {
    const sources = await this.sources(principal, filter)
    const operations = operationsFor(keys)
    return {
      sources: sources.flatMap((source) =>
        principal.authority === 'SYS_ADMIN'
          ? this.visibleToSystem(source, isNumber)
          : this.visible(principal, source, operations),
      ),
      filters: await this.filters(principal, keyFilters, isDynamic),
      operation,
    }
  }

  private async sources(principal: Principal, filter: EntityFilter): Promise<readonly AskedSource[]> {
    switch (filter.kind) {
      case 'one': {
        const entity = entityOf(principal, filter.entity)
        return entity === undefined ? [] : [{ entityType: entity.entityType, ids: [entity.id] }]
      }
      case 'list':
        return filter.ids.length === 0 ? [] : [{ entityType: filter.entityType, ids: filter.ids }]
      case 'type': {
        const { entityType, types } = filter
        if (types?.length === 0) return []
        return [{ entityType, types, name: patternOf(filter.name) }]
      }
      case 'usage':
        return [{ entityType: 'API_USAGE_STATE' }]
      case 'related': {
        const roots = filter.search.roots.flatMap((root) => entityOf(principal, root) ?? [])
        const found = await this.parts.relations.search(principal.tenantId ?? SYSTEM_TENANT, roots, filter.search)
        return byType(found).map((source) => ({ ...source, types: filter.types }))
      }
    }
  }

  /** The system's own and tenants; how many there are of any type, of all tenants. */
  private visibleToSystem({ entityType, ...asked }: AskedSource, isNumber: boolean): readonly EntitySource[] {
    const table = this.parts.tables.get(entityType)
    if (table === undefined) return []
    return [{ ...asked, table, tenantId: isNumber || entityType === 'TENANT' ? undefined : SYSTEM_TENANT }]
  }

  /** None where the caller may not see such entities, or not what the query reads of them. */
  private visible(
    principal: Principal,
    source: AskedSource,
    operations: readonly Operation[],
  ): readonly EntitySource[] {
    const { entityType, ...asked } = source
    const table = this.parts.tables.get(entityType)
    if (table === undefined) return []
    const tenantId = principal.tenantId ?? SYSTEM_TENANT
    const { customerId } = principal
    const own = [{ id: principal.userId, tenantId, customerId }]
    // Everybody reads the own record, and what the own dashboards show of it.
    const isSelf = entityType === 'USER' && asked.ids?.length === 1 && asked.ids[0] === principal.userId
    const mayAll = operations.every(
      (operation) => this.parts.access.allowed(principal, operation, entityType, own).length > 0,
    )
    if (!mayAll && !isSelf) return []
    // What is nobody's in particular they see because it is the tenant's.
    const ofTenant = [{ id: '', tenantId, customerId: null }]
    const isShared = this.parts.access.allowed(principal, 'READ', entityType, ofTenant).length > 0
    const isBound = principal.authority === 'CUSTOMER_USER' && !isShared
    return [{ ...asked, table, tenantId, ...(isBound ? { customerId: customerId ?? '' } : {}) }]
  }

  /** With their dynamic values; without those that compare with nothing. */
  async filters(
    principal: Principal,
    asked: readonly AskedFilter[],
    isDynamic: boolean,
  ): Promise<readonly KeyFilter[]> {
    const resolved: KeyFilter[] = []
    for (const { key, predicate } of asked) {
      const known = await this.predicate(principal, predicate, isDynamic)
      if (known !== undefined) resolved.push({ key, predicate: known })
    }
    return resolved
  }

  /** Undefined where it compares with nothing: then it does not count. */
  private async predicate(
    principal: Principal,
    asked: AskedPredicate,
    isDynamic: boolean,
  ): Promise<KeyPredicate | undefined> {
    switch (asked.type) {
      case 'COMPLEX': {
        const predicates: KeyPredicate[] = []
        for (const each of asked.predicates) {
          const known = await this.predicate(principal, each, isDynamic)
          if (known !== undefined) predicates.push(known)
        }
        return predicates.length === 0 ? undefined : { ...asked, predicates }
      }
      case 'STRING': {
        const value = await this.value(principal, asked.value, textOf, isDynamic)
        return value === undefined || value === '' ? undefined : { ...asked, value }
      }
      case 'NUMERIC': {
        const value = await this.value(principal, asked.value, numberOf, isDynamic)
        return value === undefined ? undefined : { ...asked, value }
      }
      case 'BOOLEAN': {
        const value = await this.value(principal, asked.value, flagOf, isDynamic)
        return value === undefined ? undefined : { ...asked, value }
      }
    }
  }

  private async value<Value>(
    principal: Principal,
    { userValue, defaultValue, dynamicValue }: AskedValue<Value>,
    read: (value: TypedValue) => Value | undefined,
    isDynamic: boolean,
  ): Promise<Value | undefined> {
    if (userValue !== undefined) return userValue
    const source = isDynamic && dynamicValue !== undefined ? sourceOf(principal, dynamicValue.source) : undefined
    if (source === undefined || dynamicValue === undefined) return defaultValue
    const { value } = await this.parts.attributes.find(source, 'SERVER_SCOPE', [dynamicValue.attribute])
    return (value[0] && read(value[0])) ?? defaultValue
  }
}

interface AskedSource {
  readonly entityType: EntityType
  readonly ids?: readonly string[] | undefined
  readonly types?: readonly string[] | undefined
  readonly name?: string | undefined
}

/** The attributes that a query's dynamic values come from: who follows the query follows these too. */
export function dynamicSources(principal: Principal, filters: readonly AskedFilter[]): readonly EntityId[] {
  const sources: EntityId[] = []
  const collect = (predicate: AskedPredicate): void => {
    if (predicate.type === 'COMPLEX') return predicate.predicates.forEach(collect)
    const { dynamicValue } = predicate.value
    const source = dynamicValue && sourceOf(principal, dynamicValue.source)
    if (source !== undefined) sources.push(source)
  }
  for (const { predicate } of filters) collect(predicate)
  return sources
}

function sourceOf(principal: Principal, source: string): EntityId | undefined {
  const { tenantId, customerId, userId } = principal
  switch (source) {
    case 'CURRENT_TENANT':
      return tenantId === null ? undefined : { entityType: 'TENANT', id: tenantId }
    case 'CURRENT_CUSTOMER':
      return customerId === null ? undefined : { entityType: 'CUSTOMER', id: customerId }
    case 'CURRENT_USER':
      return { entityType: 'USER', id: userId }
    default:
      return undefined
  }
}

function entityOf(principal: Principal, { entityType, id }: NamedEntity): EntityId | undefined {
  const { tenantId, customerId, userId } = principal
  const named = (type: EntityType, own: string | null | undefined): EntityId | undefined =>
    own === null || own === undefined ? undefined : { entityType: type, id: own }
  switch (entityType) {
    case 'CURRENT_CUSTOMER':
      return named('CUSTOMER', customerId ?? id)
    case 'CURRENT_TENANT':
      return named('TENANT', tenantId)
    case 'CURRENT_USER':
      return named('USER', userId)
    case 'CURRENT_USER_OWNER':
      return customerId === null ? named('TENANT', tenantId) : named('CUSTOMER', customerId)
    default:
      return named(entityType, id)
  }
}

function byType(entities: readonly EntityId[]): readonly AskedSource[] {
  const ids = new Map<EntityType, string[]>()
  for (const { entityType, id } of entities) {
    const held = ids.get(entityType)
    if (held === undefined) ids.set(entityType, [id])
    else held.push(id)
  }
  return [...ids].map(([entityType, of]) => ({ entityType, ids: of }))
}

/** A prefix, unless a `%` says otherwise. */
function patternOf(name: string): string | undefined {
  if (name === '' || name === '%') return undefined
  return name.startsWith('%') || name.endsWith('%') ? name : `${name}%`
}

function operationsFor(keys: readonly EntityKey[]): readonly Operation[] {
  const operations: Operation[] = ['READ']
  if (keys.some(({ type }) => type === 'TIME_SERIES')) operations.push('READ_TELEMETRY')
  if (keys.some(({ type }) => isAttributeType(type))) operations.push('READ_ATTRIBUTES')
  return operations
}

function textOf({ type, value }: TypedValue): string | undefined {
  return type === 'STRING' ? value : String(value)
}

function numberOf({ type, value }: TypedValue): number | undefined {
  const number =
    type === 'LONG' || type === 'DOUBLE' ? Number(value) : type === 'STRING' ? Number.parseFloat(value) : NaN
  return Number.isNaN(number) ? undefined : number
}

function flagOf({ type, value }: TypedValue): boolean | undefined {
  if (type === 'BOOLEAN') return value
  return type === 'STRING' ? value.toLowerCase() === 'true' : undefined
}
