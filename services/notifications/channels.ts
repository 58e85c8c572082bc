/** By which ways a request of a user can be delivered: each that its template uses must be set up, and reach one of its targets. */
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import { NotificationErrors } from './errors.ts'
import type { DeliveryMethod } from './settings.ts'

/** As messages name them. */
const NAMES: Readonly<Record<DeliveryMethod, string>> = {
  WEB: 'web',
  EMAIL: 'email',
  SMS: 'SMS',
  SLACK: 'Slack',
  MICROSOFT_TEAMS: 'Microsoft Teams',
  MOBILE_APP: 'mobile app',
}

/** By the type of a target. */
const REACHED_BY: Readonly<Record<string, readonly DeliveryMethod[] | undefined>> = {
  PLATFORM_USERS: ['WEB', 'EMAIL', 'SMS', 'MOBILE_APP'],
  SLACK: ['SLACK'],
  MICROSOFT_TEAMS: ['MICROSOFT_TEAMS'],
}

/** Why nobody is reached by it. */
export const NOT_SERVED: Readonly<Record<Exclude<DeliveryMethod, 'WEB'>, string>> = {
  EMAIL: 'Mail server is not configured',
  SMS: 'SMS provider is not configured',
  SLACK: 'Slack is not configured',
  MICROSOFT_TEAMS: 'Microsoft Teams is not served',
  MOBILE_APP: 'Push-notifications to mobile are not configured',
}

/** `served`: by which somebody can be reached now; `configurations`: of the targets. Throws `NOT_CONFIGURED`, `NOBODY_BY`. */
export function checkChannel(
  method: DeliveryMethod,
  served: readonly DeliveryMethod[],
  configurations: readonly JsonValue[],
): void {
  if (method !== 'WEB' && !served.includes(method))
    throw NotificationErrors.NOT_CONFIGURED({ reason: NOT_SERVED[method] })
  if (!configurations.some((configuration) => reaches(configuration, method)))
    throw NotificationErrors.NOBODY_BY({ method: NAMES[method] })
}

function reaches(configuration: JsonValue, method: DeliveryMethod): boolean {
  const type = isJsonObject(configuration) ? configuration['type'] : undefined
  return typeof type === 'string' && (REACHED_BY[type]?.includes(method) ?? false)
}
