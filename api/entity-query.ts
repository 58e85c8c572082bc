/** Entity queries as clients send them, over REST and WebSocket alike. Members that are not named here are ignored. Source: `rest-api.md` 7. */
import { z } from 'zod'
import { BOOLEAN_OPERATIONS, NUMERIC_OPERATIONS, STRING_OPERATIONS } from '../model/comparison.ts'
import { ENTITY_TYPES, isUuid, type EntityType } from '../model/entity-id.ts'
import {
  CALLERS_OWN,
  DYNAMIC_SOURCES,
  ENTITY_KEY_TYPES,
  type AskedFilter,
  type AskedPredicate,
  type AskedValue,
  type EntityCountQuery,
  type EntityDataQuery,
  type EntityFilter,
  type EntityKey,
  type EntityPageLink,
  type LatestValues,
  type NamedEntity,
  type RelationRule,
} from '../model/entity-query.ts'
import { LongDecimal, WholeDouble, type JsonObject } from '../model/json.ts'
import { QueryErrors } from '../services/queries/errors.ts'

const MAX_IDS = 20_000
const MAX_NAMES = 1_000
const MAX_KEYS = 500
const MAX_FILTERS = 100
const MAX_PREDICATES = 100
const MAX_DEPTH = 10

const uuid = z
  .string()
  .refine(isUuid, 'a UUID is expected')
  .transform((text) => text.toLowerCase())
const uuids = z.array(uuid).max(MAX_IDS)
const entityType = z.enum(ENTITY_TYPES)
const names = z.array(z.string()).max(MAX_NAMES).nullish()
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)
export const number = z
  .union([z.number(), z.bigint(), z.instanceof(WholeDouble), z.instanceof(LongDecimal), z.string().regex(/^-?\d/)])
  .transform(Number)
  .refine((value) => !Number.isNaN(value), 'a number is expected')
export const integer = number.refine(Number.isSafeInteger, 'a whole number is expected')

/** The caller's own need no id. */
const namedEntity = z
  .object({ entityType: z.enum([...ENTITY_TYPES, ...CALLERS_OWN]), id: uuid.nullish() })
  .transform(({ entityType: type, id }): NamedEntity => ({ entityType: type, id: id ?? undefined }))

export const entityKey: z.ZodType<EntityKey> = z.object({ type: z.enum(ENTITY_KEY_TYPES), key: z.string() })

const direction = z
  .enum(['FROM', 'TO'])
  .nullish()
  .transform((value) => value ?? 'FROM')
const searchMembers = {
  rootEntity: namedEntity.nullish(),
  direction,
  maxLevel: integer.nullish().transform((value) => value ?? 0),
  fetchLastLevelOnly: flag,
}
type SearchMembers = {
  readonly rootEntity?: NamedEntity | null | undefined
  readonly direction: 'FROM' | 'TO'
  readonly maxLevel: number
  readonly fetchLastLevelOnly: boolean
}
const relationRule = z
  .object({ relationType: z.string().nullish(), entityTypes: z.array(entityType).nullish(), negate: flag })
  .transform(({ relationType, entityTypes, negate }): RelationRule => ({
    relationType: relationType === '' ? undefined : (relationType ?? undefined),
    entityTypes: entityTypes ?? [],
    isNegated: negate,
  }))

/** Entities of one type by their types and names; the single type is the older form. */
function typeFilter<const Name extends string>(type: Name, of: EntityType, many: string, one: string, name: string) {
  return z
    .object({ type: z.literal(type), [many]: names, [one]: z.string().nullish(), [name]: text })
    .transform((members): EntityFilter => {
      const all: Readonly<Record<string, unknown>> = members
      const listed = namesIn(all[many])
      const single = all[one]
      const types = listed ?? (typeof single === 'string' && single !== '' ? [single] : [])
      return { kind: 'type', entityType: of, types, name: String(all[name]) }
    })
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? filled(value.map(String)) : undefined
}

export function filled<Item>(list: readonly Item[] | null | undefined): readonly Item[] | undefined {
  return list === null || list === undefined || list.length === 0 ? undefined : list
}

function searchFilter<const Name extends string>(type: Name, of: EntityType, many: string) {
  return z
    .object({ type: z.literal(type), ...searchMembers, relationType: z.string().nullish(), [many]: names })
    .transform((members): EntityFilter => {
      const all: Readonly<Record<string, unknown>> & SearchMembers = members
      const { relationType } = all
      const isNamed = typeof relationType === 'string' && relationType !== ''
      const rule = { relationType: isNamed ? relationType : undefined, entityTypes: [of], isNegated: false }
      return { kind: 'related', search: searchOf(all, [], [rule]), types: namesIn(all[many]) }
    })
}

function searchOf(members: SearchMembers, roots: readonly NamedEntity[], rules: readonly RelationRule[]) {
  const { rootEntity, maxLevel, fetchLastLevelOnly } = members
  const all = rootEntity === undefined || rootEntity === null ? roots : [rootEntity]
  return { roots: all, direction: members.direction, maxLevel, lastLevelOnly: fetchLastLevelOnly, rules }
}

const relationsFilter = z
  .object({
    type: z.literal('relationsQuery'),
    ...searchMembers,
    multiRoot: flag,
    multiRootEntitiesType: entityType.nullish(),
    multiRootEntityIds: uuids.nullish(),
    filters: z.array(relationRule).max(MAX_FILTERS).nullish(),
    negate: flag,
  })
  .transform((members): EntityFilter => {
    const { multiRoot, multiRootEntitiesType: rootType, multiRootEntityIds, filters, negate } = members
    const rules = (filters ?? []).map((rule) => (negate ? { ...rule, isNegated: !rule.isNegated } : rule))
    const roots = rootType === null || rootType === undefined ? [] : (multiRootEntityIds ?? [])
    const many = roots.map((id): NamedEntity => ({ entityType: rootType ?? 'ASSET', id }))
    const search = multiRoot ? searchOf({ ...members, rootEntity: null }, many, rules) : searchOf(members, [], rules)
    return { kind: 'related', search, types: undefined }
  })

const entityFilters = z.discriminatedUnion('type', [
  z
    .object({ type: z.literal('singleEntity'), singleEntity: namedEntity })
    .transform(({ singleEntity }): EntityFilter => ({ kind: 'one', entity: singleEntity })),
  z
    .object({ type: z.literal('entityList'), entityType, entityList: uuids.nullish() })
    .transform((members): EntityFilter => ({
      kind: 'list',
      entityType: members.entityType,
      ids: members.entityList ?? [],
    })),
  z
    .object({ type: z.literal('entityName'), entityType, entityNameFilter: text })
    .transform((members): EntityFilter => ({
      kind: 'type',
      entityType: members.entityType,
      name: members.entityNameFilter,
      types: undefined,
    })),
  z.object({ type: z.literal('entityType'), entityType }).transform((members): EntityFilter => ({
    kind: 'type',
    entityType: members.entityType,
    name: '',
    types: undefined,
  })),
  typeFilter('assetType', 'ASSET', 'assetTypes', 'assetType', 'assetNameFilter'),
  typeFilter('deviceType', 'DEVICE', 'deviceTypes', 'deviceType', 'deviceNameFilter'),
  typeFilter('entityViewType', 'ENTITY_VIEW', 'entityViewTypes', 'entityViewType', 'entityViewNameFilter'),
  typeFilter('edgeType', 'EDGE', 'edgeTypes', 'edgeType', 'edgeNameFilter'),
  z
    .object({ type: z.literal('apiUsageState'), customerId: z.object({ id: uuid }).nullish() })
    .transform(({ customerId }): EntityFilter => ({ kind: 'usage', customerId: customerId?.id })),
  relationsFilter,
  searchFilter('assetSearchQuery', 'ASSET', 'assetTypes'),
  searchFilter('deviceSearchQuery', 'DEVICE', 'deviceTypes'),
  searchFilter('entityViewSearchQuery', 'ENTITY_VIEW', 'entityViewTypes'),
  searchFilter('edgeSearchQuery', 'EDGE', 'edgeTypes'),
])
const entityFilter = entityFilters.meta({ title: 'EntityFilter' })

function asked<Value>(value: z.ZodType<Value>): z.ZodType<AskedValue<Value>> {
  const dynamicValue = z
    .object({ sourceType: z.enum(DYNAMIC_SOURCES).nullish(), sourceAttribute: z.string().nullish() })
    .nullish()
  return z
    .object({ defaultValue: value.nullish(), userValue: value.nullish(), dynamicValue })
    .nullish()
    .transform((members): AskedValue<Value> => {
      const source = members?.dynamicValue?.sourceType ?? undefined
      const attribute = members?.dynamicValue?.sourceAttribute ?? undefined
      return {
        defaultValue: members?.defaultValue ?? undefined,
        userValue: members?.userValue ?? undefined,
        dynamicValue: source === undefined || attribute === undefined ? undefined : { source, attribute },
      }
    })
}

const plainText = z.union([z.string(), number.transform(String), z.boolean().transform(String)])
const simple = [
  z
    .object({
      type: z.literal('STRING'),
      operation: z.enum(STRING_OPERATIONS),
      value: asked(plainText),
      ignoreCase: flag,
    })
    .transform((predicate): AskedPredicate => predicate),
  z
    .object({ type: z.literal('NUMERIC'), operation: z.enum(NUMERIC_OPERATIONS), value: asked(number) })
    .transform((predicate): AskedPredicate => predicate),
  z
    .object({ type: z.literal('BOOLEAN'), operation: z.enum(BOOLEAN_OPERATIONS), value: asked(z.boolean()) })
    .transform((predicate): AskedPredicate => predicate),
] as const

/** Nested to a bounded depth, which the name of each level says. */
function predicateOf(depth: number): z.ZodType<AskedPredicate> {
  const named = { title: `KeyFilterPredicate${depth}` }
  if (depth === 0) return z.discriminatedUnion('type', [...simple]).meta(named)
  const nested = z.lazy(() => predicateOf(depth - 1))
  const complex = z
    .object({
      type: z.literal('COMPLEX'),
      operation: z.enum(['AND', 'OR']),
      predicates: z.array(nested).max(MAX_PREDICATES),
    })
    .transform((predicate): AskedPredicate => predicate)
  return z.discriminatedUnion('type', [...simple, complex]).meta(named)
}

const keyFilter: z.ZodType<AskedFilter> = z
  .object({ key: entityKey, predicate: predicateOf(MAX_DEPTH) })
  .meta({ title: 'KeyFilter' })

export const pageMembers = {
  page: integer.nullish().transform((value) => value ?? 0),
  pageSize: integer.nullish().transform((value) => value ?? 0),
  textSearch: z.string().nullish(),
  sortOrder: z.object({ key: entityKey.nullish(), direction: z.enum(['ASC', 'DESC']).nullish() }).nullish(),
  dynamic: flag,
}
const pageLink = z.object(pageMembers).transform(pageOf)

export function pageOf(link: z.output<z.ZodObject<typeof pageMembers>>): EntityPageLink {
  const { page, pageSize, textSearch, sortOrder, dynamic } = link
  const key = sortOrder?.key ?? undefined
  return {
    page,
    pageSize,
    textSearch: textSearch ?? undefined,
    sort: key === undefined ? undefined : { key, direction: sortOrder?.direction ?? 'ASC' },
    isDynamic: dynamic,
  }
}

export const countMembers = {
  entityFilter: entityFilter.nullish(),
  keyFilters: z.array(keyFilter).max(MAX_FILTERS).nullish(),
  keyFiltersOperation: z.enum(['AND', 'OR']).nullish(),
}
export const dataMembers = {
  ...countMembers,
  entityFields: z.array(entityKey).max(MAX_KEYS).nullish(),
  latestValues: z.array(entityKey).max(MAX_KEYS).nullish(),
}
export const countQueryBody = z.object(countMembers)
export const dataQueryBody = z.object({ ...dataMembers, pageLink: pageLink.nullish() })
export type CountQueryBody = z.infer<typeof countQueryBody>
export type DataQueryBody = z.infer<typeof dataQueryBody>

/** Throws FILTER_MISSING, ROOT_MISSING. */
export function countQueryOf(body: CountQueryBody): EntityCountQuery {
  const filter = body.entityFilter ?? undefined
  if (filter === undefined) throw QueryErrors.FILTER_MISSING()
  if (filter.kind === 'related' && filter.search.roots.length === 0) throw QueryErrors.ROOT_MISSING()
  return { filter, keyFilters: body.keyFilters ?? [], operation: body.keyFiltersOperation ?? 'AND' }
}

/** Throws FILTER_MISSING, PAGE_MISSING, PAGE_SIZE, PAGE_NUMBER, ROOT_MISSING. */
export function dataQueryOf(body: DataQueryBody): EntityDataQuery {
  const query = countQueryOf(body)
  const page = body.pageLink ?? undefined
  if (page === undefined) throw QueryErrors.PAGE_MISSING()
  if (page.pageSize < 1) throw QueryErrors.PAGE_SIZE({ pageSize: page.pageSize })
  if (page.page < 0) throw QueryErrors.PAGE_NUMBER({ page: page.page })
  const fields = (body.entityFields ?? []).filter(({ type }) => type === 'ENTITY_FIELD').map(({ key }) => key)
  return { ...query, page, fields: [...new Set(fields)], latest: distinct(body.latestValues ?? []) }
}

export function distinct(keys: readonly EntityKey[]): readonly EntityKey[] {
  return [...new Map(keys.map((key) => [`${key.type} ${key.key}`, key])).values()]
}

export function latestJson(latest: LatestValues): JsonObject {
  const json: JsonObject = {}
  for (const [type, values] of Object.entries(latest)) {
    const ofType: JsonObject = Object.create(null) as JsonObject
    for (const [key, { ts, value }] of Object.entries(values)) ofType[key] = { ts, value }
    json[type] = ofType
  }
  return json
}
