/** How new the values of arguments are. Source: `rule-engine.md` 8.2. */
import type { ArgumentValue, StepInput } from './kind.ts'

/** The newest time of all values; of defaults only where there is nothing else. Undefined where there is none. */
export function latestOf(args: StepInput['args']): number | undefined {
  const all = Object.values(args)
  const stored = all.filter((argument) => argument.kind !== 'single' || argument.isDefault !== true)
  const times = (stored.length === 0 ? all : stored).flatMap(timesOf)
  return times.length === 0 ? undefined : times.reduce((one, other) => Math.max(one, other))
}

function timesOf(argument: ArgumentValue): readonly number[] {
  if (argument.kind === 'single') return [argument.ts]
  return (argument.kind === 'rolling' ? argument.points : argument.of).map(({ ts }) => ts)
}
