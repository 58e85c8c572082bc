/** Telemetry as a converter returns it: values, `{ts, values}`, or a list of such; as devices send it (`device-api.md` 2.1). */
import { timestampOf } from '../../model/entry-json.ts'
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import { LAST_TS, type Entry } from '../../model/value.ts'
import type { UploadGroup } from '../../engine/device/gateway.ts'

export function withTimes(
  telemetry: JsonValue,
  place: string,
  entriesOf: (value: JsonValue, place: string) => readonly Entry[],
  wrong: (place: string, reason: string) => Error,
): readonly UploadGroup[] {
  const list = Array.isArray(telemetry) ? telemetry : [telemetry]
  return list.map((item, index) => {
    const at = Array.isArray(telemetry) ? `${place}[${index}]` : place
    if (!isJsonObject(item)) throw wrong(at, 'an object is expected')
    if (!('ts' in item && 'values' in item)) return { ts: undefined, entries: entriesOf(item, at) }
    const ts = timeOf(item['ts'] ?? null)
    if (ts === undefined) throw wrong(`${at}.ts`, 'Unix milliseconds are expected')
    return { ts, entries: entriesOf(item['values'] ?? null, `${at}.values`) }
  })
}

function timeOf(value: JsonValue): number | undefined {
  const ts = timestampOf(value)
  return ts !== undefined && Math.abs(ts) <= LAST_TS ? ts : undefined
}
