/** Where the states of a benchmark are kept: in memory, or where a server of either shape keeps them, durably. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../model/system-clock.ts'
import { StatesInMemory } from '../../engine/state/memory-store.ts'
import type { NodeStateStore } from '../../engine/state/store.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import type { Report } from '../../services/changes/outbox.ts'
import { StoredNodeStates } from '../../services/node-states.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { startPostgres } from '../../test/support/servers/index.ts'

export const STATE_STORES = ['memory', 'sqlite', 'postgres'] as const
export type StateStoreName = (typeof STATE_STORES)[number]

export interface BenchmarkStates {
  readonly store: NodeStateStore
  close(): Promise<void>
}

/** Throws where there is no store of that name. */
export async function openStates(name: string): Promise<BenchmarkStates> {
  if (name === 'memory') return { store: new StatesInMemory(), close: async () => undefined }
  if (name === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-states-'))
    const file = join(folder, 'entities.sqlite')
    const entities = await openEntityStore({
      ...{ file, durability: 'power-cut', clock: systemClock, tables: DECLARED_TABLES },
    })
    return storedIn(entities, () => rm(folder, { recursive: true, force: true }))
  }
  if (name === 'postgres') {
    const server = await startPostgres()
    const entities = await openPostgresEntityStore({
      ...{ url: server.url, applicationName: 'benchmark', clock: systemClock, readConnections: 2 },
      tables: DECLARED_TABLES,
    })
    return storedIn(entities, () => server.stop())
  }
  throw new Error(`no store ${name}: ${STATE_STORES.join(', ')}`)
}

function storedIn(entities: EntityStore, end: () => Promise<void>): BenchmarkStates {
  const report: Report = (text) => {
    throw new Error(text)
  }
  return {
    store: new StoredNodeStates({ entities, clock: systemClock, report, log: 'benchmark', self: 'benchmark' }),
    close: async () => {
      await entities.close()
      await end()
    },
  }
}
