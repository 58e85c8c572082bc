/** What compiled code runs on, and what the compiler knows about a piece of it. */
import type { Budget } from './budget.ts'
import type { Value } from './values.ts'

/** Why a statement list stops early. */
export const RUNNING = 0
export const BREAKING = 1
export const RETURNING = 2
export type Signal = typeof RUNNING | typeof BREAKING | typeof RETURNING

/** A variable that does not exist (yet) is undefined. */
export type Variables = (Value | undefined)[]

export class Frame {
  readonly variables: Variables
  readonly globals: Variables
  readonly budget: Budget
  signal: Signal = RUNNING

  constructor(variables: Variables, globals: Variables, budget: Budget) {
    this.variables = variables
    this.globals = globals
    this.budget = budget
  }
}

export type Evaluate = (frame: Frame) => Value

/**
 * What is known before the script runs. Two types change the meaning of arithmetic (`rule-engine.md` 6.4 "division"):
 * a division of two `int` is cut, and an operation of a `platformInt` (what methods such as `length()` and `Math.max`
 * return, and a cast to int) with any other int is computed in doubles and cut. The others lead to the methods that
 * return such ints.
 */
export type StaticType = 'int' | 'platformInt' | 'string' | 'list' | 'map' | 'unknown'

export interface Code {
  readonly run: Evaluate
  readonly type: StaticType
  /** The value of a literal, or of an operation on literals. */
  readonly constant?: Value
}
