/** What the parts of the compiler share. */
import type { Budget } from './budget.ts'
import type { Code, Evaluate } from './frame.ts'
import type { Scope } from './scope.ts'
import type { Expression } from './syntax.ts'

/** A function of the script; its body is there before the script first runs. */
export interface ScriptFunction {
  readonly name: string
  readonly parameters: number
  /** Slots of a frame. */
  size: number
  body: Evaluate
}

export interface Compiler {
  /** The script's text, for places in errors. */
  readonly source: string
  readonly scope: Scope
  readonly functions: ReadonlyMap<string, ScriptFunction>
  /** For operations on literals, done once at compile time. */
  readonly budget: Budget
  expression(expression: Expression): Code
}
