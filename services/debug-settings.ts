/** For how long something is watched: `allEnabled` is a wish for some time, kept as the time at which it ends. Source: `rule-engine.md` 9.1. */
import { isJsonObject, type JsonValue } from '../model/json.ts'

/** Where the tenant's profile says nothing. */
const DEFAULT_MINUTES = 15

/** All three members, as clients read them. `maxMinutes`: of the tenant's profile, 0 for what is the default. */
export function debugSettingsOf(settings: JsonValue, now: number, maxMinutes: number): JsonValue {
  if (!isJsonObject(settings)) return null
  const latest = now + (maxMinutes > 0 ? maxMinutes : DEFAULT_MINUTES) * 60_000
  const until = settings['allEnabled'] === true ? latest : Number(settings['allEnabledUntil'] ?? 0)
  return {
    failuresEnabled: settings['failuresEnabled'] === true,
    allEnabled: false,
    allEnabledUntil: Math.min(Number.isNaN(until) ? 0 : until, latest),
  }
}
