/** Points as they travel: some of one series, each with its type, so that nothing of a value is lost. */
import { z } from 'zod'
import { fitsLong, longValue, type DataPoint, type TypedValue } from '../../model/value.ts'
import { TelemetryErrors } from '../errors.ts'
import { checkKey } from '../names.ts'
import { TenantTransferErrors } from './errors.ts'

/** Where rows of it stand among the tables. */
export const SERIES = 'series'

export interface SeriesRow {
  /** The table of the entity. */
  readonly of: string
  readonly entityId: string
  readonly key: string
  /** In the order of their times. */
  readonly points: readonly DataPoint[]
  /** In the last row of a series. */
  readonly latest: DataPoint | undefined
}

const MAX_TS = 8.64e15
const pointSchema = z.tuple([
  z.int().min(-MAX_TS).max(MAX_TS),
  z.enum(['BOOLEAN', 'LONG', 'DOUBLE', 'STRING', 'JSON']),
  z.string(),
])
type SentPoint = z.infer<typeof pointSchema>
const rowSchema = z.object({
  of: z.string(),
  entity_id: z.uuid(),
  key: z.string(),
  points: z.array(pointSchema),
  latest: pointSchema.optional(),
})

/** The entity's id stands first of all ids: what values say is theirs. */
export function seriesText({ of, entityId, key, points, latest }: SeriesRow): string {
  return JSON.stringify({
    ...{ of, entity_id: entityId, key, points: points.map(sentOf) },
    ...(latest === undefined ? {} : { latest: sentOf(latest) }),
  })
}

/** Throws `ROW`. */
export function seriesIn(text: string): SeriesRow {
  try {
    const { of, entity_id: entityId, key, points, latest } = rowSchema.parse(JSON.parse(text))
    checkKey(key, TelemetryErrors.KEY_EMPTY)
    const read = points.map((point) => pointOf(key, point))
    for (const [place, { ts }] of read.entries())
      if (ts <= (read[place - 1]?.ts ?? -Infinity))
        throw new RangeError('its points are not in the order of their times')
    return { of, entityId, key, points: read, latest: latest && pointOf(key, latest) }
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : ''
    throw TenantTransferErrors.ROW({ table: SERIES, reason }, error)
  }
}

function sentOf({ ts, type, value }: DataPoint): SentPoint {
  return [ts, type, Object.is(value, -0) ? '-0' : String(value)]
}

function pointOf(key: string, [ts, type, text]: SentPoint): DataPoint {
  return { key, ts, ...valueOf(type, text) }
}

function valueOf(type: TypedValue['type'], text: string): TypedValue {
  switch (type) {
    case 'BOOLEAN':
      if (text !== 'true' && text !== 'false') throw new RangeError(`${text} is no BOOLEAN`)
      return { type, value: text === 'true' }
    case 'LONG':
      if (!/^-?\d{1,19}$/.test(text) || !fitsLong(BigInt(text))) throw new RangeError(`${text} is no LONG`)
      return { type, value: longValue(BigInt(text)) }
    case 'DOUBLE':
      if (!/^(NaN|-?(Infinity|\d+(\.\d+)?(e[+-]?\d+)?))$/.test(text)) throw new RangeError(`${text} is no DOUBLE`)
      return { type, value: Number(text) }
    case 'JSON':
      JSON.parse(text)
      return { type, value: text }
    default:
      return { type, value: text }
  }
}
