/** How library methods and functions are declared, and how they read their arguments. */
import { Fault } from '../fault.ts'
import { LONG, intOf, isInt, numberOf, payForText, rankOf, textOf, typeName, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import type { StaticType } from '../frame.ts'

export interface Method<Target> {
  readonly least: number
  readonly most: number
  /** Counts its own work beyond one step, and its allocations, on the budget. */
  readonly run: (target: Target, values: readonly Value[], budget: Budget) => Value
  readonly returns: StaticType
}
export type Methods<Target> = ReadonlyMap<string, Method<Target>>

export interface LibraryFunction {
  readonly least: number
  readonly most: number
  readonly run: (values: readonly Value[], budget: Budget) => Value
  readonly returns: StaticType
}
export type Functions = ReadonlyMap<string, LibraryFunction>

export function method<Target>(
  least: number,
  most: number,
  run: Method<Target>['run'],
  returns: StaticType = 'unknown',
): Method<Target> {
  return { least, most, run, returns }
}

export function libraryFunction(
  least: number,
  most: number,
  run: LibraryFunction['run'],
  returns: StaticType = 'unknown',
): LibraryFunction {
  return { least, most, run, returns }
}

export function argument(values: readonly Value[], index: number): Value {
  return values[index] ?? null
}

export function textArgument(values: readonly Value[], index: number): string {
  const value = argument(values, index)
  if (value === null) throw new Fault('argument is null')
  return textOf(value)
}

/** An int; a longer number is cut, a text must be a plain integer. */
export function intArgument(values: readonly Value[], index: number, missing?: number): number {
  if (missing !== undefined && index >= values.length) return missing
  const value = argument(values, index)
  if (isInt(value)) return value
  if (typeof value === 'string' && /^[+-]?\d{1,10}$/.test(value)) return intOf(Number(value))
  const rank = rankOf(value)
  if (rank === 0) throw new Fault(`argument must be an integer, not ${typeName(value)}`)
  if (rank === LONG && Math.abs(numberOf(value)) > 2147483647)
    throw new Fault(`${textOf(value)} is beyond the range of int`)
  return intOf(numberOf(value))
}

/** A double; a text must be a number. */
export function doubleArgument(values: readonly Value[], index: number): number {
  const value = argument(values, index)
  if (rankOf(value) !== 0) return numberOf(value)
  if (typeof value === 'string') payForText(value)
  if (typeof value === 'string' && value.trim() !== '') {
    const number = Number(value)
    if (!Number.isNaN(number)) return number
  }
  throw new Fault(`argument must be a number, not ${typeName(value)} ${textOf(value)}`)
}

export function booleanArgument(values: readonly Value[], index: number, missing?: boolean): boolean {
  const value = argument(values, index)
  if (missing !== undefined && index >= values.length) return missing
  if (typeof value !== 'boolean') throw new Fault(`argument must be a boolean, not ${typeName(value)}`)
  return value
}

export function listArgument(values: readonly Value[], index: number): Value[] {
  const value = argument(values, index)
  if (!Array.isArray(value)) throw new Fault(`argument must be a list, not ${typeName(value)}`)
  return value
}

/** The start of a slice: negative counts from the end, kept inside. */
export function startIndex(start: number, length: number): number {
  return start < 0 ? Math.max(0, length + start) : Math.min(start, length)
}
