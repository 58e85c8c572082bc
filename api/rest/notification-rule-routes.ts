/** Rules of notifications. Source: `rest-api.md` 15.4. */
import { entityId, isUuid } from '../../model/entity-id.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import {
  methodsOf,
  notificationRules,
  notificationTemplates,
  type NotificationRule,
} from '../../services/entities/notification.ts'
import { found } from './authorize.ts'
import { draftSchema, type EntityRoutesParts } from './declared/entity-routes.ts'
import { paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape, pageShape, recordShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, SYSTEM_AND_TENANT } from './route.ts'

const READ = 'READ' as const

export function notificationRuleRoutes({ make, declared }: EntityRoutesParts): readonly DeclaredRoute[] {
  const service = declared.of(notificationRules)
  const templates = declared.of(notificationTemplates)
  const common = { authorities: SYSTEM_AND_TENANT, targets: {}, query: {}, body: undefined } as const
  const shape = recordShape(notificationRules)
  const info = infoShape(shape)
  const infosOf = async (rules: readonly NotificationRule[]): Promise<JsonObject[]> => {
    const ids = [...new Set(rules.map(({ templateId }) => templateId))]
    const [first] = rules
    const used = first === undefined ? [] : await templates.findByIds(first.tenantId, ids)
    const rendered = await service.render(rules)
    return rules.map(({ templateId }, index) => {
      const template = used.find(({ id }) => id === templateId)
      const methods = Object.keys(template === undefined ? {} : methodsOf(template.configuration))
      return { ...rendered[index], templateName: template?.name ?? null, deliveryMethods: methods }
    })
  }
  return [
    make.route({
      ...common,
      method: 'POST',
      path: '/api/notification/rule',
      about: 'Makes a notification rule, or replaces the one that the body names.',
      body: draftSchema(notificationRules),
      example: (ids) => ({
        ...notificationRules.example(ids),
        id: { entityType: 'NOTIFICATION_RULE', id: ids['notificationRuleId'] ?? '' },
      }),
      creates: ({ id }) => (id === undefined ? 'NOTIFICATION_RULE' : undefined),
      bodyTargets: ({ id, templateId, recipientsConfig }) => [
        ...(id === undefined ? [] : [{ entity: entityId('NOTIFICATION_RULE', id), operation: 'WRITE' as const }]),
        ...(templateId === undefined
          ? []
          : [{ entity: entityId('NOTIFICATION_TEMPLATE', templateId), operation: READ }]),
        ...targetsIn(recipientsConfig).map((target) => ({
          entity: entityId('NOTIFICATION_TARGET', target),
          operation: READ,
        })),
      ],
      answer: shape,
      handle: async ({ principal, body }) => service.renderOne(await service.saveByUser(principal, body)),
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/rule/{notificationRuleId}',
      about: 'One notification rule, with the name of its template.',
      targets: { notificationRuleId: { entity: notificationRules, operation: READ } },
      answer: info,
      handle: async ({ path: { notificationRuleId: id } }) => {
        const rule = found(await service.findAnywhere(id), notificationRules.label, id)
        return (await infosOf([rule]))[0] ?? {}
      },
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/notification/rule/{notificationRuleId}',
      about: 'Deletes a notification rule.',
      targets: { notificationRuleId: { entity: notificationRules, operation: 'DELETE' } },
      answer: undefined,
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path.notificationRuleId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/notification/rules',
      about: 'The notification rules of the caller’s tenant, or of the system.',
      query: { page: paging },
      answer: pageShape(info),
      handle: async ({ principal, query }) => {
        const page = await service.page(service.tenantOf(principal), {}, query.page)
        return { ...page, data: await infosOf(page.data.map(({ record }) => record)) }
      },
    }),
  ]
}

function infoShape(shape: JsonObject): JsonObject {
  const properties = isJsonObject(shape['properties']) ? shape['properties'] : {}
  return {
    ...shape,
    title: 'NotificationRuleInfo',
    properties: {
      ...properties,
      templateName: { type: ['string', 'null'] },
      deliveryMethods: listShape({ type: 'string' }),
    },
  }
}

/** Ids of targets wherever a configuration of recipients has them. */
function targetsIn(config: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(config)) return []
  const { targets = [], escalationTable = {} } = config
  const lists = [targets, ...(isJsonObject(escalationTable) ? Object.values(escalationTable) : [])]
  const ids = lists.flatMap((list) => (Array.isArray(list) ? list : []))
  const uuids = ids.filter((id) => typeof id === 'string').filter(isUuid)
  return [...new Set(uuids.map((id) => id.toLowerCase()))]
}
