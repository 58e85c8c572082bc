/**
 * The one JSON decoder of device payloads: telemetry in all its shapes, attributes, attribute requests. Source: `device-api.md`
 * sections 2 and 3.5. Every function throws `invalid` errors (`payload.*`, `json.*`, `entry.*`) and takes nothing then.
 */
import { isUtf8 } from 'node:buffer'
import { entriesOf, timestampOf } from '../../model/entry-json.ts'
import { LongDecimal, WholeDouble, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { LAST_TS, type Entry } from '../../model/value.ts'
import type { AttributeRequest, UploadGroup } from '../../engine/device/gateway.ts'
import { PayloadErrors } from './errors.ts'
import { FlatJsonReader, LONGEST_FAST_KEY, type NamedUpload } from './flat-json.ts'
import { parseLenientJson } from '../../model/lenient-json.ts'
import type { PayloadLimits } from './limits.ts'

const SHOWN_CHARACTERS = 200

export class JsonPayloadDecoder {
  private readonly flat = new FlatJsonReader()
  readonly limits: PayloadLimits
  private readonly conversion: { readonly castStrings: boolean; readonly nulls: 'skip' }
  /** The fast road knows no bound on texts and none on keys below its own. */
  readonly fastRoad: boolean

  constructor(limits: PayloadLimits) {
    this.limits = limits
    this.fastRoad = limits.maxStringLength === 0 && limits.maxKeyLength >= LONGEST_FAST_KEY
    this.conversion = { castStrings: limits.castStrings, nulls: 'skip' }
  }

  /** The payload between two offsets. One group an element, in order; `[]` is no group. Flat elements have no time of their own. */
  telemetry(bytes: Buffer, start = 0, end = bytes.length): readonly UploadGroup[] {
    const fast = this.fastRoad ? this.flat.read(bytes, this.limits.castStrings, start, end) : undefined
    if (fast !== undefined && fast.entries.length <= this.limits.maxEntries) return [fast]
    return this.telemetryOf(parseBody(bytes.subarray(start, end)))
  }

  /** What a gateway sends of one device, where it is plain; undefined where it must be parsed. */
  namedTelemetry(body: Buffer): NamedUpload | undefined {
    const named = this.fastRoad ? this.flat.readNamed(body, this.limits.castStrings) : undefined
    if (named === undefined || named.name.trim() === '') return undefined
    const entries = named.groups.reduce((sum, group) => sum + Math.max(1, group.entries.length), 0)
    return entries <= this.limits.maxEntries ? named : undefined
  }

  /** Of what was parsed. */
  telemetryOf(value: JsonValue): readonly UploadGroup[] {
    const groups: UploadGroup[] = []
    let entries = 0
    for (const element of Array.isArray(value) ? value : [value]) {
      if (!isObject(element)) throw wrongShape(value)
      const group = this.group(element)
      entries += Math.max(1, group.entries.length)
      if (entries > this.limits.maxEntries) throw PayloadErrors.TOO_MANY_ENTRIES({ limit: this.limits.maxEntries })
      groups.push(group)
    }
    return groups
  }

  attributes(body: Buffer): readonly Entry[] {
    const fast = this.fastRoad ? this.flat.read(body, this.limits.castStrings) : undefined
    if (fast?.ts === undefined && fast !== undefined && fast.entries.length <= this.limits.maxEntries)
      return fast.entries
    return this.attributesOf(parseBody(body))
  }

  /** Of what was parsed. */
  attributesOf(value: JsonValue): readonly Entry[] {
    if (!isObject(value)) throw wrongShape(value)
    const entries = this.entries(value)
    if (entries.length > this.limits.maxEntries) throw PayloadErrors.TOO_MANY_ENTRIES({ limit: this.limits.maxEntries })
    return entries
  }

  /** `{"clientKeys":"a,b","sharedKeys":"c"}`; neither member asks for everything, one of them for its scope only. */
  attributeRequest(body: Buffer): AttributeRequest {
    let value = parseBody(body)
    if (Array.isArray(value) && value.length === 1) value = value[0] ?? null
    if (!isObject(value)) throw wrongShape(value)
    return attributeRequestOf(keyList(value['clientKeys']), keyList(value['sharedKeys']))
  }

  /** What a device calls, and the JSON text that the rule engine gets of it. Throws `invalid` where there is no method. */
  serverCall(body: Buffer): { readonly method: string; readonly hasParams: boolean; readonly data: string } {
    const value = parseBody(body)
    const method = isObject(value) ? value['method'] : undefined
    if (!isObject(value) || typeof method !== 'string') throw wrongShape(value)
    return { method, hasParams: 'params' in value, data: stringifyJson({ method, params: value['params'] ?? null }) }
  }

  private group(element: JsonObject): UploadGroup {
    if (!('ts' in element && 'values' in element)) return { ts: undefined, entries: this.entries(element) }
    const values = element['values'] ?? null
    if (!isObject(values)) throw wrongShape(element)
    return { ts: timeOf(element['ts'] ?? null), entries: this.entries(values) }
  }

  private entries(object: JsonObject): Entry[] {
    const entries = entriesOf(object, this.conversion)
    const { maxKeyLength, maxStringLength } = this.limits
    for (const entry of entries) {
      if (entry.key.length > maxKeyLength) {
        throw PayloadErrors.KEY_TOO_LONG({ length: entry.key.length, limit: maxKeyLength })
      }
      if (maxStringLength > 0 && entry.type === 'STRING' && entry.value.length > maxStringLength) {
        throw PayloadErrors.STRING_TOO_LONG({ key: entry.key, length: entry.value.length, limit: maxStringLength })
      }
    }
    return entries
  }
}

/** Undefined and empty lists alike ask for nothing; nothing asked of either scope means everything (`device-api.md` 3.5, 6). */
export function attributeRequestOf(
  clientKeys: readonly string[] | undefined,
  sharedKeys: readonly string[] | undefined,
): AttributeRequest {
  if (clientKeys === undefined && sharedKeys === undefined) return { clientKeys: 'all', sharedKeys: 'all' }
  return { clientKeys, sharedKeys }
}

/** Splits a comma list as the reference does: no trimming; a text without a key is no list. */
export function splitKeys(text: string): readonly string[] | undefined {
  const keys = text.split(',').filter((key) => key !== '')
  return keys.length === 0 ? undefined : keys
}

/** Throws `invalid`. */
export function parseBody(body: Buffer): JsonValue {
  if (!isUtf8(body)) throw PayloadErrors.NOT_TEXT()
  const text = body.toString('utf8')
  if (text.trim() === '') throw PayloadErrors.EMPTY()
  return parseLenientJson(text)
}

function isObject(value: JsonValue): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof WholeDouble) &&
    !(value instanceof LongDecimal)
  )
}

function timeOf(value: JsonValue): number {
  const ts = timestampOf(value)
  if (ts === undefined || !(Math.abs(ts) <= LAST_TS)) throw PayloadErrors.BAD_TIME({ value: shown(value) })
  return ts
}

/** A list of one is as the text in it, as the reference reads it. */
function keyList(value: JsonValue | undefined): readonly string[] | undefined {
  const list = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (list === undefined || list === null) return undefined
  if (typeof list !== 'string') throw wrongShape(list)
  // A member that is there asks for its scope alone: empty, for the one key that it names, which nobody has.
  return list === '' ? [''] : splitKeys(list)
}

function wrongShape(value: JsonValue): Error {
  return PayloadErrors.WRONG_SHAPE({ value: shown(value) })
}

function shown(value: JsonValue): string {
  const text = stringifyJson(value)
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}
