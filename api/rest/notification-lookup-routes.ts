/** What a front end asks before it notifies: previews, recipients, targets that fit; and the request for a higher limit. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { notificationRequests, notificationTargets } from '../../services/entities/notification.ts'
import { users } from '../../services/entities/user.ts'
import { NotificationErrors } from '../../services/notifications/errors.ts'
import type { Notifications } from '../../services/notifications/notifications.ts'
import { NOTIFICATION_TYPES } from '../../services/notifications/types.ts'
import { jsonObject } from './body.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { optionalInteger, optionalText, paging, requiredChoice } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape, pageShape, recordShape } from './declared/shapes.ts'
import { requestBody, requestExample, requestTargets } from './notification-request-body.ts'
import { EMPTY_ANSWER, SYSTEM_AND_TENANT } from './route.ts'

export interface NotificationLookupParts extends EntityRoutesParts {
  readonly notifications: Notifications
}

const LIMITED = ['DEVICE', 'ASSET', 'CUSTOMER', 'USER', 'DASHBOARD', 'RULE_CHAIN', 'EDGE'] as const
const CONVERSATIONS = ['DIRECT', 'PUBLIC_CHANNEL', 'PRIVATE_CHANNEL'] as const
const PREVIEW_SIZE = 20
const MAX_PREVIEW = 1_000
const PREVIEW: JsonObject = {
  title: 'NotificationRequestPreview',
  type: 'object',
  properties: {
    processedTemplates: { type: 'object' },
    totalRecipientsCount: { type: 'integer' },
    recipientsCountByTarget: { type: 'object', additionalProperties: { type: 'integer' } },
    recipientsPreview: listShape({ type: 'string' }),
  },
  required: ['processedTemplates', 'totalRecipientsCount', 'recipientsCountByTarget', 'recipientsPreview'],
}
const CONVERSATION: JsonObject = {
  title: 'SlackConversation',
  type: 'object',
  properties: { type: { type: 'string' }, id: { type: 'string' }, name: { type: 'string' } },
}
const common = { authorities: SYSTEM_AND_TENANT, targets: {}, query: {}, body: undefined } as const

export function notificationLookupRoutes(parts: NotificationLookupParts): readonly DeclaredRoute[] {
  return [...previewRoutes(parts), ...targetLookups(parts), ...otherRoutes(parts)]
}

function previewRoutes({ make, declared, notifications }: NotificationLookupParts): readonly DeclaredRoute[] {
  const tenantOf = declared.of(notificationRequests)
  const people = declared.of(users)
  return [
    make.route({
      ...common,
      method: 'POST',
      path: '/api/notification/request/preview',
      about: 'What a notification request would say, and whom it would reach. Nothing is sent.',
      query: { recipientsPreviewSize: optionalInteger },
      body: requestBody,
      bodyTargets: requestTargets,
      example: requestExample,
      answer: PREVIEW,
      handle: ({ principal, body, query: { recipientsPreviewSize: size = PREVIEW_SIZE } }) =>
        notifications.preview(principal, body, Math.min(Math.max(size, 0), MAX_PREVIEW)),
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/notification/target/recipients',
      about: 'The users whom a target of this configuration would reach.',
      query: { page: paging },
      body: z.object({ configuration: jsonObject }),
      example: () => ({
        name: 'All',
        configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } },
      }),
      answer: pageShape(recordShape(users)),
      handle: async ({ principal, body, query: { page: asked } }) => {
        const tenantId = tenantOf.tenantOf(principal)
        const page = await notifications.recipients.page(tenantId, body.configuration, asked.page, asked.pageSize)
        return { ...page, data: await people.render(page.data) }
      },
    }),
  ]
}

function targetLookups({ make, declared }: NotificationLookupParts): readonly DeclaredRoute[] {
  const service = declared.of(notificationTargets)
  /** Requests by hand have no event that could say whom it concerns. */
  const only = (type: string) => (type === 'GENERAL' ? { isForRules: false } : {})
  const answer = pageShape(recordShape(notificationTargets))
  return [
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/targets/notificationType/{notificationType}',
      about: 'The targets that notifications of the type can have.',
      words: { notificationType: NOTIFICATION_TYPES },
      query: { page: paging },
      answer,
      handle: async ({ principal, path, query }) => {
        const page = await service.page(service.tenantOf(principal), only(path.notificationType), query.page)
        return { ...page, data: await service.render(page.data.map(({ record }) => record)) }
      },
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/targets',
      about: 'The targets that notifications of the type can have.',
      query: { notificationType: requiredChoice(NOTIFICATION_TYPES), page: paging },
      onlyWith: ['notificationType'],
      answer,
      handle: async ({ principal, query }) => {
        const page = await service.page(service.tenantOf(principal), only(query.notificationType), query.page)
        return { ...page, data: await service.render(page.data.map(({ record }) => record)) }
      },
    }),
  ]
}

function otherRoutes({ make, notifications }: NotificationLookupParts): readonly DeclaredRoute[] {
  return [
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/slack/conversations',
      about: 'Channels and people of Slack: none, as this server does not speak to Slack.',
      query: { type: requiredChoice(CONVERSATIONS), token: optionalText },
      answer: listShape(CONVERSATION),
      isAboutTheCaller: true,
      handle: () => Promise.reject(NotificationErrors.SLACK()),
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/notification/entitiesLimitIncreaseRequest/{entityType}',
      about: 'Asks the system administrators for room for more entities of the type.',
      authorities: ['TENANT_ADMIN'],
      words: { entityType: LIMITED },
      answer: undefined,
      isAboutTheCaller: true,
      handle: async ({ principal, path }) => {
        await notifications.askForMore(principal, path.entityType)
        return EMPTY_ANSWER
      },
    }),
  ]
}
