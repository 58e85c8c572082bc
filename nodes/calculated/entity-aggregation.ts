/**
 * ENTITY_AGGREGATION: values of an entity by hour, day and the like. Values are added up as they come, so that an interval costs no read of
 * the history; a value that overwrites another one of its time counts as well. Source: `rule-engine.md` 8.2.
 *
 * | an interval | is told of |
 * |---|---|
 * | that has not ended | as often as the tenant's profile says, where intermediate results are asked for |
 * | that ended, within the watermark | at its end; then where late values came, as often as fields are looked at |
 * | behind the watermark | once more where late values came; then it is forgotten, and what comes later is left out |
 */
import { z } from 'zod'
import {
  hidingState,
  type ArgumentUpdate,
  type ConfigurationOf,
  type FieldKind,
  type FieldTools,
  type Step,
  type StepInput,
  type StepResult,
} from '../../model/calculated-fields/kind.ts'
import { entriesOf } from '../../model/entry-json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { accumulated, accumulatorSchema, resultOf, type Accumulator } from './accumulator.ts'
import { compiledMetrics, type CompiledMetric } from './metrics.ts'
import { needsOf } from './needs.ts'
import { rounded } from './rounding.ts'
import { bucketing, type Bucket } from './time-bucket.ts'

type Configuration = ConfigurationOf<'ENTITY_AGGREGATION'>

/** Beyond, the oldest ends before its watermark. */
const MAX_OPEN = 50

const openSchema = z.strictObject({
  from: z.number(),
  to: z.number(),
  /** By metric; without an entry no value came. */
  sums: z.record(z.string(), accumulatorSchema),
  /** Values came since it was told of. */
  hasNews: z.boolean(),
  /** When it was told of last, Unix ms. */
  toldAt: z.number().exactOptional(),
})
type Open = z.output<typeof openSchema>

const stateSchema = z.array(openSchema)
type State = z.output<typeof stateSchema>

interface Opened {
  readonly configuration: Configuration
  readonly metrics: readonly CompiledMetric[]
  readonly bucketOf: (ts: number) => Bucket
  readonly watermarkMs: number
  readonly hasDefaults: boolean
  readonly tools: FieldTools
}

export const entityAggregation: FieldKind<'ENTITY_AGGREGATION'> = {
  type: 'ENTITY_AGGREGATION',
  open(configuration, tools) {
    const { arguments: named, interval, watermark, metrics } = configuration
    const names = Object.keys(named)
    const opened: Opened = {
      ...{ configuration, tools, bucketOf: bucketing(interval), metrics: compiledMetrics(metrics, names, tools) },
      watermarkMs: (watermark?.duration ?? 0) * 1000,
      hasDefaults: Object.values(metrics).some(({ defaultValue }) => typeof defaultValue === 'number'),
    }
    return hidingState<State>({
      needs: { arguments: needsOf(named), optional: new Set(names) },
      parse: (stored) => stateSchema.safeParse(stored).data ?? null,
      step: (state, input) => step(opened, state ?? [], input),
    })
  },
}

function step(opened: Opened, before: State, input: StepInput): Step<State> {
  const open = new Map(before.map((one) => [one.from, one]))
  for (const update of input.cause === 'values' ? input.updates : []) add(opened, open, update, input)
  if (opened.hasDefaults) expect(opened, open, input.now)
  const results: StepResult[] = []
  const after: Open[] = []
  const inOrder = [...open.values()].toSorted((one, other) => one.from - other.from)
  for (const [index, one] of inOrder.entries()) {
    const isLast = input.now >= one.to + opened.watermarkMs || inOrder.length - index > MAX_OPEN
    const isTold = isLast ? one.hasNews || one.toldAt === undefined : isDue(opened, one, input.now)
    if (isTold) results.push(...told(opened, one, input))
    if (!isLast) after.push(isTold ? { ...one, hasNews: false, toldAt: input.now } : one)
  }
  const times = after.map((one) => nextTime(opened, one, input.now))
  return { state: after, results, wakeAt: times.length === 0 ? undefined : Math.min(...times) }
}

function add(
  { bucketOf, watermarkMs, metrics }: Opened,
  open: Map<number, Open>,
  update: ArgumentUpdate,
  input: StepInput,
) {
  const { from, to } = bucketOf(update.ts)
  if (input.now >= to + watermarkMs && !open.has(from)) return
  const before = open.get(from) ?? { from, to, sums: {}, hasNews: false }
  const values = valuesThen(update, input)
  const sums: (readonly [string, Accumulator])[] = metrics.flatMap(
    ({ name, metric, concerns, isIncluded, inputOf }) => {
      if (!concerns(update.name) || !isIncluded(values)) return []
      const entries = entriesOf({ [name]: inputOf(values) ?? null }, { castStrings: false, nulls: 'skip' })
      return entries.map((value) => [name, accumulated(metric.function, name, before.sums[name], value)] as const)
    },
  )
  if (sums.length === 0) return
  open.set(from, { ...before, sums: { ...before.sums, ...Object.fromEntries(sums) }, hasNews: true })
}

/** The update, and beside it what the others have now. */
function valuesThen({ name, ts, value }: ArgumentUpdate, { args }: StepInput) {
  const others = Object.entries(args).flatMap(([other, argument]) =>
    argument.kind === 'single' ? [[other, argument] as const] : [],
  )
  return Object.fromEntries([...others, [name, { kind: 'single', ts, value }] as const])
}

/** Intervals without a value are told of too: the one of now, and those behind the last that nobody woke for. */
function expect({ bucketOf, watermarkMs }: Opened, open: Map<number, Open>, now: number): void {
  const current = bucketOf(now)
  const ended = [...open.values()].map(({ to }) => to).filter((to) => to <= now)
  let ts = ended.length === 0 ? now : Math.max(...ended, now - watermarkMs)
  for (let missing = 0; ts < current.from && missing < MAX_OPEN; missing++) {
    const { from, to } = bucketOf(ts)
    if (!open.has(from)) open.set(from, { from, to, sums: {}, hasNews: false })
    ts = to
  }
  if (!open.has(current.from)) open.set(current.from, { ...current, sums: {}, hasNews: false })
}

/** Whether one that stays open is told of now. */
function isDue(opened: Opened, one: Open, now: number): boolean {
  const due = dueAt(opened, one)
  return due !== undefined && due <= now
}

/** Undefined where nothing is to be told. */
function dueAt({ configuration, tools }: Opened, { to, hasNews, toldAt }: Open): number | undefined {
  if (toldAt === undefined) return configuration.produceIntermediateResult ? Number.NEGATIVE_INFINITY : to
  // What was told of it on the way is not what it ends with.
  if (!hasNews) return undefined
  const atEnd = toldAt < to ? to : toldAt + tools.limit('cfReevaluationCheckInterval') * 1000
  if (!configuration.produceIntermediateResult) return atEnd
  return Math.min(atEnd, toldAt + tools.limit('intermediateAggregationIntervalInSecForCF') * 1000)
}

/** Later than now: when it is told of, or forgotten. */
function nextTime(opened: Opened, one: Open, now: number): number {
  const due = dueAt(opened, one)
  const end = one.to + opened.watermarkMs
  return due !== undefined && due > now ? Math.min(due, end) : end
}

function told({ configuration, metrics }: Opened, { from, sums }: Open, { entity }: StepInput): readonly StepResult[] {
  const decimals = configuration.output.decimalsByDefault
  const all = metrics.flatMap(({ name, metric }): [string, JsonValue][] => {
    const sum = sums[name]
    if (sum !== undefined) return [[name, resultOf(metric.function, sum, decimals)]]
    const { defaultValue } = metric
    return defaultValue === undefined || defaultValue === null ? [] : [[name, rounded(defaultValue, decimals)]]
  })
  const values: JsonObject = Object.fromEntries(all)
  return all.length === 0 ? [] : [{ kind: 'values', entity, values, ts: from }]
}
