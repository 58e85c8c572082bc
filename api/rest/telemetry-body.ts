/** Bodies of the saving calls, to typed entries; what a key may be the services check. Source: `rest-api.md` 4.5 and 4.6. */
import { z } from 'zod'
import { entriesOf, timestampOf, type ConversionOptions } from '../../model/entry-json.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { parseLenientJson } from '../../model/lenient-json.ts'
import type { Entry, TelemetryGroup } from '../../model/value.ts'
import { TelemetryRouteErrors } from './telemetry-errors.ts'

const textBody = z.custom<string>((body) => typeof body === 'string')
/** Texts, for the API description; {@link telemetryOf} and {@link attributesOf} read them. */
export const SERIES_BODY = textBody.meta({
  description: '{"key": value}, {"ts": milliseconds, "values": {"key": value}}, or an array of either',
})
export const ATTRIBUTES_BODY = textBody.meta({ type: 'object', description: 'Values by their keys' })

/** Telemetry: `{"k":v}`, `{"ts":ms,"values":{…}}`, or an array of either. Groups without a time get `now`. */
export function telemetryOf(text: string, now: number, castStrings: boolean): readonly TelemetryGroup[] {
  const body = parsed(text, () => TelemetryRouteErrors.SERIES_NOT_JSON())
  const items = Array.isArray(body) ? body : [body]
  const groups = items.map((item) => groupOf(item, now, castStrings)).filter(({ entries }) => entries.length > 0)
  if (groups.length === 0) throw TelemetryRouteErrors.SERIES_EMPTY()
  return groups
}

function groupOf(item: JsonValue, now: number, castStrings: boolean): TelemetryGroup {
  if (!isJsonObject(item))
    throw TelemetryRouteErrors.SERIES_INVALID({ reason: `Can't parse value: ${stringifyJson(item)}` })
  if (!('ts' in item && 'values' in item)) return { ts: now, entries: seriesEntries(item, castStrings) }
  const { values } = item
  const ts = timestampOf(item['ts'] ?? null)
  if (ts === undefined || !Number.isSafeInteger(ts)) {
    throw TelemetryRouteErrors.SERIES_INVALID({ reason: 'ts must be a number of milliseconds' })
  }
  if (!isJsonObject(values)) throw TelemetryRouteErrors.SERIES_INVALID({ reason: 'values must be an object' })
  return { ts, entries: seriesEntries(values, castStrings) }
}

function seriesEntries(object: JsonObject, castStrings: boolean): readonly Entry[] {
  return converted(object, castStrings, (reason) => TelemetryRouteErrors.SERIES_INVALID({ reason }))
}

/** Attributes: one flat object. */
export function attributesOf(text: string, castStrings: boolean): readonly Entry[] {
  const body = parsed(text, () => TelemetryRouteErrors.ATTRIBUTES_NOT_JSON())
  if (!isJsonObject(body)) throw TelemetryRouteErrors.ATTRIBUTES_NO_OBJECT()
  if (Object.keys(body).length === 0) throw TelemetryRouteErrors.ATTRIBUTES_EMPTY()
  return converted(body, castStrings, (reason) => TelemetryRouteErrors.ATTRIBUTE_INVALID({ reason }))
}

function parsed(text: string, refuse: () => Error): JsonValue {
  try {
    return parseLenientJson(text)
  } catch (error) {
    if (isMillraceError(error)) throw refuse()
    throw error
  }
}

function converted(object: JsonObject, castStrings: boolean, refuse: (reason: string) => Error): readonly Entry[] {
  const options: ConversionOptions = { castStrings, nulls: 'refuse' }
  try {
    return entriesOf(object, options)
  } catch (error) {
    if (isMillraceError(error)) throw refuse(error.message)
    throw error
  }
}
