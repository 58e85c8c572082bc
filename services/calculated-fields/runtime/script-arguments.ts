/** Arguments as the reference's scripts see them. Source: `rule-engine.md` 8.2. */
import type { ArgumentValue } from '../../../model/calculated-fields/kind.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'

/** `ctx`, then each argument under its name. */
export function scriptArguments(
  names: readonly string[],
  args: Readonly<Record<string, ArgumentValue>>,
): readonly JsonValue[] {
  return [contextOf(args), ...names.map((name) => variableOf(args[name]))]
}

function contextOf(args: Readonly<Record<string, ArgumentValue>>): JsonObject {
  const times = Object.values(args).flatMap(timesOf)
  const inside = Object.entries(args).map(([name, argument]): [string, JsonValue] => [
    name,
    argument.kind === 'single' ? { ts: argument.ts, value: argument.value } : variableOf(argument),
  ])
  return { latestTs: times.reduce((latest, ts) => Math.max(latest, ts), 0), args: Object.fromEntries(inside) }
}

/** A value, the points of a window, or the values of many. */
function variableOf(argument: ArgumentValue | undefined): JsonValue {
  if (argument === undefined) return null
  switch (argument.kind) {
    case 'single':
      return argument.value
    case 'rolling':
      return rollingOf(argument)
    case 'many':
      return argument.of.map(({ entity, ts, value }) => ({ entityId: entity.id, ts, value }))
  }
}

function rollingOf({ points }: Extract<ArgumentValue, { kind: 'rolling' }>): JsonObject {
  return {
    timeWindow: { startTs: points[0]?.ts ?? 0, endTs: points.at(-1)?.ts ?? 0 },
    values: points.map(({ ts, value }) => ({ ts, value })),
  }
}

function timesOf(argument: ArgumentValue): readonly number[] {
  if (argument.kind === 'single') return [argument.ts]
  return (argument.kind === 'rolling' ? argument.points : argument.of).map(({ ts }) => ts)
}
