/** Notifications: inboxes, targets, templates, requests. Source: `rest-api.md` 15.4. */
import type { Page } from '../../model/entities.ts'
import { entityId, type EntityType } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import {
  methodsOf,
  notificationRequests,
  notificationTargets,
  notificationTemplates,
  type NotificationRequest,
} from '../../services/entities/notification.ts'
import type { ColumnSet } from '../../services/entities/define.ts'
import type { EntityService } from '../../services/entities/entity-service.ts'
import { NotificationErrors } from '../../services/notifications/errors.ts'
import type { Notifications } from '../../services/notifications/notifications.ts'
import { NOTIFICATION_TYPES } from '../../services/notifications/types.ts'
import { found } from './authorize.ts'
import { draftSchema, type EntityRoutesParts } from './declared/entity-routes.ts'
import { choiceList, flag, optionalChoice, paging, uuidList } from './declared/query.ts'
import { notificationLookupRoutes } from './notification-lookup-routes.ts'
import { requestBody, requestExample, requestTargets } from './notification-request-body.ts'
import { notificationRuleRoutes } from './notification-rule-routes.ts'
import { notificationSettingsRoutes } from './notification-settings-routes.ts'
import { idShape, listShape, pageShape, recordShape } from './declared/shapes.ts'
import type { DeclaredRoute, Target } from './declared/route.ts'
import { EMPTY_ANSWER, EVERYBODY, SYSTEM_AND_TENANT } from './route.ts'

export interface NotificationRoutesParts extends EntityRoutesParts {
  readonly notifications: Notifications
}

const INBOX_METHODS = ['WEB', 'MOBILE_APP'] as const
/** What rules and nodes tell of comes from the entity that it is about. */
const BY_USERS = { column: 'originator_entity_id', holds: '"entityType":"USER"' } as const
const MINE = { targets: {}, authorities: EVERYBODY, body: undefined, isAboutTheCaller: true } as const
const NOTIFICATION: JsonObject = {
  type: 'object',
  properties: {
    id: idShape('NOTIFICATION'),
    createdTime: { type: 'integer' },
    requestId: idShape('NOTIFICATION_REQUEST'),
    recipientId: idShape('USER'),
    type: { type: 'string' },
    deliveryMethod: { type: 'string' },
    subject: { type: ['string', 'null'] },
    text: { type: 'string' },
    additionalConfig: {},
    info: {},
    status: { type: 'string', enum: ['SENT', 'READ'] },
  },
}

export function notificationRoutes(parts: NotificationRoutesParts): readonly DeclaredRoute[] {
  const { declared } = parts
  return [
    ...inboxRoutes(parts),
    ...partRoutes(parts, declared.of(notificationTargets), 'target'),
    ...partRoutes(parts, declared.of(notificationTemplates), 'template'),
    ...wholeLists(parts),
    ...targetLists(parts),
    ...requestRoutes(parts),
    ...notificationRuleRoutes(parts),
    ...notificationSettingsRoutes(parts),
    ...notificationLookupRoutes(parts),
  ]
}

function inboxPage(page: Page<JsonObject>): JsonObject {
  return { ...page, data: [...page.data] }
}

function inboxRoutes({ make, notifications }: NotificationRoutesParts): readonly DeclaredRoute[] {
  const { inbox } = notifications
  const notAnEntity = { notificationId: { untargeted: 'the handler finds it in the inbox of the caller only' } }
  return [
    make.route({
      ...MINE,
      method: 'GET',
      path: '/api/notifications',
      about: 'The inbox of the caller.',
      query: { unreadOnly: flag(false), deliveryMethod: optionalChoice(INBOX_METHODS), page: paging },
      answer: pageShape(NOTIFICATION),
      handle: async ({ principal, query: { unreadOnly, deliveryMethod, page } }) =>
        deliveryMethod === 'MOBILE_APP'
          ? { data: [], totalPages: 0, totalElements: 0, hasNext: false }
          : inboxPage(await inbox.page(principal, unreadOnly, page)),
    }),
    make.route({
      ...MINE,
      method: 'GET',
      path: '/api/notifications/unread/count',
      about: 'How many notifications the caller has not read; 0 where no delivery method is named.',
      query: { deliveryMethod: optionalChoice(INBOX_METHODS) },
      answer: { type: 'integer' },
      handle: async ({ principal, query }) => (query.deliveryMethod === 'WEB' ? inbox.unreadCount(principal) : 0),
    }),
    make.route({
      ...MINE,
      method: 'PUT',
      path: '/api/notifications/read',
      about: 'Marks all of the caller as read.',
      query: { deliveryMethod: optionalChoice(INBOX_METHODS) },
      answer: undefined,
      handle: async ({ principal, query }) => {
        if (query.deliveryMethod !== 'MOBILE_APP') await inbox.markAllRead(principal)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...MINE,
      method: 'PUT',
      path: '/api/notification/{notificationId}/read',
      about: 'Marks one of the caller as read.',
      targets: notAnEntity,
      query: {},
      answer: undefined,
      handle: async ({ principal, path }) => {
        await inbox.markRead(principal, path.notificationId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...MINE,
      method: 'DELETE',
      path: '/api/notification/{notificationId}',
      about: 'Deletes one of the caller.',
      targets: notAnEntity,
      query: {},
      answer: undefined,
      handle: async ({ principal, path }) => {
        await inbox.delete(principal, path.notificationId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...MINE,
      method: 'GET',
      path: '/api/notification/deliveryMethods',
      about: 'The ways in which this server can notify.',
      query: {},
      answer: listShape({ type: 'string' }),
      handle: async () => [...(await notifications.deliveryMethods())],
    }),
  ]
}

/** To read, save and delete targets or templates. */
function partRoutes<Columns extends ColumnSet>(
  { make }: EntityRoutesParts,
  service: EntityService<Columns>,
  part: 'target' | 'template',
): readonly DeclaredRoute[] {
  const { definition } = service
  const id: string = part === 'target' ? 'notificationTargetId' : 'notificationTemplateId'
  const targets = (operation: 'READ' | 'DELETE'): Record<string, Target> => ({
    [id]: { entity: definition, operation },
  })
  const common = { authorities: SYSTEM_AND_TENANT, query: {}, body: undefined } as const
  return [
    make.route({
      ...common,
      method: 'POST',
      path: `/api/notification/${part}`,
      about: `Makes a notification ${part}, or replaces the one that the body names.`,
      targets: {},
      body: draftSchema(definition),
      example: (ids) => ({ ...definition.example(ids), id: { entityType: definition.type, id: ids[id] ?? '' } }),
      creates: (draft) => (draft.id === undefined ? definition.type : undefined),
      bodyTargets: (draft) => writes(definition.type, draft.id),
      answer: recordShape(definition),
      handle: async ({ principal, body }) => service.renderOne(await service.saveByUser(principal, body)),
    }),
    make.route({
      ...common,
      method: 'GET',
      path: `/api/notification/${part}/{${id}}`,
      about: `One notification ${part}.`,
      targets: targets('READ'),
      answer: recordShape(definition),
      handle: async ({ path }) =>
        service.renderOne(found(await service.findAnywhere(path[id] ?? ''), definition.label, path[id] ?? '')),
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: `/api/notification/${part}/{${id}}`,
      about: `Deletes a notification ${part}.`,
      targets: targets('DELETE'),
      answer: undefined,
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path[id] ?? '')
        return EMPTY_ANSWER
      },
    }),
  ]
}

function writes(type: EntityType, id: string | undefined) {
  return id === undefined ? [] : [{ entity: entityId(type, id), operation: 'WRITE' as const }]
}

function wholeLists({ make, declared }: NotificationRoutesParts): readonly DeclaredRoute[] {
  const targets = declared.of(notificationTargets)
  const templates = declared.of(notificationTemplates)
  const common = { method: 'GET', authorities: SYSTEM_AND_TENANT, targets: {}, body: undefined } as const
  return [
    make.route({
      ...common,
      path: '/api/notification/targets',
      about: 'The notification targets of the tenant.',
      query: { page: paging },
      answer: pageShape(recordShape(notificationTargets)),
      handle: async ({ principal, query }) => {
        const page = await targets.page(targets.tenantOf(principal), {}, query.page)
        return { ...page, data: await targets.render(page.data.map(({ record }) => record)) }
      },
    }),
    make.route({
      ...common,
      path: '/api/notification/templates',
      about: 'The notification templates of the tenant, of these types where some are named.',
      query: { notificationTypes: choiceList(NOTIFICATION_TYPES), page: paging },
      answer: pageShape(recordShape(notificationTemplates)),
      handle: async ({ principal, query }) => {
        const { notificationTypes: types } = query
        const own = { column: 'tenant_id', is: templates.tenantOf(principal) }
        const where = types.length === 0 ? [own] : [own, { column: 'notification_type', in: types }]
        const page = await templates.pageWhere({ where, query: query.page })
        return { ...page, data: await templates.render(page.data) }
      },
    }),
  ]
}

function targetLists({ make, declared }: NotificationRoutesParts): readonly DeclaredRoute[] {
  const service = declared.of(notificationTargets)
  const common = { method: 'GET', authorities: SYSTEM_AND_TENANT, targets: {}, body: undefined } as const
  const byIds = (path: '/api/notification/targets' | '/api/notification/targets/list') =>
    make.route({
      ...common,
      path,
      about: 'The notification targets of these ids.',
      query: { ids: uuidList },
      onlyWith: ['ids'],
      answer: listShape(recordShape(notificationTargets)),
      handle: async ({ principal, query }) =>
        service.render(await service.findByIds(service.tenantOf(principal), query.ids)),
    })
  return [byIds('/api/notification/targets'), byIds('/api/notification/targets/list')]
}

function requestRoutes(parts: NotificationRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, notifications } = parts
  const service = declared.of(notificationRequests)
  const templates = declared.of(notificationTemplates)
  const common = { authorities: SYSTEM_AND_TENANT, query: {}, body: undefined } as const
  const shape = recordShape(notificationRequests)
  const infoOf = async (request: NotificationRequest): Promise<JsonObject> => {
    const { templateId, tenantId } = request
    const template = templateId === null ? undefined : await templates.find(tenantId, templateId)
    const methods = template === undefined ? [] : Object.keys(methodsOf(template.configuration))
    return {
      ...(await service.renderOne(request)),
      templateName: request.templateName === '' ? null : request.templateName,
      deliveryMethods: methods,
    }
  }
  return [
    make.route({
      ...common,
      method: 'POST',
      path: '/api/notification/request',
      about: 'Notifies the users that the targets name.',
      targets: {},
      body: requestBody,
      creates: () => 'NOTIFICATION_REQUEST',
      bodyTargets: requestTargets,
      example: requestExample,
      answer: shape,
      handle: async ({ principal, body }) => {
        // Previews may be of one that is there already.
        if (body.id !== undefined) throw NotificationErrors.REQUEST_FIXED()
        return service.renderOne(await notifications.send(principal, body))
      },
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/request/{notificationRequestId}',
      about: 'One notification request.',
      targets: { notificationRequestId: { entity: notificationRequests, operation: 'READ' } },
      answer: shape,
      handle: async ({ path: { notificationRequestId: id } }) =>
        infoOf(found(await service.findAnywhere(id), 'Notification request', id)),
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/notification/request/{notificationRequestId}',
      about: 'Cancels a notification request that is not sent yet; of one that was sent the notifications go too.',
      targets: { notificationRequestId: { entity: notificationRequests, operation: 'DELETE' } },
      answer: undefined,
      handle: async ({ principal, path }) => {
        await notifications.deleteRequest(principal, path.notificationRequestId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/requests',
      about: 'The notification requests by users of the tenant; those of rules and nodes are not among them.',
      targets: {},
      query: { page: paging },
      answer: pageShape(shape),
      handle: async ({ principal, query }) => {
        const tenant = { column: 'tenant_id', is: notificationRequests.tenantColumn(service.tenantOf(principal)) }
        const page = await service.pageWhere({ where: [tenant, BY_USERS], query: query.page })
        return { ...page, data: await Promise.all(page.data.map(infoOf)) }
      },
    }),
  ]
}
