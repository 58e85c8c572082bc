/** What an expression gives back: values by name, now or at a time of their own, or a list of such. Source: `rule-engine.md` 8.2. */
import { isJsonObject, WholeDouble, type JsonObject, type JsonValue } from '../../model/json.ts'
import { NodeErrors } from '../errors.ts'

export interface ScriptValues {
  readonly values: JsonObject
  /** Unix ms; absent where the expression says none. */
  readonly ts?: number
}

/** Throws `SCRIPT_NO_VALUES`. */
export function scriptValues(result: JsonValue): readonly ScriptValues[] {
  return (Array.isArray(result) ? result : [result]).map(valuesOf)
}

function valuesOf(result: JsonValue): ScriptValues {
  if (!isJsonObject(result)) throw NodeErrors.SCRIPT_NO_VALUES()
  const { ts, values } = result
  const time = typeof ts === 'number' || typeof ts === 'bigint' || ts instanceof WholeDouble ? Number(ts) : Number.NaN
  return Number.isSafeInteger(time) && isJsonObject(values) ? { values, ts: time } : { values: result }
}
