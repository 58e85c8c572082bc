/** Notifications that nodes send to the tenant's targets. */
import { entityId } from '../../model/entity-id.ts'
import { notifiedId } from '../../engine/rulechain/child-id.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeNotificationRequest, NodeNotifications } from '../../engine/rulechain/capabilities/notifications.ts'
import { notificationRequests, notificationTargets, notificationTemplates } from '../entities/notification.ts'
import { itemNotFound } from '../errors.ts'
import { NotificationErrors } from '../notifications/errors.ts'
import { MAX_WAITING } from '../notifications/notifications.ts'
import { contextJson } from '../notifications/delivery.ts'
import type { Services } from '../services.ts'

type Parts = Pick<Services, 'declared' | 'notifications'>

export function nodeNotifications(parts: Parts): (node: NodeIdentity) => NodeNotifications {
  return (node) => ({
    send: (request) => send(parts, node, request),
    slackToken: () => parts.notifications.settings.slackToken(node.tenantId),
  })
}

async function send(
  { declared, notifications }: Parts,
  { tenantId, ruleNodeId }: NodeIdentity,
  request: NodeNotificationRequest,
): Promise<void> {
  const { templateId, targetIds, originator, customerId, messageType, values } = request
  const template = await declared.of(notificationTemplates).find(tenantId, templateId)
  if (template === undefined) throw itemNotFound(entityId('NOTIFICATION_TEMPLATE', templateId))
  const found = await declared.of(notificationTargets).findByIds(tenantId, targetIds)
  const missing = targetIds.find((id) => !found.some((target) => target.id === id))
  if (missing !== undefined) throw itemNotFound(entityId('NOTIFICATION_TARGET', missing))
  if (!(await notifications.hasRoom(tenantId))) throw NotificationErrors.TOO_MANY_WAITING({ limit: MAX_WAITING })
  const requests = declared.of(notificationRequests)
  const id = notifiedId(request.visit, ruleNodeId)
  if ((await requests.find(tenantId, id)) !== undefined) return
  const fresh = requests.fresh(tenantId, {
    targets: [...targetIds],
    templateName: template.name,
    templateId,
    info: {
      type: 'RULE_ENGINE',
      msgOriginator: { ...originator },
      msgCustomerId: customerId === null ? null : { entityType: 'CUSTOMER', id: customerId },
      msgType: messageType,
      data: { ...values },
    },
    originatorEntityId: { ...originator },
    status: 'PROCESSING',
    dueTime: declared.now(),
    context: contextJson({ parameters: values, concerned: { originator } }),
  })
  await declared.store.write([requests.insert({ ...fresh, id })])
  notifications.wake()
}
