/** Sessions of mobile apps, by the token that the app has of its push service. */
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { UserSettings } from './user-settings.ts'

/** Of one user; the one that was noted first is forgotten beyond it. */
const MAX_SESSIONS = 20

export class MobileSessions {
  private readonly settings: UserSettings

  constructor(settings: UserSettings) {
    this.settings = settings
  }

  async find(principal: Principal, token: string): Promise<JsonObject | undefined> {
    const sessions = sessionsOf(await this.settings.find(principal, 'MOBILE'))
    const session = Object.hasOwn(sessions, token) ? sessions[token] : undefined
    return isJsonObject(session) ? session : undefined
  }

  async save(principal: Principal, token: string, fcmTokenTimestamp: number | null): Promise<void> {
    await this.settings.change(principal, 'MOBILE', (before) => {
      const others = without(sessionsOf(before), token).slice(1 - MAX_SESSIONS)
      return { sessions: Object.fromEntries([...others, [token, { fcmTokenTimestamp }]]) }
    })
  }

  async remove(principal: Principal, token: string): Promise<void> {
    await this.settings.change(principal, 'MOBILE', (before) => ({
      sessions: Object.fromEntries(without(sessionsOf(before), token)),
    }))
  }
}

function without(sessions: JsonObject, token: string) {
  return Object.entries(sessions).filter(([other]) => other !== token)
}

function sessionsOf(settings: JsonObject): JsonObject {
  const sessions = settings['sessions']
  return isJsonObject(sessions) ? sessions : {}
}
