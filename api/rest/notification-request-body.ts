/** What says whom to notify of what. */
import { z } from 'zod'
import { entityId, isUuid } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { NOTIFICATION_TYPES } from '../../services/notifications/types.ts'
import { anyJson, jsonObject, optionalId } from './body.ts'
import type { Ids } from './declared/route.ts'

export const requestBody = z.object({
  id: optionalId,
  targets: z.array(z.string().refine(isUuid, 'a UUID is expected')).min(1).max(1000),
  templateId: optionalId,
  template: z
    .object({
      name: z
        .string()
        .max(255)
        .nullish()
        .transform((name) => name ?? null),
      notificationType: z.enum(NOTIFICATION_TYPES).default('GENERAL'),
      configuration: jsonObject,
    })
    .nullish()
    .transform((template) => template ?? undefined),
  info: anyJson.optional(),
  additionalConfig: anyJson.optional(),
})

/** What it names must be the caller's to read. */
export function requestTargets({ targets, templateId }: z.output<typeof requestBody>) {
  return [
    ...targets.map((id) => ({ entity: entityId('NOTIFICATION_TARGET', id), operation: 'READ' as const })),
    ...(templateId === undefined
      ? []
      : [{ entity: entityId('NOTIFICATION_TEMPLATE', templateId), operation: 'READ' as const }]),
  ]
}

export function requestExample(ids: Ids): JsonObject {
  return {
    targets: [ids['notificationTargetId'] ?? ''],
    templateId: { entityType: 'NOTIFICATION_TEMPLATE', id: ids['notificationTemplateId'] ?? '' },
  }
}
