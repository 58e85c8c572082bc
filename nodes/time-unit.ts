/** Units of durations in configurations, in ms. */
export const UNIT_MS = {
  NANOSECONDS: 1e-6,
  MICROSECONDS: 1e-3,
  MILLISECONDS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
} as const

export type TimeUnit = keyof typeof UNIT_MS
