/** SCRIPT: an expression of the platform's language over arguments; an object, `{ts, values}` or an array of them out. Source: `rule-engine.md` 8.2. */
import { hidingState, type FieldKind, type StepResult } from '../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import { NodeErrors } from '../errors.ts'
import { needsOf } from './needs.ts'

export const script: FieldKind<'SCRIPT'> = {
  type: 'SCRIPT',
  open({ arguments: named, expression }, tools) {
    const calculate = tools.compileWithArguments(expression, Object.keys(named))
    return hidingState<null>({
      needs: { arguments: needsOf(named) },
      parse: () => null,
      step: (_state, { entity, args }) => ({ state: null, results: valuesOf(calculate(args), entity) }),
    })
  },
}

/** Throws where the result is neither an object nor an array of them. Empty ones come to nothing. */
export function valuesOf(result: JsonValue, entity: EntityId): readonly StepResult[] {
  if (Array.isArray(result)) return result.flatMap((each) => valuesOf(each, entity))
  if (!isJsonObject(result)) throw NodeErrors.BODY_SHAPE({ reason: 'expected an object or an array of objects' })
  const { ts, values } = result
  if (ts !== undefined && isJsonObject(values)) return resultOf(entity, values, timeOf(ts))
  return resultOf(entity, result, undefined)
}

function resultOf(entity: EntityId, values: StepValues, ts: number | undefined): readonly StepResult[] {
  return Object.keys(values).length === 0 ? [] : [{ kind: 'values', entity, values, ts }]
}

type StepValues = Extract<StepResult, { kind: 'values' }>['values']

function timeOf(ts: JsonValue): number {
  const time = Number(ts)
  if (!Number.isSafeInteger(time)) throw NodeErrors.BODY_SHAPE({ reason: "'ts' is no time" })
  return time
}
