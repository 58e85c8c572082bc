/** What an expression gives back: values by name, now or at a time of their own, or a list of such. Source: `rule-engine.md` 8.2. */
import type { StepResult } from '../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { NodeErrors } from '../errors.ts'

export interface ScriptValues {
  readonly values: JsonObject
  /** Unix ms; undefined where the expression says none. */
  readonly ts: number | undefined
}

/** What is empty, or null, comes to nothing. Throws `SCRIPT_NO_VALUES`, and `BODY_SHAPE` where a time is none. */
export function scriptValues(result: JsonValue): readonly ScriptValues[] {
  if (result === null || result === '') return []
  return (Array.isArray(result) ? result : [result])
    .map(valuesOf)
    .filter(({ values }) => Object.keys(values).length > 0)
}

export function resultsFor(entity: EntityId, all: readonly ScriptValues[]): readonly StepResult[] {
  return all.map(({ values, ts }) => ({ kind: 'values', entity, values, ts }))
}

function valuesOf(result: JsonValue): ScriptValues {
  if (!isJsonObject(result)) throw NodeErrors.SCRIPT_NO_VALUES()
  const { ts, values } = result
  if (ts === undefined || !isJsonObject(values)) return { values: result, ts: undefined }
  return { values, ts: timeOf(ts) }
}

/** A text that is a whole number is one. */
function timeOf(ts: JsonValue): number {
  const isNumber = typeof ts === 'string' ? ts.trim() !== '' : ts !== null && typeof ts !== 'boolean'
  const time = isNumber && !Array.isArray(ts) ? Number(ts) : NaN
  if (!Number.isSafeInteger(time)) throw NodeErrors.BODY_SHAPE({ reason: "'ts' is no time" })
  return time
}
