/** The first connection: waits for a server that is only starting, as it does when a whole set of servers is started at once. */
import { setTimeout as wait } from 'node:timers/promises'
import { isMillraceError } from '../../model/errors.ts'
import { PostgresConnection, type PostgresSettings } from './connection.ts'

export interface OpenSettings extends PostgresSettings {
  /** How long a server that does not answer is waited for; 0 tries once. */
  readonly serverWithinMs?: number | undefined
}

const SERVER_WITHIN_MS = 15_000
const PAUSE_MS = 100

/** Rejects with `postgres.UNAVAILABLE` where no server answers in time; at once with `REFUSED` and `UNTRUSTED`. */
export async function openPostgres(settings: OpenSettings): Promise<PostgresConnection> {
  const connection = new PostgresConnection(settings)
  const deadline = performance.now() + (settings.serverWithinMs ?? SERVER_WITHIN_MS)
  for (;;) {
    try {
      await connection.query({ text: 'select 1' })
      return connection
    } catch (error) {
      if (!isMillraceError(error) || !error.isOutage || error.needsOperator || performance.now() >= deadline) {
        await connection.close()
        throw error
      }
      await wait(PAUSE_MS)
    }
  }
}
