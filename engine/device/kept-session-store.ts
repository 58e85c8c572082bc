/** Sessions of devices that outlive the process that has them. */
import type { KeptSessionRow, KeptSessionVersion } from '../../model/kept-session.ts'

export interface KeptSessionStore {
  /** Look-ups and removals that the store has not answered. */
  readonly waiting: number
  /** Undefined where there is none, or its time is over. Rejects where the store does not answer. */
  find(deviceId: string, clientId: string): Promise<KeptSessionRow | undefined>
  /**
   * Resolves once it is durable. Version 1 takes the place of what the same client had, a later one of the one before it. Rejects where that is not
   * there, as `isOvertaken` tells, and where the store does not answer.
   */
  save(session: KeptSessionRow): Promise<void>
  isOvertaken(error: unknown): boolean
  /** Those that another process has by now, or that are over. Rejects where the store does not answer. */
  findOvertaken(sessions: readonly KeptSessionVersion[]): Promise<readonly KeptSessionVersion[]>
  /** Soon, unless another process has taken it over. */
  remove(session: KeptSessionVersion): void
  /** Soon, whoever has it; from now on it is not found here. */
  removeOf(deviceId: string, clientId: string): void
  /** Soon: the time of absence counts from then on (Unix ms). */
  renew(sessions: readonly KeptSessionVersion[], from: number): void
  /** Soon: their clients have heard of what changed before (Unix ms). */
  told(sessions: readonly KeptSessionVersion[], time: number): void
}
