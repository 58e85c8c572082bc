/** Arguments as configurations name them, as needs of a field. Source: `rule-engine.md` 8.1. */
import type { Argument, NamedArguments } from '../../model/calculated-fields/arguments.ts'
import type { ArgumentNeed, Origin } from '../../model/calculated-fields/kind.ts'

export function needsOf(named: NamedArguments): Readonly<Record<string, ArgumentNeed>> {
  return Object.fromEntries(Object.entries(named).map(([name, argument]) => [name, needOf(argument)]))
}

export function needOf(argument: Argument): ArgumentNeed {
  const { refEntityKey, defaultValue, limit, timeWindow } = argument
  const { key, type, scope } = refEntityKey
  return {
    ...{ origin: originOf(argument), key, type, scope: scope ?? undefined },
    ...{ defaultValue: defaultValue ?? undefined, limit: limit ?? undefined, timeWindow: timeWindow ?? undefined },
  }
}

/** Own where neither is named. */
export function originOf({
  refEntityId,
  refDynamicSourceConfiguration: dynamic,
}: Pick<Argument, 'refEntityId' | 'refDynamicSourceConfiguration'>): Origin {
  if (refEntityId !== undefined && refEntityId !== null) return { from: 'entity', entity: refEntityId }
  if (dynamic === undefined || dynamic === null) return { from: 'own' }
  return dynamic.type === 'CURRENT_OWNER' ? { from: 'owner' } : { from: 'related', levels: dynamic.levels }
}
