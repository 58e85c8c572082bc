/** The pools of this process behind one door, by name. */
import type { PoolReport, PoolSettings, WorkerAdmin } from '../../model/worker-pool.ts'
import { WorkerErrors } from './settings.ts'

export interface ManagedPool {
  readonly name: string
  /** With at most `rows` tenants and scripts each. */
  report(rows: number): PoolReport
  /** See {@link WorkerAdmin.resize}. */
  resize(change: Partial<PoolSettings>): Promise<void>
}

const ROWS = 20

export function createWorkerAdmin(pools: readonly ManagedPool[]): WorkerAdmin {
  const poolOf = (name: string): ManagedPool => {
    const pool = pools.find((candidate) => candidate.name === name)
    if (pool !== undefined) return pool
    const known = pools.length === 0 ? 'none in this process' : pools.map((candidate) => candidate.name).join(', ')
    throw WorkerErrors.UNKNOWN_POOL({ name, known })
  }
  return {
    pools: (rows = ROWS) => pools.map((pool) => pool.report(rows)),
    pool: (name, rows = ROWS) => poolOf(name).report(rows),
    async resize(name, change) {
      const pool = poolOf(name)
      await pool.resize(change)
      return pool.report(ROWS)
    },
  }
}
