/** Alarms: raised, acknowledged, cleared, assigned, listed. Source: `rest-api.md` section 9. */
import { z } from 'zod'
import { ENTITY_TYPES, entityId, isUuid } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { AlarmFilter, AlarmService, UserAlarmDraft } from '../../services/alarms/alarm-service.ts'
import { AlarmErrors } from '../../services/alarms/errors.ts'
import { SYSTEM_TENANT } from '../../services/changes/changes.ts'
import { alarms, ALARM_STATUSES, flagsOfList, SEARCH_STATUSES, SEVERITIES } from '../../services/entities/alarm.ts'
import { users } from '../../services/entities/user.ts'
import { anyJson, optionalId } from './body.ts'
import type { RouteMaker } from './declared/declare.ts'
import {
  choiceList,
  flag,
  optionalChoice,
  optionalInteger,
  optionalUuid,
  paging,
  textList,
  type QueryValues,
} from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape, recordShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, EVERYBODY, TENANT_AND_CUSTOMER } from './route.ts'
import { tenantOf } from './authorize.ts'

export interface AlarmRouteParts {
  readonly make: RouteMaker
  readonly alarmService: AlarmService
}

export const ENTITY_SHAPE: JsonObject = {
  type: 'object',
  properties: { entityType: { type: 'string', enum: [...ENTITY_TYPES] }, id: { type: 'string', format: 'uuid' } },
  required: ['entityType', 'id'],
}
const NULLABLE_TEXT: JsonObject = { type: ['string', 'null'] }
const ALARM_SHAPE = withMembers(recordShape(alarms), {
  originator: ENTITY_SHAPE,
  name: { type: 'string' },
  status: { type: 'string', enum: [...ALARM_STATUSES] },
})
export const ALARM_INFO_SHAPE = withMembers(ALARM_SHAPE, {
  originatorName: NULLABLE_TEXT,
  originatorLabel: NULLABLE_TEXT,
  originatorDisplayName: NULLABLE_TEXT,
  assignee: {
    type: ['object', 'null'],
    properties: { id: idShape('USER'), firstName: NULLABLE_TEXT, lastName: NULLABLE_TEXT, email: { type: 'string' } },
  },
})

const USER_EMAIL_SHAPE: JsonObject = {
  type: 'object',
  properties: { id: idShape('USER'), email: { type: 'string' }, firstName: NULLABLE_TEXT, lastName: NULLABLE_TEXT },
  required: ['id', 'email', 'firstName', 'lastName'],
}

export function withMembers(shape: JsonObject, members: JsonObject): JsonObject {
  const properties: JsonObject = { ...(shape['properties'] as JsonObject), ...members }
  return { type: 'object', properties, required: Object.keys(properties) }
}

const { columns } = alarms
const entitySchema = z.object({
  entityType: z.enum(ENTITY_TYPES),
  id: z
    .string()
    .refine(isUuid, 'a UUID is expected')
    .transform((text) => text.toLowerCase()),
})

const alarmSchema = z.object({
  id: optionalId,
  customerId: optionalId,
  assigneeId: optionalId,
  originator: entitySchema.nullish(),
  type: columns.type.input.optional(),
  severity: z.enum(SEVERITIES).nullish(),
  acknowledged: columns.acknowledged.input.optional(),
  cleared: columns.cleared.input.optional(),
  startTs: columns.startTs.input.optional(),
  endTs: columns.endTs.input.optional(),
  details: anyJson.optional(),
  propagate: columns.propagate.input.optional(),
  propagateToOwner: columns.propagateToOwner.input.optional(),
  propagateToTenant: columns.propagateToTenant.input.optional(),
  propagateRelationTypes: z.array(z.string()).nullish(),
})
type AlarmBody = z.infer<typeof alarmSchema>

export function alarmRoutes(parts: AlarmRouteParts): readonly DeclaredRoute[] {
  return [...changeRoutes(parts), ...readRoutes(parts), ...listRoutes(parts)]
}

function changeRoutes({ make, alarmService: service }: AlarmRouteParts): readonly DeclaredRoute[] {
  const common = { authorities: TENANT_AND_CUSTOMER, query: {}, body: undefined } as const
  const toChange = { alarmId: { entity: alarms, operation: 'WRITE' } } as const
  return [
    make.route({
      ...common,
      method: 'POST',
      path: '/api/alarm',
      about:
        'Raises an alarm, or changes the active one of the same originator and type, or the one that the body names.',
      targets: {},
      body: alarmSchema,
      example: (ids) => alarms.example(ids),
      creates: ({ id }) => (id === undefined ? 'ALARM' : undefined),
      bodyTargets: ({ id, originator }) => [
        ...(id === undefined ? [] : [{ entity: entityId('ALARM', id), operation: 'WRITE' as const }]),
        ...(originator === undefined || originator === null
          ? []
          : [{ entity: originator, operation: 'READ' as const }]),
      ],
      answer: ALARM_SHAPE,
      handle: async ({ principal, body }) => alarms.jsonOf(await service.saveByUser(principal, draftOf(body))),
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/alarm/{alarmId}/ack',
      about: 'Notes that somebody has seen the alarm.',
      targets: toChange,
      answer: ALARM_INFO_SHAPE,
      handle: async ({ principal, path }) => (await service.ackByUser(principal, path.alarmId)).info,
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/alarm/{alarmId}/clear',
      about: 'Ends the alarm: the next of its type is a new one.',
      targets: toChange,
      answer: ALARM_INFO_SHAPE,
      handle: async ({ principal, path }) => (await service.clearByUser(principal, path.alarmId)).info,
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/alarm/{alarmId}/assign/{assigneeId}',
      about: 'Gives the alarm to a user.',
      targets: { ...toChange, assigneeId: { entity: users, operation: 'READ' } },
      answer: ALARM_SHAPE,
      handle: async ({ principal, path }) =>
        alarms.jsonOf((await service.assignByUser(principal, path.alarmId, path.assigneeId)).alarm),
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/alarm/{alarmId}/assign',
      about: 'Takes the alarm from the user who has it.',
      targets: toChange,
      answer: ALARM_SHAPE,
      handle: async ({ principal, path }) =>
        alarms.jsonOf((await service.assignByUser(principal, path.alarmId, null)).alarm),
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/alarm/{alarmId}',
      about: 'Deletes an alarm with its comments.',
      targets: { alarmId: { entity: alarms, operation: 'DELETE' } },
      answer: { type: 'boolean' },
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path.alarmId)
        return true
      },
    }),
  ]
}

function readRoutes({ make, alarmService: service }: AlarmRouteParts): readonly DeclaredRoute[] {
  const common = { method: 'GET', authorities: TENANT_AND_CUSTOMER, body: undefined } as const
  const toRead = { alarmId: { entity: alarms, operation: 'READ' } } as const
  return [
    make.route({
      ...common,
      path: '/api/alarm/{alarmId}',
      about: 'One alarm.',
      targets: toRead,
      query: {},
      answer: ALARM_SHAPE,
      handle: async ({ path }) => alarms.jsonOf(await service.get(path.alarmId)),
    }),
    make.route({
      ...common,
      path: '/api/alarm/info/{alarmId}',
      about: 'One alarm, with the names of its originator and of who has it.',
      targets: toRead,
      query: {},
      answer: ALARM_INFO_SHAPE,
      handle: ({ path }) => service.findInfo(path.alarmId),
    }),
    make.route({
      ...common,
      path: '/api/users/assign/{alarmId}',
      about: 'Users to whom the alarm may be given.',
      targets: toRead,
      query: { page: paging },
      answer: pageShape(USER_EMAIL_SHAPE),
      handle: async ({ principal, path, query }) => {
        const page = await service.pageOfCandidates(principal, path.alarmId, query.page)
        return { ...page, data: [...page.data] }
      },
    }),
    make.route({
      ...common,
      path: '/api/alarm/types',
      about: 'Types of alarms that there are.',
      targets: {},
      query: { page: paging },
      answer: pageShape({
        type: 'object',
        properties: { tenantId: idShape('TENANT'), entityType: { const: 'ALARM' }, type: { type: 'string' } },
      }),
      handle: async ({ principal, query }) => {
        const tenantId = tenantOf(principal)
        const page = await service.types({ tenantId, ...ownCustomer(principal) }, query.page)
        const data = page.data.map((type) => ({
          tenantId: { entityType: 'TENANT', id: tenantId },
          entityType: 'ALARM',
          type,
        }))
        return { ...page, data }
      },
    }),
    make.route({
      ...common,
      path: '/api/alarm/highestSeverity/{entityType}/{entityId}',
      about: 'The worst severity of the alarms on an entity; nothing where there are none.',
      targets: ON_ENTITY,
      query: { searchStatus: FILTERS.searchStatus, status: FILTERS.status, assigneeId: optionalUuid },
      answer: { type: 'string', enum: [...SEVERITIES] },
      handle: async ({ principal, targets, query }) => {
        const filter = { ...onEntity(principal, targets.entityId.id), assigneeId: query.assigneeId }
        return (await service.highestSeverity({ ...filter, ...flagsOf(query) })) ?? EMPTY_ANSWER
      },
    }),
  ]
}

const ON_ENTITY = { entityId: { typedBy: 'entityType', operation: 'READ' } } as const
const FILTERS = {
  searchStatus: optionalChoice(SEARCH_STATUSES),
  status: optionalChoice(ALARM_STATUSES),
  assigneeId: optionalUuid,
  startTime: optionalInteger,
  endTime: optionalInteger,
  // Names are in every answer.
  fetchOriginator: flag(false),
  page: paging,
} as const
const FILTERS_V2 = {
  statusList: choiceList(SEARCH_STATUSES),
  severityList: choiceList(SEVERITIES),
  typeList: textList,
  assigneeId: optionalUuid,
  startTime: optionalInteger,
  endTime: optionalInteger,
  page: paging,
} as const

function listRoutes({ make, alarmService: service }: AlarmRouteParts): readonly DeclaredRoute[] {
  const common = { method: 'GET', body: undefined, answer: pageShape(ALARM_INFO_SHAPE) } as const
  return [
    make.route({
      ...common,
      path: '/api/alarm/{entityType}/{entityId}',
      about: 'The alarms that show on an entity.',
      authorities: EVERYBODY,
      targets: ON_ENTITY,
      query: FILTERS,
      handle: ({ principal, targets, query }) =>
        pageOf(service, { ...onEntity(principal, targets.entityId.id), ...filterOf(query) }, query),
    }),
    make.route({
      ...common,
      path: '/api/v2/alarm/{entityType}/{entityId}',
      about: 'The alarms that show on an entity, of several statuses, severities and types.',
      authorities: EVERYBODY,
      targets: ON_ENTITY,
      query: FILTERS_V2,
      handle: ({ principal, targets, query }) =>
        pageOf(service, { ...onEntity(principal, targets.entityId.id), ...filterOfV2(query) }, query),
    }),
    make.route({
      ...common,
      path: '/api/alarms',
      about: 'The alarms of the tenant, for customer users those of the customer.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: FILTERS,
      handle: ({ principal, query }) =>
        pageOf(service, { tenantId: tenantOf(principal), ...ownCustomer(principal), ...filterOf(query) }, query),
    }),
    make.route({
      ...common,
      path: '/api/v2/alarms',
      about: 'The same, of several statuses, severities and types.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: FILTERS_V2,
      handle: ({ principal, query }) =>
        pageOf(service, { tenantId: tenantOf(principal), ...ownCustomer(principal), ...filterOfV2(query) }, query),
    }),
  ]
}

async function pageOf(
  service: AlarmService,
  filter: AlarmFilter,
  query: Pick<QueryValues<typeof FILTERS>, 'page'>,
): Promise<JsonObject> {
  const page = await service.page(filter, query.page)
  return { ...page, data: [...page.data] }
}

function draftOf(body: AlarmBody): UserAlarmDraft {
  const { originator, type, severity, propagateRelationTypes } = body
  if (originator === undefined || originator === null) throw AlarmErrors.ORIGINATOR_UNKNOWN()
  if (type === undefined) throw AlarmErrors.MEMBER_MISSING({ member: 'type' })
  if (severity === undefined || severity === null) throw AlarmErrors.MEMBER_MISSING({ member: 'severity' })
  return { ...body, originator, type, severity, propagateRelationTypes: propagateRelationTypes ?? undefined }
}

/** Alarms of others' devices may show on an entity of the own customer. */
function onEntity(principal: Principal, id: string): Pick<AlarmFilter, 'tenantId' | 'entityId' | 'customerId'> {
  return { tenantId: principal.tenantId ?? SYSTEM_TENANT, entityId: id, ...ownCustomer(principal) }
}

function ownCustomer({ authority, customerId }: Principal): Pick<AlarmFilter, 'customerId'> {
  return authority === 'CUSTOMER_USER' ? { customerId: customerId ?? SYSTEM_TENANT } : {}
}

function filterOf(query: QueryValues<typeof FILTERS>): Omit<AlarmFilter, 'tenantId'> {
  const { assigneeId, startTime, endTime } = query
  return { assigneeId, startTime, endTime, ...flagsOf(query) }
}

/** Each of the two says a part of what the other says. */
function flagsOf({
  searchStatus,
  status,
}: Pick<QueryValues<typeof FILTERS>, 'searchStatus' | 'status'>): Pick<AlarmFilter, 'cleared' | 'acknowledged'> {
  if (searchStatus !== undefined && status !== undefined) throw AlarmErrors.STATUSES_TOGETHER()
  if (status !== undefined) return { cleared: status.startsWith('CLEARED'), acknowledged: status.endsWith('_ACK') }
  return flagsOfList(searchStatus === undefined ? [] : [searchStatus])
}

function filterOfV2(query: QueryValues<typeof FILTERS_V2>): Omit<AlarmFilter, 'tenantId'> {
  const { assigneeId, startTime, endTime, severityList, typeList, statusList } = query
  return {
    assigneeId,
    startTime,
    endTime,
    ...flagsOfList(statusList),
    ...(severityList.length === 0 ? {} : { severities: severityList }),
    ...(typeList.length === 0 ? {} : { types: typeList }),
  }
}
