/** What conditions of alarm rules read of arguments: one value each, with its time. */
import { entriesOf } from '../../model/entry-json.ts'
import type { StepInput } from '../../model/calculated-fields/kind.ts'
import type { TypedValue } from '../../model/value.ts'

export interface TimedValue {
  /** Unix ms. */
  readonly ts: number
  readonly value: TypedValue
}

/** By the argument's name. */
export type TimedValues = ReadonlyMap<string, TimedValue>

/** Those that have one value. */
export function timedValuesOf(args: StepInput['args']): TimedValues {
  const values = new Map<string, TimedValue>()
  for (const [name, argument] of Object.entries(args)) {
    if (argument.kind !== 'single') continue
    const [value] = entriesOf({ [name]: argument.value }, { castStrings: false, nulls: 'skip' })
    if (value !== undefined) values.set(name, { ts: argument.ts, value })
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
