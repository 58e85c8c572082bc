/** Relations between entities. Source: `rest-api.md` 10. */
import { z } from 'zod'
import { ENTITY_TYPES, entityId, isUuid, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import {
  RELATION_DIRECTIONS,
  RELATION_GROUPS,
  relationJson,
  type Relation,
  type RelationDirection,
  type RelationKey,
  type RelationWithName,
} from '../../model/relation.ts'
import { RelationErrors } from '../../services/relations/errors.ts'
import type { RelationFilter, RelationSearch } from '../../services/relations/search.ts'
import type { Services } from '../../services/services.ts'
import { anyJson } from './body.ts'
import type { RouteMaker } from './declared/declare.ts'
import {
  optionalText,
  relationGroup,
  requiredEntityType,
  requiredText,
  requiredUuid,
  type QueryValues,
} from './declared/query.ts'
import type { BodyTarget, DeclaredRoute, Ids } from './declared/route.ts'
import { listShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, EVERYBODY } from './route.ts'

export interface RelationRoutesParts {
  readonly make: RouteMaker
  readonly relations: Services['relations']
  readonly farEnds: Services['farEnds']
}

export function relationRoutes(parts: RelationRoutesParts): readonly DeclaredRoute[] {
  return [...oneRoutes(parts), ...listRoutes(parts), ...pathRoutes(parts), ...searchRoutes(parts)]
}

const END: JsonObject = {
  type: 'object',
  properties: { entityType: { type: 'string' }, id: { type: 'string', format: 'uuid' } },
  required: ['entityType', 'id'],
}
const RELATION_PROPERTIES: JsonObject = {
  from: END,
  to: END,
  type: { type: 'string' },
  typeGroup: { type: 'string', enum: [...RELATION_GROUPS] },
  version: { type: 'integer' },
  additionalInfo: {},
}
const RELATION: JsonObject = {
  type: 'object',
  properties: RELATION_PROPERTIES,
  required: Object.keys(RELATION_PROPERTIES),
}
const INFO_PROPERTIES: JsonObject = {
  ...RELATION_PROPERTIES,
  fromName: { type: ['string', 'null'] },
  toName: { type: ['string', 'null'] },
}
const INFO: JsonObject = { type: 'object', properties: INFO_PROPERTIES, required: Object.keys(INFO_PROPERTIES) }

const end = z
  .object({ entityType: z.enum(ENTITY_TYPES), id: z.string().refine(isUuid, 'a UUID is expected') })
  .transform(({ entityType, id }): EntityId => entityId(entityType, id.toLowerCase()))

const relationBody = z
  .object({
    from: end.nullish(),
    to: end.nullish(),
    // What is blank the service refuses in its words.
    type: z.string().nullish(),
    typeGroup: z.enum(RELATION_GROUPS).nullish(),
    additionalInfo: anyJson.nullish(),
  })
  .transform(({ from, to, type, typeGroup, additionalInfo }) => ({
    from: present('from', from),
    to: present('to', to),
    type: type ?? '',
    typeGroup: typeGroup ?? ('COMMON' as const),
    additionalInfo: additionalInfo ?? null,
  }))

function present(name: 'from' | 'to', entity: EntityId | null | undefined): EntityId {
  if (entity === null || entity === undefined) throw RelationErrors.END_MISSING({ end: name })
  return entity
}

const KEY_QUERY = {
  fromId: requiredUuid,
  fromType: requiredEntityType,
  relationType: requiredText,
  relationTypeGroup: relationGroup,
  toId: requiredUuid,
  toType: requiredEntityType,
} as const

function keyOf(query: QueryValues<typeof KEY_QUERY>): RelationKey {
  return {
    from: entityId(query.fromType, query.fromId),
    to: entityId(query.toType, query.toId),
    type: query.relationType,
    typeGroup: query.relationTypeGroup,
  }
}

function bothEnds({ from, to }: Pick<RelationKey, 'from' | 'to'>, operation: 'READ' | 'RELATE'): BodyTarget[] {
  return [from, to].map((entity) => ({ entity, operation }))
}

/** One relation, named by its ends, type and group. */
function oneRoutes({ make, relations }: RelationRoutesParts): readonly DeclaredRoute[] {
  const save = {
    method: 'POST',
    authorities: EVERYBODY,
    targets: {},
    query: {},
    body: relationBody,
    bodyTargets: (body: RelationKey) => bothEnds(body, 'RELATE'),
    example: (ids: Readonly<Record<string, string>>) => ({
      from: { entityType: 'DEVICE', id: ids['fromId'] ?? '' },
      to: { entityType: 'DEVICE', id: ids['toId'] ?? '' },
      type: 'Contains',
      typeGroup: 'COMMON',
    }),
  } as const
  const byKey = { authorities: EVERYBODY, targets: {}, query: KEY_QUERY, body: undefined } as const
  return [
    make.route({
      ...save,
      path: '/api/relation',
      about: 'Makes a relation, or changes what is said of it.',
      answer: undefined,
      handle: async ({ principal, body }) => {
        await relations.saveByUser(principal, body)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...save,
      path: '/api/v2/relation',
      about: 'Makes a relation, or changes what is said of it, and answers it.',
      answer: RELATION,
      handle: async ({ principal, body }) => relationJson(await relations.saveByUser(principal, body)),
    }),
    make.route({
      ...byKey,
      method: 'GET',
      path: '/api/relation',
      about: 'One relation.',
      queryTargets: (query) => bothEnds(keyOf(query), 'READ'),
      answer: RELATION,
      handle: async ({ principal, query }) => {
        const relation = await relations.find(relations.tenantOf(principal), keyOf(query))
        if (relation === undefined) throw RelationErrors.NOT_FOUND()
        return relationJson(relation)
      },
    }),
    make.route({
      ...byKey,
      method: 'DELETE',
      path: '/api/relation',
      about: 'Deletes a relation.',
      queryTargets: (query) => bothEnds(keyOf(query), 'RELATE'),
      answer: undefined,
      handle: async ({ principal, query }) => {
        await relations.deleteByUser(principal, keyOf(query))
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...byKey,
      method: 'DELETE',
      path: '/api/v2/relation',
      about: 'Deletes a relation and answers what it was.',
      queryTargets: (query) => bothEnds(keyOf(query), 'RELATE'),
      answer: RELATION,
      handle: async ({ principal, query }) => relationJson(await relations.deleteByUser(principal, keyOf(query))),
    }),
    make.route({
      method: 'DELETE',
      path: '/api/relations',
      about: 'Deletes the common relations of an entity in both directions.',
      authorities: EVERYBODY,
      targets: {},
      query: { entityId: requiredUuid, entityType: requiredEntityType },
      queryTargets: (query) => [{ entity: entityId(query.entityType, query.entityId), operation: 'WRITE' }],
      body: undefined,
      answer: undefined,
      handle: async ({ principal, query }) => {
        await relations.deleteAllByUser(principal, entityId(query.entityType, query.entityId))
        return EMPTY_ANSWER
      },
    }),
  ]
}

interface Asked {
  readonly principal: Principal
  readonly direction: RelationDirection
  readonly form: 'plain' | 'info'
}

/** What of the found relations the caller may see, as a list of JSON. */
async function answerOf(
  { farEnds }: RelationRoutesParts,
  { principal, direction, form }: Asked,
  found: readonly Relation[],
): Promise<JsonValue> {
  const readable = await farEnds.readable(principal, direction, found)
  return readable.map((one) => (form === 'plain' ? relationJson(one.relation) : infoJson(one, direction)))
}

/** The near end is known to who asks: its name is left null. */
function infoJson({ relation, name }: RelationWithName, direction: RelationDirection): JsonObject {
  const { additionalInfo, ...json } = relationJson(relation)
  const names = direction === 'FROM' ? { fromName: null, toName: name } : { fromName: name, toName: null }
  return { ...json, ...names, additionalInfo: additionalInfo ?? null }
}

const FORMS = [
  { form: 'plain', path: '/api/relations', named: '', answer: listShape(RELATION) },
  { form: 'info', path: '/api/relations/info', named: ', with the name of the other end', answer: listShape(INFO) },
] as const

/** The relations of an entity that the query names. */
function listRoutes(parts: RelationRoutesParts): readonly DeclaredRoute[] {
  const { make, relations } = parts
  const common = { method: 'GET', authorities: EVERYBODY, targets: {}, body: undefined } as const
  const optional = { relationType: optionalText, relationTypeGroup: relationGroup } as const
  return FORMS.flatMap(({ form, path, named, answer }) => [
    make.route({
      ...common,
      path,
      about: `Relations from an entity${named}.`,
      query: { fromId: requiredUuid, fromType: requiredEntityType, ...optional },
      onlyWith: ['fromId', 'fromType'],
      queryTargets: (query) => [{ entity: entityId(query.fromType, query.fromId), operation: 'READ' }],
      answer,
      handle: async ({ principal, query }) => {
        const options = { group: query.relationTypeGroup, type: query.relationType }
        const entity = entityId(query.fromType, query.fromId)
        const found = await relations.list(relations.tenantOf(principal), 'FROM', entity, options)
        return answerOf(parts, { principal, direction: 'FROM', form }, found)
      },
    }),
    make.route({
      ...common,
      path,
      about: `Relations to an entity${named}.`,
      query: { toId: requiredUuid, toType: requiredEntityType, ...optional },
      onlyWith: ['toId', 'toType'],
      queryTargets: (query) => [{ entity: entityId(query.toType, query.toId), operation: 'READ' }],
      answer,
      handle: async ({ principal, query }) => {
        const options = { group: query.relationTypeGroup, type: query.relationType }
        const entity = entityId(query.toType, query.toId)
        const found = await relations.list(relations.tenantOf(principal), 'TO', entity, options)
        return answerOf(parts, { principal, direction: 'TO', form }, found)
      },
    }),
  ])
}

/** The same with the entity in the path. */
function pathRoutes(parts: RelationRoutesParts): readonly DeclaredRoute[] {
  const { make, relations } = parts
  const common = { method: 'GET', authorities: EVERYBODY, body: undefined } as const
  const query = { relationTypeGroup: relationGroup } as const
  const fromTarget = { fromId: { typedBy: 'fromType', operation: 'READ' } } as const
  const toTarget = { toId: { typedBy: 'toType', operation: 'READ' } } as const
  const list = async (asked: Asked, entity: EntityId, options: Parameters<typeof relations.list>[3]) =>
    answerOf(parts, asked, await relations.list(relations.tenantOf(asked.principal), asked.direction, entity, options))
  const ofForms = FORMS.flatMap(({ form, path, named, answer }) => [
    make.route({
      ...common,
      path: `${path}/from/{fromType}/{fromId}`,
      about: `Relations from an entity${named}.`,
      targets: fromTarget,
      query,
      answer,
      handle: ({ principal, targets, query: { relationTypeGroup: group } }) =>
        list({ principal, direction: 'FROM', form }, targets.fromId, { group }),
    }),
    make.route({
      ...common,
      path: `${path}/to/{toType}/{toId}`,
      about: `Relations to an entity${named}.`,
      targets: toTarget,
      query,
      answer,
      handle: ({ principal, targets, query: { relationTypeGroup: group } }) =>
        list({ principal, direction: 'TO', form }, targets.toId, { group }),
    }),
  ])
  return [
    ...ofForms,
    make.route({
      ...common,
      path: '/api/relations/from/{fromType}/{fromId}/{relationType}',
      about: 'Relations of one type from an entity.',
      targets: fromTarget,
      query,
      answer: listShape(RELATION),
      handle: ({ principal, targets, path: { relationType: type }, query: { relationTypeGroup: group } }) =>
        list({ principal, direction: 'FROM', form: 'plain' }, targets.fromId, { group, type }),
    }),
    make.route({
      ...common,
      path: '/api/relations/to/{toType}/{toId}/{relationType}',
      about: 'Relations of one type to an entity.',
      targets: toTarget,
      query,
      answer: listShape(RELATION),
      handle: ({ principal, targets, path: { relationType: type }, query: { relationTypeGroup: group } }) =>
        list({ principal, direction: 'TO', form: 'plain' }, targets.toId, { group, type }),
    }),
  ]
}

/** Where a search begins and how far it goes: of relations, and of devices, assets and entity views by relation. */
export const searchParameters = z
  .object({
    rootId: z.string().refine(isUuid, 'a UUID is expected'),
    rootType: z.enum(ENTITY_TYPES),
    direction: z.enum(RELATION_DIRECTIONS).nullish(),
    relationTypeGroup: z.enum(RELATION_GROUPS).nullish(),
    maxLevel: z.int().nullish(),
    fetchLastLevelOnly: z.boolean().nullish(),
  })
  .transform((sent): RelationSearch => ({
    root: entityId(sent.rootType, sent.rootId.toLowerCase()),
    direction: sent.direction ?? 'FROM',
    group: sent.relationTypeGroup ?? 'COMMON',
    maxLevel: sent.maxLevel ?? 0,
    lastLevelOnly: sent.fetchLastLevelOnly ?? false,
  }))

/** `negate` is taken and means nothing here, as in the reference. */
const filterBody = z
  .object({ relationType: z.string().nullish(), entityTypes: z.array(z.enum(ENTITY_TYPES)).nullish() })
  .transform(({ relationType, entityTypes }): RelationFilter => ({
    type: relationType === null || relationType === '' ? undefined : relationType,
    entityTypes: entityTypes ?? [],
  }))

export function searchExample(ids: Ids): JsonObject {
  return {
    rootId: ids['fromId'] ?? '',
    rootType: 'DEVICE',
    direction: 'FROM',
    relationTypeGroup: 'COMMON',
    maxLevel: 1,
    fetchLastLevelOnly: false,
  }
}

const searchBody = z.object({ parameters: searchParameters, filters: z.array(filterBody).max(100).nullish() })

/** Over several levels. */
function searchRoutes(parts: RelationRoutesParts): readonly DeclaredRoute[] {
  const { relations } = parts
  return FORMS.map(({ form, path, named, answer }) =>
    parts.make.route({
      method: 'POST',
      path,
      about: `Relations that a search over several levels meets${named}.`,
      authorities: EVERYBODY,
      targets: {},
      query: {},
      body: searchBody,
      bodyTargets: ({ parameters: { root } }) => [{ entity: root, operation: 'READ' as const }],
      example: (ids) => ({
        parameters: searchExample(ids),
        filters: [{ relationType: 'Contains', entityTypes: ['DEVICE'] }],
      }),
      answer,
      handle: async ({ principal, body: { parameters, filters } }) => {
        const found = await relations.search(relations.tenantOf(principal), parameters, filters ?? [])
        return answerOf(parts, { principal, direction: parameters.direction, form }, found)
      },
    }),
  )
}
