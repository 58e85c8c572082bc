/** The audit log: who changed what. Source: `rest-api.md` 13.4. */
import { ACTION_TYPES, type AuditEntry } from '../../model/audit.ts'
import type { Clock } from '../../model/clock.ts'
import type { Authority } from '../../model/entities.ts'
import { ENTITY_TYPES, NULL_UUID } from '../../model/entity-id.ts'
import { parseJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuditFilter, AuditLog } from '../../services/audit/audit-log.ts'
import { idJson } from '../../services/entity-json.ts'
import type { RouteMaker } from './declared/declare.ts'
import { choiceList, flag, optionalTime, paging, type QueryValues } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape } from './declared/shapes.ts'
import { oneOf, uuidOf } from './query.ts'
import { TENANT } from './route.ts'

const QUERY = {
  page: paging,
  startTime: optionalTime,
  endTime: optionalTime,
  actionTypes: choiceList(ACTION_TYPES),
  // Not in the reference: it keeps the address of log-ins alone.
  includeClientAddress: flag(false),
}

const ANSWER = pageShape({
  type: 'object',
  properties: {
    id: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
    createdTime: { type: 'integer', description: 'Unix milliseconds' },
    tenantId: idShape('TENANT'),
    customerId: idShape('CUSTOMER'),
    entityId: { type: 'object' },
    entityName: { type: 'string' },
    userId: idShape('USER'),
    userName: { type: 'string' },
    actionType: { enum: [...ACTION_TYPES] },
    actionData: { type: 'object' },
    actionStatus: { enum: ['SUCCESS', 'FAILURE'] },
    actionFailureDetails: { type: 'string' },
    clientAddress: { type: ['string', 'null'], description: 'Where it was asked for' },
  },
  required: [
    'id',
    'createdTime',
    'tenantId',
    'customerId',
    'entityId',
    'entityName',
    'userId',
    'userName',
    'actionType',
    'actionData',
    'actionStatus',
    'actionFailureDetails',
  ],
})

/** The log outlives what it tells of: it is read by the tenant it belongs to, whether the entity is there or not. */
const GONE = { untargeted: 'what it names may be gone; the tenant of the caller is asked of each row' } as const
const ADMINISTRATORS: readonly Authority[] = ['SYS_ADMIN', 'TENANT_ADMIN']

export function auditLogRoutes(make: RouteMaker, audit: AuditLog, clock: Clock): readonly DeclaredRoute[] {
  const common = { method: 'GET', query: QUERY, body: undefined, answer: ANSWER } as const
  const pageOf = async (
    { principal, query }: { readonly principal: Principal; readonly query: QueryValues<typeof QUERY> },
    about: Pick<AuditFilter, 'entity' | 'userId' | 'customerId'>,
  ): Promise<JsonObject> => {
    const { page, startTime = 1, endTime = clock.now(), actionTypes, includeClientAddress } = query
    const tenantId = principal.tenantId ?? NULL_UUID
    const found = await audit.page({ tenantId, startTime, endTime, actionTypes, ...about }, page)
    return { ...found, data: found.data.map((entry) => entryJson(entry, includeClientAddress)) }
  }
  return [
    make.route({
      ...common,
      path: '/api/audit/logs',
      about: 'The audit log of the tenant.',
      authorities: ADMINISTRATORS,
      targets: {},
      handle: (call) => pageOf(call, {}),
    }),
    make.route({
      ...common,
      path: '/api/audit/logs/customer/{customerId}',
      about: 'What was changed of a customer’s entities.',
      authorities: TENANT,
      targets: { customerId: GONE },
      handle: (call) => pageOf(call, { customerId: call.path.customerId }),
    }),
    make.route({
      ...common,
      path: '/api/audit/logs/user/{userId}',
      about: 'What a user changed.',
      authorities: TENANT,
      targets: { userId: GONE },
      handle: (call) => pageOf(call, { userId: call.path.userId }),
    }),
    make.route({
      ...common,
      path: '/api/audit/logs/entity/{entityType}/{entityId}',
      about: 'Who changed an entity.',
      authorities: ADMINISTRATORS,
      targets: { entityId: GONE },
      handle: (call) => {
        const entityType = oneOf('entityType', call.path.entityType, ENTITY_TYPES)
        return pageOf(call, { entity: { entityType, id: uuidOf('entityId', call.path.entityId) } })
      },
    }),
  ]
}

function entryJson(entry: AuditEntry, includeClientAddress: boolean): JsonObject {
  return {
    id: { id: entry.id },
    createdTime: entry.createdTime,
    tenantId: idJson('TENANT', entry.tenantId),
    customerId: idJson('CUSTOMER', entry.customerId ?? NULL_UUID),
    entityId: idJson(entry.entity.entityType, entry.entity.id),
    entityName: entry.entityName,
    userId: idJson('USER', entry.userId),
    userName: entry.userName,
    actionType: entry.actionType,
    actionData: parseJson(entry.actionData),
    actionStatus: entry.actionStatus,
    actionFailureDetails: entry.actionFailureDetails,
    ...(includeClientAddress ? { clientAddress: entry.clientAddress } : {}),
  }
}
