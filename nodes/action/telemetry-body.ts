/**
 * The points in a message's body: flat values, `{ts,values}`, or an array of both (`rule-engine.md` 1.3). Devices' uploads come
 * with their entries known; this reads what a script or another node has made of a body.
 */
import { entriesOf, timestampOf } from '../../model/entry-json.ts'
import type { ConversionOptions } from '../../model/entry-json.ts'
import { LongDecimal, WholeDouble } from '../../model/json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { DataPoint, Entry } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'

const HTML = /<[a-z!/?]/i
const LONGEST_KEY = 255

/** Points without a time of their own get `defaultTs`. Throws `BODY_EMPTY`, `BODY_SHAPE`, `KEY_INVALID` and what the conversion throws. */
export function pointsOf(message: Message, defaultTs: number, options: ConversionOptions): readonly DataPoint[] {
  const points = pointsIn(message, defaultTs, options)
  if (points.length === 0) throw NodeErrors.BODY_EMPTY({ body: message.data })
  return points
}

/** Throws what {@link pointsOf} throws of entries that are known: `BODY_EMPTY`, `KEY_INVALID`. */
export function checkEntries(entries: readonly Entry[], { data }: Message): void {
  if (entries.length === 0) throw NodeErrors.BODY_EMPTY({ body: data })
  for (const entry of entries) checkKey(entry.key)
}

/** As {@link pointsOf}, where none are no mistake. */
export function pointsIn(message: Message, defaultTs: number, options: ConversionOptions): readonly DataPoint[] {
  const known = message.entries()
  const points = known === undefined ? parsedPoints(message.json(), defaultTs, options) : pointsAt(known, defaultTs)
  for (const point of points) checkKey(point.key)
  return points
}

/** Points of one time. */
export function pointsAt(entries: readonly Entry[], ts: number): DataPoint[] {
  // Neither room for points that do not come, as `push` makes, nor a closure, as `map` needs.
  const points = new Array<DataPoint>(entries.length)
  let count = 0
  for (const entry of entries) points[count++] = at(entry, ts)
  return points
}

/** Throws `KEY_INVALID` for a blank key, a too long one, and one that would be markup where it is shown (`device-api.md` 2.3). */
export function checkKey(key: string): void {
  // What begins with a printable ASCII character is not blank: the usual key is not trimmed to find out.
  const first = key.charCodeAt(0)
  if (!(first > 0x20 && first < 0x7f) && key.trim() === '') throw NodeErrors.KEY_INVALID({ key, reason: 'blank' })
  if (key.length > LONGEST_KEY) {
    throw NodeErrors.KEY_INVALID({ key: `${key.slice(0, 40)}…`, reason: `longer than ${LONGEST_KEY} characters` })
  }
  if (key.includes('<') && HTML.test(key)) throw NodeErrors.KEY_INVALID({ key, reason: 'malformed: it contains HTML' })
}

function parsedPoints(body: JsonValue, defaultTs: number, options: ConversionOptions): DataPoint[] {
  if (!Array.isArray(body)) return elementPoints(body, defaultTs, options)
  return body.flatMap((element) => elementPoints(element, defaultTs, options))
}

function elementPoints(element: JsonValue, defaultTs: number, options: ConversionOptions): DataPoint[] {
  if (!isObject(element)) throw NodeErrors.BODY_SHAPE({ reason: 'expected an object or an array of objects' })
  const ts = element['ts']
  const values = element['values']
  if (ts === undefined || values === undefined) return entriesOf(element, options).map((entry) => at(entry, defaultTs))
  if (!isObject(values)) throw NodeErrors.BODY_SHAPE({ reason: "'values' is not an object" })
  const ownTs = timeOf(ts)
  return entriesOf(values, options).map((entry) => at(entry, ownTs))
}

/** Spelled out: a copy by `...entry` takes twice the memory, since `ts` finds no place in it (benchmarks/rule-chain). */
function at(entry: Entry, ts: number): DataPoint {
  const { key } = entry
  switch (entry.type) {
    case 'BOOLEAN':
      return { key, type: entry.type, value: entry.value, ts }
    case 'LONG':
      return { key, type: entry.type, value: entry.value, ts }
    case 'DOUBLE':
      return { key, type: entry.type, value: entry.value, ts }
    case 'STRING':
      return { key, type: entry.type, value: entry.value, ts }
    case 'JSON':
      return { key, type: entry.type, value: entry.value, ts }
  }
}

function timeOf(value: JsonValue): number {
  const ts = timestampOf(value)
  if (ts === undefined || !Number.isSafeInteger(ts))
    throw NodeErrors.BODY_SHAPE({ reason: "'ts' is not a time in milliseconds" })
  return ts
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  return !(value instanceof WholeDouble) && !(value instanceof LongDecimal)
}
