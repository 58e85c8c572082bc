/** What conditions of alarm rules read of arguments: one value each, with its time. */
import { entryOf, type ConversionOptions } from '../../model/entry-json.ts'
import type { StepInput } from '../../model/calculated-fields/kind.ts'
import type { TypedValue } from '../../model/value.ts'

export interface TimedValue {
  /** Unix ms. */
  readonly ts: number
  readonly value: TypedValue
}

/** By the argument's name. */
export type TimedValues = ReadonlyMap<string, TimedValue>

const AS_STORED: ConversionOptions = { castStrings: false, nulls: 'skip' }

/** Those that have one value. */
export function timedValuesOf(args: StepInput['args']): TimedValues {
  const values = new Map<string, TimedValue>()
  for (const name of Object.keys(args)) {
    const argument = args[name]
    if (argument?.kind !== 'single' || argument.value === null) continue
    values.set(name, { ts: argument.ts, value: entryOf(name, argument.value, AS_STORED) })
  }
  return values
}

/** Whether one of the updates is the newest of its argument: older ones say nothing about now. Without any a value went. */
export function hasNews({ args, updates }: Pick<StepInput, 'args' | 'updates'>): boolean {
  if (updates.length === 0) return true
  return updates.some(({ name, ts }) => {
    const argument = args[name]
    return argument?.kind !== 'single' || ts >= argument.ts
  })
}
