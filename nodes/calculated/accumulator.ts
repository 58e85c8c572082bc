/** Values of one metric in one interval, as they come: what is kept of them does not grow with their number, save for different ones. */
import { z } from 'zod'
import { valueText } from '../../model/entry-json.ts'
import type { JsonValue } from '../../model/json.ts'
import type { TypedValue } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { numberIn, type MetricFunction } from './aggregation.ts'
import { DecimalSum } from '../../model/decimal-sum.ts'
import { rounded } from './rounding.ts'

export const MAX_DISTINCT = 1_000

export const accumulatorSchema = z.strictObject({
  count: z.int(),
  /** The smallest, the largest, the sum: of functions that have one. */
  number: z.number().exactOptional(),
  distinct: z.array(z.string()).exactOptional(),
})
export type Accumulator = z.output<typeof accumulatorSchema>

/** Throws `VALUE_INVALID` where it is no number and has to be, `TOO_MANY_DISTINCT`. */
export function accumulated(
  metric: MetricFunction,
  name: string,
  before: Accumulator | undefined,
  value: TypedValue,
): Accumulator {
  const count = (before?.count ?? 0) + 1
  if (metric === 'COUNT') return { count }
  if (metric === 'COUNT_UNIQUE') {
    const distinct = before?.distinct ?? []
    const text = valueText(value)
    if (distinct.includes(text)) return { count, distinct }
    if (distinct.length >= MAX_DISTINCT) throw NodeErrors.TOO_MANY_DISTINCT({ name, limit: MAX_DISTINCT })
    return { count, distinct: [...distinct, text] }
  }
  const number = numberIn(name, value)
  const known = before?.number
  return { count, number: known === undefined ? number : joined(metric, known, number) }
}

/** Of the values of both; their different ones are not limited here. */
export function combined(metric: MetricFunction, one: Accumulator, other: Accumulator): Accumulator {
  const count = one.count + other.count
  if (metric === 'COUNT') return { count }
  if (metric === 'COUNT_UNIQUE') {
    return { count, distinct: [...new Set([...(one.distinct ?? []), ...(other.distinct ?? [])])] }
  }
  return { count, number: joined(metric, one.number ?? 0, other.number ?? 0) }
}

function joined(metric: 'MIN' | 'MAX' | 'SUM' | 'AVG', one: number, other: number): number {
  if (metric === 'MIN') return Math.min(one, other)
  if (metric === 'MAX') return Math.max(one, other)
  const sum = new DecimalSum()
  sum.add(one)
  sum.add(other)
  return sum.value
}

export function resultOf(
  metric: MetricFunction,
  { count, number, distinct }: Accumulator,
  decimals: number | null | undefined,
): JsonValue {
  if (metric === 'COUNT') return count
  if (metric === 'COUNT_UNIQUE') return distinct?.length ?? 0
  return rounded(metric === 'AVG' ? (number ?? 0) / count : (number ?? 0), decimals)
}
