/** Adds the history of the originator to the metadata (`rule-nodes.md` 21). */
import { z } from 'zod'
import { valueJson, valueText } from '../../model/entry-json.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { AGGREGATIONS } from '../../model/telemetry-query.ts'
import type { DataPoint } from '../../model/value.ts'
import type { SeriesQuery } from '../../engine/rulechain/capabilities/history.ts'
import { withMetadata } from '../body.ts'
import { defineNode, orZero, requireField } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern, patterns } from '../pattern.ts'
import { UNIT_MS } from '../time-unit.ts'

const UNITS = ['MILLISECONDS', 'SECONDS', 'MINUTES', 'HOURS', 'DAYS'] as const
const ORDERS = ['ASC', 'DESC'] as const
const FETCH_MODES = ['FIRST', 'LAST', 'ALL'] as const
const MAX_POINTS = 1000

const configurationSchema = z.looseObject({
  latestTsKeyNames: z
    .array(z.string())
    .meta({ title: 'Keys', description: 'Of time series; names may hold patterns.' }),
  fetchMode: z
    .enum(FETCH_MODES)
    .meta({ title: 'Fetch', description: 'FIRST, the oldest value, LAST, the newest, or ALL points as a list.' }),
  orderBy: z.enum(ORDERS).nullish().meta({ title: 'Order', description: 'For ALL: ASC or DESC by time.' }),
  aggregation: z.enum(AGGREGATIONS).nullish().meta({
    title: 'Aggregation',
    description: 'For ALL: one value over the whole interval, with the time of its middle.',
  }),
  limit: z
    .int()
    .nullish()
    .meta({ title: 'Limit', description: `For ALL: 2 to ${MAX_POINTS} points.` }),
  useMetadataIntervalPatterns: orZero(z.boolean(), false).meta({
    title: 'Interval from the message',
    description: 'Use the patterns below instead of the fixed interval.',
  }),
  startInterval: orZero(z.int().min(0), 0).meta({ title: 'Start', description: 'So long before now.' }),
  startIntervalTimeUnit: z.enum(UNITS).nullish().meta({ title: 'Unit', description: 'Of the start.' }),
  endInterval: orZero(z.int().min(0), 0).meta({ title: 'End', description: 'So long before now; exclusive.' }),
  endIntervalTimeUnit: z.enum(UNITS).nullish().meta({ title: 'Unit', description: 'Of the end.' }),
  startIntervalPattern: orZero(z.string(), '').meta({ title: 'Start', description: 'Unix ms, by a pattern.' }),
  endIntervalPattern: orZero(z.string(), '').meta({ title: 'End', description: 'Unix ms, by a pattern.' }),
})

type Configuration = z.output<typeof configurationSchema>

const DEFAULTS = {
  startInterval: 2,
  endInterval: 1,
  startIntervalPattern: '',
  endIntervalPattern: '',
  useMetadataIntervalPatterns: false,
  startIntervalTimeUnit: 'MINUTES',
  endIntervalTimeUnit: 'MINUTES',
  fetchMode: 'FIRST',
  orderBy: 'ASC',
  aggregation: 'NONE',
  limit: MAX_POINTS,
  latestTsKeyNames: [],
}

export const originatorTelemetry = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetTelemetryNode',
  name: 'originator telemetry',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description:
    'Adds values of the originator’s time series from an interval to the metadata: one value in quotes, or a list of {"ts":…,"value":…}. Keys without values are not added.',
  configurationVersion: 2,
  configuration: configurationSchema,
  defaults: DEFAULTS,
  examples: [
    {
      title: 'no values',
      configuration: { ...DEFAULTS, latestTsKeyNames: ['temperature'] },
      given: { data: '{"a":1}' },
      expect: { relations: ['Success'], data: '{"a":1}', metadata: {} },
    },
    {
      title: 'an interval that ends before it starts',
      configuration: { ...DEFAULTS, latestTsKeyNames: ['temperature'], endInterval: 3 },
      given: { data: '{"a":1}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade,
  uses: ['history'],
  create: (configuration, { clock, services }) => {
    requireRunnable(configuration)
    const keysOf = patterns(configuration.latestTsKeyNames)
    const intervalOf = intervalSource(configuration, () => clock.now())
    const shown = configuration.fetchMode === 'ALL' ? listOf : textOf
    return {
      handle: async (message) => {
        const keys = [...new Set(keysOf(message))]
        const interval = intervalOf(message)
        const query = { keys, ...interval, ...wanted(configuration, interval.endTs - interval.startTs) }
        const found =
          interval.startTs === interval.endTs ? [] : await services.history.series(message.originator, query)
        const added = [...found].flatMap(([key, points]) =>
          points.length === 0 ? [] : [[key, shown(points)] as const],
        )
        return { message: withMetadata(message, added), relations: ['Success'] }
      },
    }
  },
})

function requireRunnable({ latestTsKeyNames, fetchMode, limit, orderBy, aggregation }: Configuration): void {
  const node = 'originator telemetry'
  requireField(latestTsKeyNames.length > 0, node, 'latestTsKeyNames', 'at least one is needed')
  if (fetchMode !== 'ALL') return
  const isLimited = typeof limit === 'number' && limit > 1 && limit <= MAX_POINTS
  requireField(isLimited, node, 'limit', `expected 2 to ${MAX_POINTS}`)
  requireField((orderBy ?? null) !== null, node, 'orderBy', `expected one of ${ORDERS.join(', ')}`)
  requireField((aggregation ?? null) !== null, node, 'aggregation', `expected one of ${AGGREGATIONS.join(', ')}`)
}

type Interval = Pick<SeriesQuery, 'startTs' | 'endTs'>

function intervalSource(configuration: Configuration, now: () => number): (message: Message) => Interval {
  const checked = (startTs: number, endTs: number): Interval => {
    if (startTs > endTs) throw NodeErrors.INTERVAL({ reason: `it starts at ${startTs}, after its end at ${endTs}` })
    return { startTs, endTs }
  }
  if (configuration.useMetadataIntervalPatterns) {
    const start = pattern(configuration.startIntervalPattern)
    const end = pattern(configuration.endIntervalPattern)
    return (message) => checked(timeOf(start(message)), timeOf(end(message)))
  }
  const startMs = configuration.startInterval * UNIT_MS[configuration.startIntervalTimeUnit ?? 'MINUTES']
  const endMs = configuration.endInterval * UNIT_MS[configuration.endIntervalTimeUnit ?? 'MINUTES']
  return () => checked(now() - startMs, now() - endMs)
}

function timeOf(text: string): number {
  const time = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(time)) return time
  throw NodeErrors.INTERVAL({ reason: `'${text.slice(0, 100)}' is no time in milliseconds` })
}

function wanted(
  { fetchMode, orderBy, aggregation, limit }: Configuration,
  interval: number,
): Pick<SeriesQuery, 'limit' | 'order' | 'agg' | 'interval'> {
  if (fetchMode !== 'ALL') return { limit: 1, order: fetchMode === 'FIRST' ? 'ASC' : 'DESC', agg: 'NONE' }
  const agg = aggregation ?? 'NONE'
  const asked = { limit: limit ?? MAX_POINTS, order: orderBy ?? 'ASC', agg }
  return agg === 'NONE' ? asked : { ...asked, interval }
}

/** Of one value, in quotes whatever its type (the reference's way). */
function textOf([first]: readonly DataPoint[]): string {
  return JSON.stringify(first === undefined ? '' : valueText(first))
}

function listOf(points: readonly DataPoint[]): string {
  return `[${points.map((point) => `{"ts":${point.ts},"value":${valueJson(point)}}`).join(',')}]`
}

/** Step by step as the reference does it. */
function upgrade(stored: JsonObject, fromVersion: number): JsonObject {
  const configuration: JsonObject = { ...stored }
  if (fromVersion < 1) {
    const mode = configuration['fetchMode']
    const known = FETCH_MODES.find((each) => each === mode) ?? 'LAST'
    configuration['fetchMode'] = known
    if (known === 'FIRST') Object.assign(configuration, { orderBy: 'ASC', aggregation: 'NONE' })
    if (known === 'LAST') Object.assign(configuration, { orderBy: 'DESC', aggregation: 'NONE' })
  }
  if (fromVersion < 2) {
    configuration['limit'] ??= MAX_POINTS
    if (configuration['fetchMode'] === 'ALL') {
      configuration['orderBy'] = orElse(configuration['orderBy'], 'ASC')
      configuration['aggregation'] = orElse(configuration['aggregation'], 'NONE')
    }
  }
  return configuration
}

function orElse(value: JsonObject[string] | undefined, absent: string): JsonObject[string] {
  return value === undefined || value === null || value === '' ? absent : value
}
