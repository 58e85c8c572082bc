/** SCRIPT: an expression of the platform's language over arguments. Source: `rule-engine.md` 8.2. */
import { hidingState, type FieldKind } from '../../model/calculated-fields/kind.ts'
import { isOutdated, NOTHING_NEW } from './argument-values.ts'
import { needsOf } from './needs.ts'
import { resultsFor, scriptValues } from './script-result.ts'

export const script: FieldKind<'SCRIPT'> = {
  type: 'SCRIPT',
  open({ arguments: named, expression }, tools) {
    const calculate = tools.compileWithArguments(expression, Object.keys(named))
    return hidingState<null>({
      needs: { arguments: needsOf(named) },
      parse: () => null,
      step: (_state, input) => {
        if (isOutdated(input)) return NOTHING_NEW
        const { entity, args } = input
        return { state: null, results: resultsFor(entity, scriptValues(calculate(args))) }
      },
    })
  },
}
