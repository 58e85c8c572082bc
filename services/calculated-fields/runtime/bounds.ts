/** What a calculation may hold and how long it may take: limits of the tenant's profile, and of the platform. Source: `rule-engine.md` 8.3, 8.4. */
import type { ArgumentNeed } from '../../../model/calculated-fields/kind.ts'
import type { Clock } from '../../../model/clock.ts'
import { stringifyJson, type JsonValue } from '../../../model/json.ts'
import type { TenantLimits } from '../../entities/tenant-limits.ts'
import { CalculatedFieldErrors } from '../errors.ts'
import type { Held } from './held.ts'

/** 0 is no limit. */
export interface CalculationLimits {
  readonly maxStateBytes: number
  /** Of an argument with one value. */
  readonly maxValueBytes: number
  /** Of a window. */
  readonly maxPoints: number
}

/** Where the tenant's profile sets no limit. */
const MAX_POINTS = 10_000

export const NO_LIMITS: CalculationLimits = { maxStateBytes: 0, maxValueBytes: 0, maxPoints: 0 }

/** Asked for with each message. */
const calculationLimitsOf = new WeakMap<TenantLimits, CalculationLimits>()

export function calculationLimits(limits: TenantLimits): CalculationLimits {
  const known = calculationLimitsOf.get(limits)
  if (known !== undefined) return known
  const made: CalculationLimits = {
    maxStateBytes: limits.maxStateSizeInKBytes * 1024,
    maxValueBytes: limits.maxSingleValueArgumentSizeInKBytes * 1024,
    maxPoints: limits.maxDataPointsPerRollingArg,
  }
  calculationLimitsOf.set(limits, made)
  return made
}

/** Points of a window: what the field asks for, and the tenant may have. */
export function mostPoints({ limit = 0 }: ArgumentNeed, allowed: number): number {
  const most = allowed > 0 ? allowed : MAX_POINTS
  return limit > 0 ? Math.min(limit, most) : most
}

export function needWithin(need: ArgumentNeed, { maxPoints }: CalculationLimits): ArgumentNeed {
  return need.type === 'TS_ROLLING' ? { ...need, limit: mostPoints(need, maxPoints) } : need
}

/** Of an argument with one value. Numbers never are. */
export function isTooLarge(need: ArgumentNeed, value: JsonValue, { maxValueBytes }: CalculationLimits): boolean {
  if (maxValueBytes <= 0 || need.type === 'TS_ROLLING' || need.many === true) return false
  if (typeof value === 'string') return Buffer.byteLength(value) > maxValueBytes
  return typeof value === 'object' && value !== null && Buffer.byteLength(stringifyJson(value)) > maxValueBytes
}

/** What was read, without values that are too large, and whose these are. */
export function withinSize(
  needs: Readonly<Record<string, ArgumentNeed>>,
  args: Readonly<Record<string, Held>>,
  limits: CalculationLimits,
): { readonly args: Readonly<Record<string, Held>>; readonly tooLarge: readonly string[] } {
  const tooLarge: string[] = []
  const taken = Object.entries(args).map(([name, held]): [string, Held] => {
    const need = needs[name]
    if (need === undefined || held.one === undefined || !isTooLarge(need, held.one[1], limits)) return [name, held]
    tooLarge.push(name)
    const { one: _one, ...rest } = held
    return [name, rest]
  })
  return { args: Object.fromEntries(taken), tooLarge }
}

const LIMIT_MS = 5_000

/** The time that one calculation takes, with all its scripts. One after the other calculates: they share it. */
export class CalculationTime {
  private readonly clock: Pick<Clock, 'monotonic'>
  private deadline = Number.POSITIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock
  }

  begin(): void {
    this.deadline = this.clock.monotonic() + LIMIT_MS
  }

  /** Throws `TOO_SLOW`. */
  check(): void {
    if (this.clock.monotonic() > this.deadline) throw CalculatedFieldErrors.TOO_SLOW({ seconds: LIMIT_MS / 1000 })
  }
}
