/**
 * Sessions that were logged out before their tokens expired. Kept as long as a refresh token lives, and written to a store,
 * so that a restart does not bring a logged-out session back.
 */
import { z } from 'zod'
import type { SettingsStore } from './settings-store.ts'

const SETTING = 'jwt.endedSessions'
const MAX_SESSIONS = 50_000
const storedSchema = z.array(z.tuple([z.string(), z.number()]))

export class SessionRegistry {
  private readonly store: SettingsStore
  private readonly lifetimeMs: number
  /** Session to the Unix ms at which its last token has expired, oldest first. */
  private readonly ended = new Map<string, number>()
  private saving: Promise<void> = Promise.resolve()

  private constructor(store: SettingsStore, lifetimeMs: number) {
    this.store = store
    this.lifetimeMs = lifetimeMs
  }

  /** Throws where the stored list is damaged: to go on would bring logged-out sessions back. */
  static async load(store: SettingsStore, lifetimeMs: number, now: number): Promise<SessionRegistry> {
    const registry = new SessionRegistry(store, lifetimeMs)
    const stored = await store.find(SETTING)
    const sessions = stored === undefined ? [] : storedSchema.parse(stored)
    for (const [session, until] of sessions) if (until > now) registry.ended.set(session, until)
    return registry
  }

  isEnded(sessionId: string): boolean {
    return this.ended.has(sessionId)
  }

  /** Resolves when the end is durable. */
  async end(sessionId: string, now: number): Promise<void> {
    for (const [session, until] of this.ended) {
      if (until > now && this.ended.size < MAX_SESSIONS) break
      this.ended.delete(session)
    }
    this.ended.set(sessionId, now + this.lifetimeMs)
    const write = this.saving.then(() => this.store.put(SETTING, [...this.ended]))
    this.saving = write.catch(() => undefined)
    await write
  }
}
