/**
 * Which processes of the cluster live, and what they do. Every member tells of itself and hears of the others; who is silent
 * for too long counts as gone. It is a view, not a vote: what must have one owner is guarded where it is written
 * (the link's partition records), never by membership alone.
 */

export const ROLES = ['transport', 'engine', 'api'] as const
export type Role = (typeof ROLES)[number]

export interface Member {
  /** Random for each start of a process. */
  readonly id: string
  readonly roles: readonly Role[]
  /** Unix ms. */
  readonly startedAt: number
}

export interface Membership {
  readonly self: Member
  /** Everybody alive as seen from here, self included, sorted by id. */
  members(): readonly Member[]
  /** Calls back after each change of `members`; returns the way to stop listening. */
  onChange(listener: () => void): () => void
  /** Says good-bye, so that nobody has to wait for the silence. Idempotent. */
  close(): Promise<void>
}

/** The membership of a process that is alone. */
export function soleMember(self: Member): Membership {
  return { self, members: () => [self], onChange: () => () => undefined, close: () => Promise.resolve() }
}
