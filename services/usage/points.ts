/** What a tenant used, may use and is allowed, as points of its series. Source: `rule-engine.md` 9.4. */
import type { DataPoint } from '../../model/value.ts'
import { USAGE_COUNTERS } from '../../engine/usage/usage.ts'
import type { UsageTotal } from '../../storage/entities/usage-counts.ts'
import type { TenantLimits } from '../entities/tenant-limits.ts'
import { COUNTER_FORMS, type FeatureForm, type UsageState } from './features.ts'

/** Behind the key of a month's series. */
export const HOURLY = 'Hourly'

/** By the counters' places. */
export function usedOf(totals: readonly UsageTotal[], cycleTs: number): readonly number[] {
  const used = USAGE_COUNTERS.map(() => 0)
  for (const total of totals) if (total.cycleTs === cycleTs) used[total.counter] = total.cycleCount
  return used
}

export function pointsOf(totals: readonly UsageTotal[]): readonly DataPoint[] {
  return totals.flatMap(({ counter, cycleTs, cycleCount, hourTs, hourCount }) => {
    const form = COUNTER_FORMS.find((one) => one.counter === counter)
    if (form === undefined) return []
    return [long(form.key, cycleCount, cycleTs), long(`${form.key}${HOURLY}`, hourCount, hourTs)]
  })
}

export function zeroPoints(totals: readonly UsageTotal[], cycleTs: number): readonly DataPoint[] {
  const used = usedOf(totals, cycleTs)
  return COUNTER_FORMS.map(({ counter, key }) => long(key, used[counter] ?? 0, cycleTs))
}

export function limitPoints(limits: TenantLimits, ts: number): readonly DataPoint[] {
  return COUNTER_FORMS.map(({ limitKey, limit }) => long(limitKey, limits[limit], ts))
}

export function statePoint({ key }: FeatureForm, value: UsageState, ts: number): DataPoint {
  return { key, type: 'STRING', value, ts }
}

export function long(key: string, value: number, ts: number): DataPoint {
  return { key, type: 'LONG', value, ts }
}
