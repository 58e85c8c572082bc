/** How notifications reach people, and what each of them wants. Source: `rest-api.md` 15.4. */
import type { JsonObject } from '../../model/json.ts'
import { notificationRequests } from '../../services/entities/notification.ts'
import type { Notifications } from '../../services/notifications/notifications.ts'
import { plain, tenantSettingsSchema, userPreferencesSchema } from '../../services/notifications/settings.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { EVERYBODY, SYSTEM_AND_TENANT } from './route.ts'

export interface NotificationSettingsParts extends EntityRoutesParts {
  readonly notifications: Pick<Notifications, 'settings'>
}

const SETTINGS: JsonObject = {
  title: 'NotificationSettings',
  type: 'object',
  properties: { deliveryMethodsConfigs: { type: 'object' } },
  required: ['deliveryMethodsConfigs'],
}
const PREFERENCES: JsonObject = {
  title: 'UserNotificationSettings',
  type: 'object',
  properties: {
    prefs: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          enabled: { type: 'boolean' },
          enabledDeliveryMethods: { type: 'object', additionalProperties: { type: 'boolean' } },
        },
        required: ['enabled', 'enabledDeliveryMethods'],
      },
    },
  },
  required: ['prefs'],
}

export function notificationSettingsRoutes(parts: NotificationSettingsParts): readonly DeclaredRoute[] {
  const { make, declared, notifications } = parts
  const { settings } = notifications
  const requests = declared.of(notificationRequests)
  const ofTenant = {
    path: '/api/notification/settings',
    authorities: SYSTEM_AND_TENANT,
    targets: {},
    query: {},
  } as const
  const ofUser = { path: '/api/notification/settings/user', authorities: EVERYBODY, targets: {}, query: {} } as const
  return [
    make.route({
      ...ofTenant,
      method: 'GET',
      about: 'How the caller’s tenant, or the system, reaches people outside.',
      body: undefined,
      answer: SETTINGS,
      isAboutTheCaller: true,
      handle: ({ principal }) => settings.find(requests.tenantOf(principal)),
    }),
    make.route({
      ...ofTenant,
      method: 'POST',
      about: 'Replaces how the caller’s tenant, or the system, reaches people outside.',
      body: tenantSettingsSchema,
      example: () => ({ deliveryMethodsConfigs: { SLACK: { method: 'SLACK', botToken: 'xoxb-token' } } }),
      answer: SETTINGS,
      isAboutTheCaller: true,
      handle: ({ principal, body }) => settings.save(requests.tenantOf(principal), body),
    }),
    make.route({
      ...ofUser,
      method: 'GET',
      about: 'Which notifications the caller wants, and by which ways.',
      body: undefined,
      answer: PREFERENCES,
      isAboutTheCaller: true,
      handle: async ({ principal }) => plain(await settings.ofUser(principal)),
    }),
    make.route({
      ...ofUser,
      method: 'POST',
      about: 'Says which notifications the caller wants, and by which ways; what is left out is wanted.',
      body: userPreferencesSchema,
      example: () => ({ prefs: { ALARM: { enabled: true, enabledDeliveryMethods: { WEB: true, EMAIL: false } } } }),
      answer: PREFERENCES,
      isAboutTheCaller: true,
      handle: async ({ principal, body }) => plain(await settings.saveOfUser(principal, body)),
    }),
  ]
}
