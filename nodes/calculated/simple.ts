/** SIMPLE: arithmetic over single values, one number out. Source: `rule-engine.md` 8.2. */
import { hidingState, type ArgumentValue, type FieldKind, type StepInput } from '../../model/calculated-fields/kind.ts'
import type { JsonValue } from '../../model/json.ts'
import { NodeErrors } from '../errors.ts'
import { numberOfText } from '../../model/number-text.ts'
import { parseExpression } from '../math/expression.ts'
import { latestOf } from '../../model/calculated-fields/latest-time.ts'
import { isOutdated, NOTHING_NEW } from './argument-values.ts'
import { needsOf } from './needs.ts'
import { rounded } from './rounding.ts'

export const simple: FieldKind<'SIMPLE'> = {
  type: 'SIMPLE',
  open({ arguments: named, expression, output, useLatestTs }) {
    const calculate = parseExpression(expression, new Set(Object.keys(named)))
    const name = output.name ?? ''
    const valueOf = (args: StepInput['args']): JsonValue => {
      const values = new Map(Object.entries(args).map(([argument, value]) => [argument, numberOf(argument, value)]))
      return rounded(calculate(values), output.decimalsByDefault)
    }
    return hidingState<null>({
      needs: { arguments: needsOf(named) },
      parse: () => null,
      step: (_state, input) => {
        if (isOutdated(input)) return NOTHING_NEW
        const { entity, args } = input
        const values = { [name]: valueOf(args) }
        const ts = useLatestTs && output.type === 'TIME_SERIES' ? latestOf(args) : undefined
        return { state: null, results: [{ kind: 'values', entity, values, ts }] }
      },
    })
  },
}

/** A text that is a number is one; true is 1, false 0. Throws for all else. */
export function numberOf(name: string, argument: ArgumentValue): number {
  const value = argument.kind === 'single' ? argument.value : null
  const isNone = value === null || Array.isArray(value)
  const number = typeof value === 'string' ? numberOfText(value) : isNone ? Number.NaN : Number(value)
  if (Number.isNaN(number)) throw NodeErrors.ARGUMENT_NO_NUMBER({ name })
  return number
}
