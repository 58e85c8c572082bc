/** The settings of a pool: what they may be, and what a change makes of them. */
import { defineErrors } from '../../model/errors.ts'
import { POOL_SETTINGS, POOL_SETTING_RANGES, type PoolSettings } from '../../model/worker-pool.ts'

export const WorkerErrors = defineErrors('workers', {
  UNKNOWN_POOL: { kind: 'invalid', status: 404, text: "there is no worker pool '{name}': there are {known}" },
  SETTING: {
    kind: 'invalid',
    status: 400,
    text: '{setting}: a whole number from {least} to {most} ({unit}) is expected',
  },
  SETTINGS_CONFLICT: { kind: 'invalid', status: 400, text: '{reason}' },
  FIXED: {
    kind: 'invalid',
    status: 400,
    text: "the settings of pool '{name}' change with a restart: {settings}",
  },
  STOPPING: { kind: 'retryable', status: 503, text: 'worker pools are closed' },
})

/**
 * The settings after a change. Threads that stay follow the most threads where both were the same and only that is changed, and
 * are never more. Throws SETTING, SETTINGS_CONFLICT.
 */
export function changedSettings(present: PoolSettings, change: Partial<PoolSettings>): PoolSettings {
  const changed = { ...present, ...change }
  if (change.minThreads === undefined) {
    const all = present.minThreads === present.threads
    changed.minThreads = all ? changed.threads : Math.min(present.minThreads, changed.threads)
  }
  for (const setting of POOL_SETTINGS) {
    const { least, most, unit } = POOL_SETTING_RANGES[setting]
    const value = changed[setting]
    if (!Number.isInteger(value) || value < least || value > most)
      throw WorkerErrors.SETTING({ setting, least, most, unit })
  }
  if (changed.minThreads > changed.threads)
    throw WorkerErrors.SETTINGS_CONFLICT({
      reason: `minThreads ${changed.minThreads} is more than threads ${changed.threads}`,
    })
  return changed
}
