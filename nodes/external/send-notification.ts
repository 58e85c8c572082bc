/** Sends a notification to targets of the tenant (`rule-nodes.md` 69). */
import { z } from 'zod'
import { isJsonObject, stringifyJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { metadataText, withMetadata } from '../body.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { callingNode, success } from './outcome.ts'

const NAME = 'send notification'

const targets = z.array(z.uuid()).meta({ title: 'Targets', description: 'Ids of notification targets.' })
const templateId = z.looseObject({ entityType: z.literal('NOTIFICATION_TEMPLATE'), id: z.uuid() })

export const sendNotification = defineNode({
  type: 'org.thingsboard.rule.engine.notification.TbNotificationNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Asks for a notification by a template; Success when the request is stored, its result in the metadata. A redelivered message asks once.',
  triedWith: 'the notification centre of this server',
  configuration: z.looseObject({
    targets,
    templateId: templateId
      .nullable()
      .meta({ title: 'Template', description: 'Placeholders stand for metadata and top-level fields of the body.' }),
  }),
  constraints: z.looseObject({ targets: targets.min(1, 'must not be empty'), templateId }),
  defaults: { targets: [], templateId: null },
  examples: [],
  uses: ['notifications', 'outbound'],
  effects: true,
  create: ({ targets: targetIds, templateId: template }, { services: { notifications, outbound } }) => {
    const refused = (field: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason: 'is missing' })
    if (targetIds.length === 0) throw refused('targets')
    if (template === null) throw refused('templateId')
    return callingNode(outbound, { close: async () => undefined }, async (message, at) => {
      // Said at once: the visit is the message's where the node is called.
      const visit = at.visit().id
      const { originator, type: messageType, customerId = null } = message
      const values = valuesOf(message)
      await notifications.send({
        visit,
        templateId: template.id,
        targetIds,
        originator,
        customerId,
        messageType,
        values,
      })
      return success(withMetadata(message, [['notificationRequestResult', stringifyJson({ targets: targetIds })]]))
    })
  },
})

/** Metadata wins over the body. */
function valuesOf(message: Message): Readonly<Record<string, string>> {
  const body = message.json()
  const members = isJsonObject(body) ? Object.entries(body) : []
  return Object.fromEntries([
    ...members.map(([key, value]) => [key, metadataText(value)] as const),
    ...Object.entries(message.metadata),
  ])
}
