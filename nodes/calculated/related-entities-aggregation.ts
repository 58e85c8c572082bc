/** RELATED_ENTITIES_AGGREGATION: the latest values of related entities, aggregated onto the entity. Source: `rule-engine.md` 8.2. */
import { z } from 'zod'
import {
  hidingState,
  type ConfigurationOf,
  type FieldKind,
  type Step,
  type StepInput,
} from '../../model/calculated-fields/kind.ts'
import { entriesOf } from '../../model/entry-json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { aggregated } from './aggregation.ts'
import { compiledMetrics, type CompiledMetric, type SingleValues } from './metrics.ts'
import { needOf } from './needs.ts'
import { rounded } from './rounding.ts'

type Configuration = ConfigurationOf<'RELATED_ENTITIES_AGGREGATION'>

const stateSchema = z.strictObject({
  /** When it was calculated last, Unix ms. */
  calculated: z.number().nullable(),
  /** Values have come since. */
  isDue: z.boolean(),
  /** Ids of the entities that had values then. */
  entities: z.array(z.string()),
})
type State = z.output<typeof stateSchema>

const BEGINNING: State = { calculated: null, isDue: false, entities: [] }

interface Opened {
  readonly configuration: Configuration
  readonly metrics: readonly CompiledMetric[]
}

export const relatedEntitiesAggregation: FieldKind<'RELATED_ENTITIES_AGGREGATION'> = {
  type: 'RELATED_ENTITIES_AGGREGATION',
  open(configuration, tools) {
    const { arguments: named, relation, scheduledUpdateInterval } = configuration
    const origin = { from: 'related', levels: [relation] } as const
    const metrics = compiledMetrics(configuration.metrics, Object.keys(named), tools)
    return hidingState<State>({
      needs: {
        arguments: Object.fromEntries(
          Object.entries(named).map(([name, argument]) => [name, { ...needOf(argument), origin, many: true }]),
        ),
        reloadEveryMs:
          scheduledUpdateInterval === undefined || scheduledUpdateInterval === null
            ? undefined
            : scheduledUpdateInterval * 1000,
      },
      parse: (stored) => stateSchema.safeParse(stored).data ?? null,
      step: (state, input) => step({ configuration, metrics }, state ?? BEGINNING, input),
    })
  },
}

/** At once where the last time is long enough ago, else when it is. */
function step(opened: Opened, before: State, input: StepInput): Step<State> {
  const { cause, now, entity } = input
  const entities = entitiesOf(input.args)
  const ids = [...entities.keys()]
  const isOther = ids.length !== before.entities.length || before.entities.some((id) => !entities.has(id))
  const isNews = cause === 'begin' || isOther
  const isDue = before.isDue || isNews || cause === 'values'
  // A field whose entities never had a value waits for the first.
  if (!isDue || (ids.length === 0 && before.entities.length === 0)) return { state: before, results: [] }
  const allowed =
    (before.calculated ?? Number.NEGATIVE_INFINITY) + (opened.configuration.deduplicationIntervalInSec ?? 0) * 1000
  if (now < allowed && !isNews) return { state: { ...before, isDue }, results: [], wakeAt: allowed }
  const values = valuesOf(opened, [...entities.values()])
  const state: State = { calculated: now, isDue: false, entities: ids }
  if (Object.keys(values).length === 0) return { state, results: [] }
  const { useLatestTs, output } = opened.configuration
  const ts = useLatestTs && output.type === 'TIME_SERIES' ? latestOf(entities) : undefined
  return { state, results: [{ kind: 'values', entity, values, ts }] }
}

function valuesOf({ configuration, metrics }: Opened, entities: readonly SingleValues[]): JsonObject {
  const decimals = configuration.output.decimalsByDefault
  const values = metrics.flatMap(({ name, metric, isIncluded, inputOf }): [string, JsonValue][] => {
    const inputs = entities.flatMap((entity) => {
      const input = isIncluded(entity) ? inputOf(entity) : undefined
      return entriesOf(input === undefined ? {} : { [name]: input }, { castStrings: false, nulls: 'skip' })
    })
    const result = aggregated(metric.function, name, inputs, decimals)
    if (result !== undefined) return [[name, result]]
    const { defaultValue } = metric
    return defaultValue === undefined || defaultValue === null ? [] : [[name, rounded(defaultValue, decimals)]]
  })
  return Object.fromEntries(values)
}

/** By id, in the order in which they come. */
function entitiesOf(args: StepInput['args']): ReadonlyMap<string, SingleValues> {
  const entities = new Map<string, [string, SingleValues[string]][]>()
  for (const [name, argument] of Object.entries(args)) {
    if (argument.kind !== 'many') continue
    for (const { entity, ts, value } of argument.of) {
      const values = entities.get(entity.id) ?? []
      values.push([name, { kind: 'single', ts, value }])
      entities.set(entity.id, values)
    }
  }
  return new Map([...entities].map(([id, values]) => [id, Object.fromEntries(values)]))
}

function latestOf(entities: ReadonlyMap<string, SingleValues>): number | undefined {
  const all = [...entities.values()].flatMap((values) => Object.values(values).map(({ ts }) => ts))
  // Defaults have none.
  const times = all.filter((ts) => ts > 0)
  return times.length === 0 ? undefined : Math.max(...times)
}
