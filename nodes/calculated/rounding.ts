/** Numbers of results as the output's decimals have them. Source: `rule-engine.md` 8.2. */
import { WholeDouble, type JsonValue } from '../../model/json.ts'
import { halfUp } from '../half-up.ts'

/** None: a double as it is; 0: a whole number; else half up. Throws where the number is none. */
export function rounded(value: number, decimals: number | null | undefined): JsonValue {
  if (!Number.isFinite(value)) throw new RangeError(`the result is ${value}`)
  if (decimals === 0) return halfUp(value, 0)
  const kept = decimals === null || decimals === undefined ? value : halfUp(value, decimals)
  return Number.isInteger(kept) ? new WholeDouble(kept) : kept
}
