/**
 * The points in a message's body: flat values, `{ts,values}`, or an array of both (`rule-engine.md` 1.3). Devices' uploads come
 * with their entries known; this reads what a script or another node has made of a body.
 */
import { entriesOf } from '../../model/entry-json.ts'
import type { ConversionOptions } from '../../model/entry-json.ts'
import { LongDecimal, WholeDouble } from '../../model/json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { DataPoint, Entry } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'

const HTML = /<[a-z!/?]/i

/** Points without a time of their own get `defaultTs`. Throws `BODY_EMPTY`, `BODY_SHAPE`, `KEY_INVALID` and what the conversion throws. */
export function pointsOf(message: Message, defaultTs: number, options: ConversionOptions): readonly DataPoint[] {
  const known = message.entries()
  const points =
    known === undefined ? parsedPoints(message.json(), defaultTs, options) : known.map((entry) => at(entry, defaultTs))
  if (points.length === 0) throw NodeErrors.BODY_EMPTY({ body: message.data })
  for (const point of points) checkKey(point.key)
  return points
}

/** Throws `KEY_INVALID` for a blank key and for one that would be markup where it is shown. */
export function checkKey(key: string): void {
  if (key.trim() === '') throw NodeErrors.KEY_INVALID({ key, reason: 'blank' })
  if (key.includes('<') && HTML.test(key)) throw NodeErrors.KEY_INVALID({ key, reason: 'malformed: it contains HTML' })
}

function parsedPoints(body: JsonValue, defaultTs: number, options: ConversionOptions): DataPoint[] {
  const points: DataPoint[] = []
  for (const element of Array.isArray(body) ? body : [body]) {
    if (!isObject(element)) throw NodeErrors.BODY_SHAPE({ reason: 'expected an object or an array of objects' })
    const ts = element['ts']
    const values = element['values']
    const isTimed = ts !== undefined && values !== undefined
    if (isTimed && !isObject(values)) throw NodeErrors.BODY_SHAPE({ reason: "'values' is not an object" })
    const entries = entriesOf(isTimed && isObject(values) ? values : element, options)
    const entryTs = isTimed ? timeOf(ts) : defaultTs
    for (const entry of entries) points.push(at(entry, entryTs))
  }
  return points
}

function at(entry: Entry, ts: number): DataPoint {
  return { ...entry, ts }
}

/** Decimals are truncated, texts of digits accepted (`device-api.md` 2.1). */
function timeOf(value: JsonValue): number {
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
  const ts = isNumeric || value instanceof WholeDouble ? Math.trunc(Number(value)) : Number.NaN
  if (!Number.isSafeInteger(ts)) throw NodeErrors.BODY_SHAPE({ reason: "'ts' is not a time in milliseconds" })
  return ts
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  return !(value instanceof WholeDouble) && !(value instanceof LongDecimal)
}
