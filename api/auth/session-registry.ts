/**
 * Sessions that were logged out before their tokens expired. Kept as long as a refresh token lives, and written to a store,
 * so that a restart does not bring a logged-out session back. Where several processes check tokens each hears of the others' ends
 * by the feed, and reads them from the store where it may have missed some.
 */
import { z } from 'zod'
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { SettingsStore } from './settings-store.ts'

const SETTING = 'jwt.endedSessions'
const MAX_SESSIONS = 50_000
/** Every process writes the whole list; one whose entry another wrote over finds it missing, and writes again. */
const WRITES = 3
const RETRY_MS = 1000
const storedSchema = z.array(z.tuple([z.string(), z.number()]))

export interface SessionRegistryOptions {
  readonly store: SettingsStore
  readonly lifetimeMs: number
  readonly clock: Clock
  /** Absent where no other process checks tokens. */
  readonly feed?: ChangeFeed | undefined
}

export class SessionRegistry {
  private readonly options: SessionRegistryOptions
  /** Session to the Unix ms at which its last token has expired. */
  private readonly ended = new Map<string, number>()
  private saving: Promise<void> = Promise.resolve()
  private stops: (() => void)[] = []
  private retry: TimerHandle | undefined

  private constructor(options: SessionRegistryOptions) {
    this.options = options
  }

  /** Throws where the stored list is damaged: to go on would bring logged-out sessions back. */
  static async load(options: SessionRegistryOptions): Promise<SessionRegistry> {
    const registry = new SessionRegistry(options)
    const { feed } = options
    if (feed !== undefined) {
      registry.stops = [
        feed.listenToAll(['session-ended'], ({ sessionId, until }) => void registry.ended.set(sessionId, until)),
        feed.onGap(() => registry.readAgain()),
      ]
      await feed.settled()
    }
    await registry.read()
    return registry
  }

  isEnded(sessionId: string): boolean {
    return this.ended.has(sessionId)
  }

  /** Resolves when the end is durable. */
  async end(userId: string, sessionId: string): Promise<void> {
    const now = this.options.clock.now()
    for (const [session, until] of this.ended) {
      if (until <= now || this.ended.size >= MAX_SESSIONS) this.ended.delete(session)
    }
    const until = now + this.options.lifetimeMs
    this.ended.set(sessionId, until)
    const write = this.saving.then(() => this.save(sessionId))
    this.saving = write.catch(() => undefined)
    await write
    this.options.feed?.publish({
      kind: 'session-ended',
      entity: { entityType: 'USER', id: userId },
      sessionId,
      until,
    })
  }

  close(): void {
    this.retry?.cancel()
    for (const stop of this.stops.splice(0)) stop()
  }

  /** Adds what is stored to what is known. */
  private async read(): Promise<ReadonlySet<string>> {
    const stored = await this.options.store.find(SETTING)
    const sessions = stored === undefined ? [] : storedSchema.parse(stored)
    const now = this.options.clock.now()
    for (const [session, until] of sessions) if (until > now) this.ended.set(session, until)
    return new Set(sessions.map(([session]) => session))
  }

  /** Until the store answers. */
  private readAgain(): void {
    this.retry?.cancel()
    this.read().catch(() => {
      if (this.stops.length > 0) this.retry = this.options.clock.after(RETRY_MS, () => this.readAgain())
    })
  }

  private async save(sessionId: string): Promise<void> {
    const { store, feed } = this.options
    for (let write = 1; write <= WRITES; write++) {
      await store.put(SETTING, [...this.ended])
      if (feed === undefined || (await this.read()).has(sessionId)) return
    }
  }
}
