/** Many values as one: the functions of metrics. Source: `rule-engine.md` 8.2. */
import type { ConfigurationOf } from '../../model/calculated-fields/kind.ts'
import { valueText } from '../../model/entry-json.ts'
import type { JsonValue } from '../../model/json.ts'
import type { TypedValue } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { numberOfText } from '../../model/number-text.ts'
import { DecimalSum } from '../../model/decimal-sum.ts'
import { rounded } from './rounding.ts'

export type MetricFunction = ConfigurationOf<'RELATED_ENTITIES_AGGREGATION'>['metrics'][string]['function']

/** Undefined of no values, save for counts. Throws `VALUE_INVALID` where one is no number and has to be. */
export function aggregated(
  metric: MetricFunction,
  name: string,
  values: readonly TypedValue[],
  decimals: number | null | undefined,
): JsonValue | undefined {
  if (metric === 'COUNT') return values.length
  if (metric === 'COUNT_UNIQUE') return new Set(values.map(valueText)).size
  if (values.length === 0) return undefined
  const numbers = values.map((value) => numberIn(name, value))
  switch (metric) {
    case 'MIN':
      return rounded(
        numbers.reduce((one, other) => Math.min(one, other)),
        decimals,
      )
    case 'MAX':
      return rounded(
        numbers.reduce((one, other) => Math.max(one, other)),
        decimals,
      )
    case 'SUM':
      return rounded(sumOf(numbers), decimals)
    case 'AVG':
      return rounded(sumOf(numbers) / numbers.length, decimals)
  }
}

function sumOf(numbers: readonly number[]): number {
  const sum = new DecimalSum()
  for (const number of numbers) sum.add(number)
  return sum.value
}

/** Throws `VALUE_INVALID` where it is none. */
export function numberIn(name: string, value: TypedValue): number {
  const number = numberOf(value)
  if (!Number.isFinite(number)) throw NodeErrors.VALUE_INVALID({ key: name, expected: 'a number' })
  return number
}

function numberOf(value: TypedValue): number {
  if (value.type === 'STRING') return numberOfText(value.value)
  return value.type === 'LONG' || value.type === 'DOUBLE' ? Number(value.value) : Number.NaN
}
