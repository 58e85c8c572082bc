/** Tables of operators, where anything lies in PostgreSQL. */
import type { Config } from '../config/settings.ts'
import type { SystemLog } from '../logging/log.ts'
import { systemClock } from '../model/system-clock.ts'
import { TABLE_CONNECTIONS, TABLES_ROOM, type CustomTableParts } from '../services/node-capabilities/tables.ts'
import { SharedTurns } from '../services/outbound/shared-turns.ts'
import { Sweeps } from '../services/cleanup/sweeps.ts'
import { PostgresCustomTables } from '../storage/postgres/custom-tables.ts'
import type { Closing } from './closing.ts'

/** A table that an operator has locked gives the connection back after it. */
const ANSWER_WITHIN_MS = 5000
const SWEEP_MS = 3_600_000
const SWEEP_PAUSE_MS = 1000

export function openCustomTables(config: Config, log: SystemLog, closing: Closing): CustomTableParts | undefined {
  if (config.entitiesDatabase !== 'postgres' && config.timeSeriesDatabase === 'embedded') return undefined
  // One more than writers, for what removes old rows.
  const settings = { answerWithinMs: ANSWER_WITHIN_MS, connections: TABLE_CONNECTIONS + 1 }
  const store = new PostgresCustomTables({ url: config.databaseUrl, ...settings })
  const sweeps = new Sweeps({
    clock: systemClock,
    report: (text, fields) => log.error(text, fields),
    failure: 'rows of custom tables whose time is over were not removed',
    ...{ intervalMs: SWEEP_MS, pauseMs: SWEEP_PAUSE_MS },
    sweep: () => store.removeExpired(),
  })
  sweeps.start()
  closing.add('custom tables', async () => {
    await sweeps.close()
    await store.close()
  })
  return { store, turns: new SharedTurns(systemClock, config.outboundTimeoutMs, TABLES_ROOM) }
}
