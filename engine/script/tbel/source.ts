/** Places in a script's text, and the errors that name them. */
import { ScriptErrors } from '../errors.ts'

export interface Place {
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
}

export function routeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - (before.lastIndexOf('\n') + 1) + 1 }
}

/** `SCRIPT_SYNTAX` at an offset. */
export function syntaxError(text: string, offset: number, reason: string): Error {
  return ScriptErrors.SCRIPT_SYNTAX({ ...routeOf(text, offset), reason })
}
