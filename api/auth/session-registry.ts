/**
 * Sessions that were logged out before their tokens expired: a row each in the store, kept as long as a refresh token lives. What was read is
 * known for a while; where another process ends a session, or a commit's outcome is unknown, it is read again.
 */
import { z } from 'zod'
import { ByteCache } from '../../model/byte-cache.ts'
import type { Clock } from '../../model/clock.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import { CommitDoubts } from '../../services/changes/commit-doubts.ts'
import type { SettingsStore } from './settings-store.ts'

/** Where versions before kept all of them in one list. */
const OLD_SETTING = 'jwt.endedSessions'
const oldListSchema = z.array(z.tuple([z.string(), z.number()]))
/** Asked at every request: some 20,000 sessions. */
const MAX_CACHE_BYTES = 4 << 20
const ANSWER_BYTES = 16

/** The rows of the entity store, as far as they are needed here. */
export interface EndedSessionStore {
  has(sessionId: string): Promise<boolean>
  /** Resolves when the ends are durable; forgets what ended before `now`. */
  add(sessions: readonly (readonly [sessionId: string, until: number])[], now: number): Promise<void>
}

export interface SessionRegistryOptions {
  readonly store: EndedSessionStore
  readonly settings: SettingsStore
  /** Of the longest token. */
  readonly lifetimeMs: () => Promise<number>
  readonly clock: Clock
  /** Absent where no other process checks tokens. */
  readonly feed?: ChangeFeed | undefined
}

export class SessionRegistry {
  private readonly options: SessionRegistryOptions
  private readonly doubts: CommitDoubts
  private readonly known = new ByteCache<{ readonly isEnded: boolean }>({
    maxBytes: MAX_CACHE_BYTES,
    sizeOf: () => ANSWER_BYTES,
  })
  /** Counts what may have changed: an answer that was read before is not remembered. */
  private generation = 0
  private stops: (() => void)[] = []

  private constructor(options: SessionRegistryOptions) {
    this.options = options
    this.doubts = new CommitDoubts(options.clock)
  }

  /** Throws where the list of a version before is damaged: to go on would bring logged-out sessions back. */
  static async load(options: SessionRegistryOptions): Promise<SessionRegistry> {
    const registry = new SessionRegistry(options)
    const { feed, settings, store, clock } = options
    const old = await settings.find(OLD_SETTING)
    if (old !== undefined) {
      const sessions = oldListSchema.parse(old)
      if (sessions.length > 0) {
        await store.add(sessions, clock.now())
        await settings.put(OLD_SETTING, [])
      }
    }
    if (feed !== undefined) {
      registry.stops = [
        feed.listenToAll(['session-ended'], ({ sessionId }) => registry.lookAgain(sessionId)),
        feed.onGap(() => {
          registry.generation++
          registry.known.clear()
        }),
      ]
      await feed.settled()
    }
    return registry
  }

  async isEnded(sessionId: string): Promise<boolean> {
    const known = this.known.get(sessionId)
    if (known !== undefined) return known.isEnded
    const { generation } = this
    const isEnded = await this.options.store.has(sessionId)
    if (generation === this.generation) this.known.set(sessionId, { isEnded })
    return isEnded
  }

  /** Resolves when the end is durable. */
  async end(userId: string, sessionId: string): Promise<void> {
    const { store, clock, lifetimeMs } = this.options
    const now = clock.now()
    const until = now + (await lifetimeMs())
    const tell = (): void => {
      this.lookAgain(sessionId)
      const entity = { entityType: 'USER', id: userId } as const
      this.options.feed?.publish({ kind: 'session-ended', entity, sessionId, until })
    }
    await this.doubts.watch(store.add([[sessionId, until]], now), tell)
    tell()
  }

  close(): void {
    this.doubts.close()
    for (const stop of this.stops.splice(0)) stop()
  }

  private lookAgain(sessionId: string): void {
    this.generation++
    this.known.delete(sessionId)
  }
}
