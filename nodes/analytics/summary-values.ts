/** Results of a summary as values of a message. */
import type { JsonValue } from '../../model/json.ts'
import type { SummaryFunction } from '../../model/group-summary.ts'
import { rounded } from '../calculated/rounding.ts'
import { NodeErrors } from '../errors.ts'

/** Counts are whole numbers, all else doubles. Throws `VALUE_INVALID` where it is too large to be stored. */
export function summaryValue(name: string, of: SummaryFunction, value: number): JsonValue {
  if (of.startsWith('COUNT')) return value
  if (!Number.isFinite(value)) throw NodeErrors.VALUE_INVALID({ key: name, expected: 'small enough to be added' })
  return rounded(value, undefined)
}
