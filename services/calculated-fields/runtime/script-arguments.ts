/** Arguments as the reference's scripts see them. Source: `rule-engine.md` 8.2. */
import type { ArgumentValue } from '../../../model/calculated-fields/kind.ts'
import { isJsonObject, LongDecimal, WholeDouble, type JsonObject, type JsonValue } from '../../../model/json.ts'
import { Rolling, TimeWindow } from '../../../engine/script/tbel/library/rolling.ts'
import type { Value } from '../../../engine/script/tbel/values.ts'

export type Window = Extract<ArgumentValue, { kind: 'rolling' }>

/** `ctx`, then each argument under its name. */
export function scriptArguments(
  names: readonly string[],
  args: Readonly<Record<string, ArgumentValue>>,
  latestTs: number,
): readonly Value[] {
  return [contextOf(args, latestTs), ...names.map((name) => variableOf(args[name]))]
}

function contextOf(args: Readonly<Record<string, ArgumentValue>>, latestTs: number): Value {
  const inside = Object.entries(args).map(([name, argument]): [string, Value] => [
    name,
    argument.kind === 'single' ? { ts: argument.ts, value: argument.value } : variableOf(argument),
  ])
  return new Map<string, Value>([
    ['latestTs', latestTs],
    ['args', new Map(inside)],
  ])
}

/** A value, a window, or the values of many. */
function variableOf(argument: ArgumentValue | undefined): Value {
  if (argument === undefined) return null
  switch (argument.kind) {
    case 'single':
      return argument.value
    case 'rolling':
      return rollingOf(argument)
    case 'many':
      return argument.of.map(({ entity, ts, value }): JsonObject => ({ entityId: entity.id, ts, value }))
  }
}

function rollingOf({ points, from, until }: Window): Rolling {
  const numbers = points.map(({ ts, value }) => ({ ts, value: rollingNumber(value) }))
  return new Rolling(new TimeWindow(from, until), numbers)
}

/** A window as it is shown, and as the test of a script takes it. */
export function shownWindow({ points, from, until }: Window): JsonObject {
  return {
    type: 'TS_ROLLING',
    timeWindow: { startTs: from, endTs: until },
    values: points.map(({ ts, value }) => ({ ts, value: shownNumber(rollingNumber(value)) })),
  }
}

function shownNumber(number: number): JsonValue {
  if (!Number.isFinite(number)) return String(number)
  return Number.isInteger(number) ? new WholeDouble(number) : number
}

/** What a point of a window counts as: NaN where it is no number. */
export function rollingNumber(value: JsonValue): number {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value.value
  if (value === null || Array.isArray(value) || isJsonObject(value)) return NaN
  return typeof value === 'string' && value.trim() === '' ? NaN : Number(value)
}
