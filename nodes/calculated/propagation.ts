/** PROPAGATION: values of an entity, or what an expression makes of them, written onto the entities that it is related to. Source: `rule-engine.md` 8.2. */
import { z } from 'zod'
import {
  hidingState,
  type ConfigurationOf,
  type FieldKind,
  type Step,
  type StepInput,
} from '../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonValue } from '../../model/json.ts'
import { NodeErrors } from '../errors.ts'
import { hasNews } from './argument-values.ts'
import { needsOf } from './needs.ts'
import { resultsFor, scriptValues, type ScriptValues } from './script-result.ts'

/** Ids of the entities that have had the values. */
const stateSchema = z.array(z.string())
type State = z.output<typeof stateSchema>

export const propagation: FieldKind<'PROPAGATION'> = {
  type: 'PROPAGATION',
  open(configuration, tools) {
    const { arguments: named, relation, output } = configuration
    const hasTimes = output.type === 'TIME_SERIES'
    const names = Object.keys(named)
    const expression = expressionOf(configuration)
    const script = expression === undefined ? undefined : tools.compileWithArguments(expression, names)
    return hidingState<State>({
      needs: {
        arguments: needsOf(named),
        // Without an expression each value goes alone.
        optional: script === undefined ? new Set(names) : undefined,
        targets: relation,
      },
      parse: (stored) => stateSchema.safeParse(stored).data ?? null,
      step: (state, input) => step(script, hasTimes, state ?? [], input),
    })
  },
}

function expressionOf({ applyExpressionToResolvedArguments, expression }: ConfigurationOf<'PROPAGATION'>) {
  if (!applyExpressionToResolvedArguments) return undefined
  if (expression === null || expression.trim() === '') throw NodeErrors.SCRIPT_NO_VALUES()
  return expression
}

type Script = (args: StepInput['args']) => JsonValue

/** An entity that is related only now gets all values; the others those that came. */
function step(script: Script | undefined, hasTimes: boolean, before: State, input: StepInput): Step<State> {
  const { args, targets, cause } = input
  const known = new Set(before)
  const state = targets.map(({ id }) => id)
  const isNew = ({ id }: EntityId): boolean => cause === 'begin' || !known.has(id)
  const news = cause === 'values' && hasNews(input)
  const reached = targets.filter((target) => news || isNew(target))
  if (reached.length === 0) return { state, results: [] }
  if (script !== undefined) {
    const values = scriptValues(script(args))
    return { state, results: reached.flatMap((entity) => resultsFor(entity, values)) }
  }
  const all = valuesAt(args, Object.keys(args), hasTimes)
  const changed = valuesAt(args, newsOf(input), hasTimes)
  return { state, results: reached.flatMap((entity) => resultsFor(entity, isNew(entity) ? all : changed)) }
}

/** Each at its own time: it is the same value, wherever it is written. Attributes have none. */
function valuesAt(args: StepInput['args'], names: readonly string[], hasTimes: boolean): readonly ScriptValues[] {
  const byTime = new Map<number | undefined, [string, JsonValue][]>()
  for (const name of names) {
    const argument = args[name]
    if (argument?.kind !== 'single') continue
    const ts = hasTimes ? argument.ts : undefined
    const values = byTime.get(ts) ?? []
    values.push([name, argument.value])
    byTime.set(ts, values)
  }
  return [...byTime].map(([ts, values]) => ({ ts, values: Object.fromEntries(values) }))
}

/** Names of arguments that have a newer value, in their order. */
function newsOf({ args, updates }: StepInput): readonly string[] {
  return Object.keys(args).filter((name) => {
    const own = updates.filter((update) => update.name === name)
    return own.length > 0 && hasNews({ args, updates: own })
  })
}
