/** Events: found and taken away. Source: `rest-api.md` 13.4. */
import { ENTITY_TYPES, entityId, type EntityId } from '../../model/entity-id.ts'
import { EVENT_TYPES, type EventRecord } from '../../model/event.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { CalculatedFields } from '../../services/calculated-fields/calculated-fields.ts'
import { CalculatedFieldErrors } from '../../services/calculated-fields/errors.ts'
import { calculatedFields } from '../../services/entities/calculated-field.ts'
import { eventFilter, type EventFilter } from '../../services/events/event-filters.ts'
import type { Events } from '../../services/events/events.ts'
import { idJson } from '../../services/entity-json.ts'
import { SYSTEM_TENANT } from '../../services/changes/changes.ts'
import type { RouteMaker } from './declared/declare.ts'
import { optionalTime, paging, requiredUuid } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { pageShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, EVERYBODY, TENANT } from './route.ts'

export interface EventRoutesParts {
  readonly make: RouteMaker
  readonly events: Events
  readonly fieldService: CalculatedFields
}

const RANGE = { startTime: optionalTime, endTime: optionalTime }
const SEARCH = { ...RANGE, tenantId: requiredUuid, page: paging }
const READ = { entityId: { typedBy: 'entityType', operation: 'READ' } } as const
const WRITE = { entityId: { typedBy: 'entityType', operation: 'WRITE' } } as const

const EVENT_SHAPE: JsonObject = {
  title: 'EventInfo',
  type: 'object',
  properties: {
    id: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
    createdTime: { type: 'integer', description: 'Unix milliseconds' },
    tenantId: { type: 'object' },
    type: { type: 'string', enum: [...EVENT_TYPES] },
    uid: { type: 'string' },
    entityId: { type: 'object', properties: { entityType: { enum: [...ENTITY_TYPES] }, id: { type: 'string' } } },
    body: { type: 'object' },
  },
  required: ['id', 'createdTime', 'tenantId', 'type', 'uid', 'entityId', 'body'],
}

export function eventRoutes(parts: EventRoutesParts): readonly DeclaredRoute[] {
  const { make, events } = parts
  return [
    make.route({
      method: 'GET',
      path: '/api/events/{entityType}/{entityId}/{eventType}',
      about: 'The events of a type that an entity told of itself.',
      authorities: EVERYBODY,
      targets: READ,
      query: SEARCH,
      body: undefined,
      answer: pageShape(EVENT_SHAPE),
      words: { eventType: EVENT_TYPES },
      handle: async ({ principal, path, targets, query }) =>
        pageJson(await events.page(tenantOf(principal, query), targets.entityId, path.eventType, query, query.page)),
    }),
    make.route({
      method: 'GET',
      path: '/api/events/{entityType}/{entityId}',
      about: 'When an entity started, changed and stopped. Outdated: name the type of the events.',
      authorities: EVERYBODY,
      targets: READ,
      query: SEARCH,
      body: undefined,
      answer: pageShape(EVENT_SHAPE),
      handle: async ({ principal, targets, query }) =>
        pageJson(await events.page(tenantOf(principal, query), targets.entityId, 'LC_EVENT', query, query.page)),
    }),
    make.route({
      method: 'POST',
      path: '/api/events/{entityType}/{entityId}',
      about: 'The events of an entity that the filter in the body lets through.',
      authorities: EVERYBODY,
      targets: READ,
      query: SEARCH,
      body: eventFilter,
      example: () => ({ eventType: 'DEBUG_RULE_NODE', isError: true, msgDirectionType: 'OUT' }),
      answer: pageShape(EVENT_SHAPE),
      handle: async ({ principal, targets, query, body }) =>
        pageJson(await events.page(tenantOf(principal, query), targets.entityId, body, query, query.page)),
    }),
    make.route({
      method: 'POST',
      path: '/api/events/{entityType}/{entityId}/clear',
      about: 'Takes away the events of an entity that the filter in the body lets through.',
      authorities: EVERYBODY,
      targets: WRITE,
      query: RANGE,
      body: eventFilter,
      example: () => ({ eventType: 'DEBUG_RULE_NODE' }),
      answer: undefined,
      handle: async ({ principal, targets, query, body }) => {
        await events.clear(principal.tenantId ?? SYSTEM_TENANT, targets.entityId, body, query)
        return EMPTY_ANSWER
      },
    }),
    ...latestRoutes(parts),
  ]
}

const RULE_NODE = { type: 'RULE_NODE', label: 'Rule node' } as const
const NOT_A_RULE = (): Error => CalculatedFieldErrors.NOT_A_RULE()

/** What front ends begin with where a script is tried out. */
function latestRoutes({ make, events, fieldService }: EventRoutesParts): readonly DeclaredRoute[] {
  const latest = async (principal: Principal, entity: EntityId, filter: EventFilter) => {
    const event = await events.latest(principal.tenantId ?? SYSTEM_TENANT, entity, filter)
    return event === undefined ? EMPTY_ANSWER : bodyJson(event)
  }
  const ofField = { eventType: 'DEBUG_CALCULATED_FIELD' } as const
  const common = { method: 'GET', authorities: TENANT, query: {}, body: undefined } as const
  const answer = { answer: { type: 'object' }, mayBeEmpty: true } as const
  return [
    make.route({
      ...common,
      ...answer,
      path: '/api/ruleNode/{ruleNodeId}/debugIn',
      about: 'The last message that came into a rule node while it was watched.',
      targets: { ruleNodeId: { entity: RULE_NODE, operation: 'READ' } },
      handle: ({ principal, path }) =>
        latest(principal, entityId('RULE_NODE', path.ruleNodeId), {
          eventType: 'DEBUG_RULE_NODE',
          msgDirectionType: 'IN',
        }),
    }),
    make.route({
      ...common,
      ...answer,
      path: '/api/calculatedField/{calculatedFieldId}/debug',
      about: 'The last time that a calculated field was computed while it was watched.',
      targets: { calculatedFieldId: { entity: calculatedFields, operation: 'READ' } },
      handle: ({ principal, path }) => latest(principal, entityId('CALCULATED_FIELD', path.calculatedFieldId), ofField),
    }),
    make.route({
      ...common,
      ...answer,
      path: '/api/alarm/rule/{alarmRuleId}/debug',
      about: 'The last time that an alarm rule was computed while it was watched.',
      targets: { alarmRuleId: { entity: calculatedFields, operation: 'READ', otherwise: NOT_A_RULE } },
      handle: async ({ principal, path }) => {
        const { id } = await fieldService.getRule(path.alarmRuleId)
        return latest(principal, entityId('CALCULATED_FIELD', id), ofField)
      },
    }),
  ]
}

/** System administrators alone, who have no tenant, name one. */
function tenantOf({ tenantId }: Principal, query: { readonly tenantId: string }): string {
  return tenantId ?? query.tenantId
}

function pageJson({ data, ...page }: Awaited<ReturnType<Events['page']>>): JsonObject {
  return { data: data.map(eventJson), ...page }
}

function eventJson(event: EventRecord): JsonObject {
  const { id, createdTime, tenantId, entity, type } = event
  return {
    ...{ id: { id }, createdTime, tenantId: idJson('TENANT', tenantId), type, uid: id },
    entityId: idJson(entity.entityType, entity.id),
    body: bodyJson(event),
  }
}

function bodyJson({ server, body }: Pick<EventRecord, 'server' | 'body'>): JsonObject {
  const json: JsonObject = { server }
  for (const [member, value] of Object.entries(body)) if (value !== undefined) json[member] = value
  return json
}
