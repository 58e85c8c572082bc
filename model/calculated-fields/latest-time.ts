/** How new the values of arguments are. Source: `rule-engine.md` 8.2. */
import type { ArgumentValue, StepInput } from './kind.ts'

/** The newest time of all values; of defaults only where there is nothing else. Undefined where there is none. */
export function latestOf(args: StepInput['args']): number | undefined {
  let ofValues = -Infinity
  let ofDefaults = -Infinity
  let hasValues = false
  for (const name in args) {
    const argument = args[name]
    if (argument === undefined) continue
    if (argument.kind === 'single' && argument.isDefault === true) ofDefaults = Math.max(ofDefaults, argument.ts)
    else {
      hasValues = true
      ofValues = Math.max(ofValues, newestIn(argument))
    }
  }
  const latest = hasValues ? ofValues : ofDefaults
  return latest === -Infinity ? undefined : latest
}

function newestIn(argument: ArgumentValue): number {
  if (argument.kind === 'single') return argument.ts
  const points = argument.kind === 'rolling' ? argument.points : argument.of
  return points.reduce((latest, { ts }) => Math.max(latest, ts), -Infinity)
}
