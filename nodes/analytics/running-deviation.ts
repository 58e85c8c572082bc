/**
 * Mean and variance of the values so far, without the values: Welford's method. Beyond `memory` values the old ones fade, so
 * that what is usual may change. Pure.
 */
export interface RunningDeviation {
  readonly count: number
  readonly mean: number
  /** Of the values as a whole population. */
  readonly variance: number
}

export function withValue(before: RunningDeviation | undefined, value: number, memory: number): RunningDeviation {
  const { count, mean, variance } = before ?? { count: 0, mean: 0, variance: 0 }
  const weight = 1 / Math.min(count + 1, memory)
  const distance = value - mean
  return {
    count: Math.min(count + 1, memory),
    mean: mean + distance * weight,
    variance: (1 - weight) * (variance + distance * distance * weight),
  }
}

/** How many deviations the value is from the mean; a smaller deviation than `least` counts as that. */
export function zScore({ mean, variance }: RunningDeviation, value: number, least: number): number {
  return (value - mean) / Math.max(Math.sqrt(variance), least)
}
