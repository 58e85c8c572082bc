/**
 * A store of read attributes that all processes share. It may lose, be late, or be away: what it answers says how old it is, and
 * whoever asks decides whether that will do. The database stays the only truth.
 */
import type { ScopedAttribute } from './attributes.ts'
import type { Read } from './database.ts'

/** What an answer must hold to be of use. */
export interface LeastAge {
  /** Every commit up to this one. */
  readonly commit: number
  /** Read from the database at this time of the shared store's clock, or later. */
  readonly began: number
}

export interface SharedAnswer {
  /** The time of the shared store's clock: a read of the database that begins now can be offered with it. */
  readonly now: number
  /** Undefined where nothing is held that is new enough. */
  readonly read?: Read<ScopedAttribute>
}

export interface SharedAttributes {
  /** Undefined where the store is away or late. Takes a bounded time and never throws. Without `least` only the time is asked for. */
  find(entityId: string, least: LeastAge | undefined): Promise<SharedAnswer | undefined>
  /** All attributes of an entity, read after `began`. A newer read that is held stays. Nobody waits for it. */
  offer(entityId: string, read: Read<ScopedAttribute>, began: number): void
  /** Nobody waits for it, and it may be lost. */
  drop(entityId: string): void
}
