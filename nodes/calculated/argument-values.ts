/** What conditions of alarm rules read of arguments: one value each, with its time. */
import { entryOf, type ConversionOptions } from '../../model/entry-json.ts'
import type { Step, StepInput } from '../../model/calculated-fields/kind.ts'
import type { TypedValue } from '../../model/value.ts'

export interface TimedValue {
  /** Unix ms. */
  readonly ts: number
  readonly value: TypedValue
}

const AS_STORED: ConversionOptions = { castStrings: false, nulls: 'skip' }

/** Those that have one value, each read where a rule asks for it. */
export class TimedValues {
  private readonly args: StepInput['args']

  constructor(args: StepInput['args']) {
    this.args = args
  }

  get(name: string): TimedValue | undefined {
    const argument = this.args[name]
    if (argument?.kind !== 'single' || argument.value === null) return undefined
    return { ts: argument.ts, value: entryOf(name, argument.value, AS_STORED) }
  }

  named(): readonly (readonly [name: string, value: TypedValue])[] {
    return Object.keys(this.args).flatMap((name) => {
      const timed = this.get(name)
      return timed === undefined ? [] : [[name, timed.value] as const]
    })
  }
}

/** Whether one of the updates is the newest of its argument: older ones say nothing about now. Without any a value went. */
export function hasNews({ args, updates }: Pick<StepInput, 'args' | 'updates'>): boolean {
  if (updates.length === 0) return true
  for (const { name, ts } of updates) {
    const argument = args[name]
    if (argument?.kind !== 'single' || ts >= argument.ts) return true
  }
  return false
}

/** Nothing came but values that are older than those that count: the result is the one of then. */
export function isOutdated(input: Pick<StepInput, 'args' | 'cause' | 'updates' | 'isRead'>): boolean {
  return input.cause === 'values' && input.isRead !== true && !hasNews(input)
}

export const NOTHING_NEW: Step<null> = { state: null, results: [], isUnchanged: true }
