/** Messages that were given up, as a tenant sees them. */
import type { DeadLetter } from '../../engine/link/dead-letters.ts'

export interface DeadLetterService {
  /** Oldest first: at most `limit` letters of the tenant, with an id above `after`. */
  list(
    tenantId: string,
    query: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DeadLetter[]>
  /** Publishes the message once more, under its old id; the letter goes when that is durable. Throws DEAD_LETTER_GONE (404). */
  replay(tenantId: string, id: number): Promise<void>
  /** Throws DEAD_LETTER_GONE (404). */
  remove(tenantId: string, id: number): Promise<void>
}

export type { DeadLetter }
