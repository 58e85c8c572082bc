/** Metrics as configurations have them, their scripts compiled. Source: `rule-engine.md` 8.2. */
import type { ArgumentValue, ConfigurationOf, FieldTools } from '../../model/calculated-fields/kind.ts'
import type { JsonValue } from '../../model/json.ts'

export type Metrics = ConfigurationOf<'RELATED_ENTITIES_AGGREGATION'>['metrics']

/** One value each, by argument. */
export type SingleValues = Readonly<Record<string, ArgumentValue & { readonly kind: 'single' }>>

export interface CompiledMetric {
  readonly name: string
  readonly metric: Metrics[string]
  /** Whether a value of the argument counts for it. */
  readonly concerns: (argument: string) => boolean
  readonly isIncluded: (values: SingleValues) => boolean
  /** Undefined where there is none. */
  readonly inputOf: (values: SingleValues) => JsonValue | undefined
}

/** Throws where a script does not compile. */
export function compiledMetrics(
  metrics: Metrics,
  names: readonly string[],
  tools: FieldTools,
): readonly CompiledMetric[] {
  return Object.entries(metrics).map(([name, metric]) => {
    const { filter, input } = metric
    const hasFilter = filter !== undefined && filter !== null && filter !== ''
    const condition = hasFilter ? tools.compileWithArguments(filter, names) : undefined
    const isIncluded = (values: SingleValues): boolean => condition === undefined || condition(values) === true
    if (input.type === 'key') {
      const { key } = input
      return {
        name,
        metric,
        isIncluded,
        concerns: (argument) => argument === key,
        inputOf: (values) => values[key]?.value,
      }
    }
    const script = tools.compileWithArguments(input.function, names)
    return { name, metric, isIncluded, concerns: () => true, inputOf: (values) => script(values) }
  })
}
