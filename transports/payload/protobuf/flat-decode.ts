/**
 * The fast road of telemetry in Protobuf: a message of scalars, or `ts` and `values` of one, straight from the bytes into entries and their
 * text, with no object in between. It takes only what is beyond doubt (known fields in the order of their numbers, each once, no default to
 * fill in) and leaves everything else to `decodePayload`. The test beside it holds both roads against each other.
 */
import { javaDouble } from '../../../model/json.ts'
import { LAST_TS, type Entry } from '../../../model/value.ts'
import type { PayloadSchema, ScalarKind, SchemaField, SchemaType, UploadGroup } from '../../../engine/device/gateway.ts'
import { LONGEST_FAST_KEY } from '../flat-json.ts'
import { scalarOf, wireTypeOf } from './dynamic-decode.ts'
import { WireReader } from './wire.ts'

/** Tags of one byte. */
const MAX_TAG = 0x7f
const LIKE_A_NUMBER = /^[-.\d]/

interface FlatField {
  readonly key: string
  /** The key as it stands in JSON, with its colon. */
  readonly quoted: string
  readonly scalar: ScalarKind
  readonly place: number
  readonly hasPresence: boolean
}

interface FlatMessage {
  readonly byTag: readonly (FlatField | undefined)[]
  /** Fields that have a default where they are absent. */
  readonly filledIn: number
}

interface FlatUpload {
  readonly root: FlatMessage
  /** The tag of the message that holds the values; undefined where the root does. */
  readonly valuesTag: number | undefined
  readonly values: FlatMessage
}

const PLANS = new WeakMap<PayloadSchema, FlatUpload | 'none'>()

/** One group with its text; undefined where `decodePayload` must decide. Throws NOT_PROTOBUF. */
export function readFlat(schema: PayloadSchema, bytes: Buffer, castStrings: boolean): UploadGroup | undefined {
  let plan = PLANS.get(schema)
  if (plan === undefined) PLANS.set(schema, (plan = planOf(schema) ?? 'none'))
  if (plan === 'none') return undefined
  const reader = new WireReader(bytes)
  if (plan.valuesTag === undefined) return readMessage(plan.values, reader, castStrings)
  let ts: number | undefined
  let group: UploadGroup | undefined
  while (reader.position < reader.end) {
    const tag = reader.shortTag()
    if (tag === plan.valuesTag) {
      if (group !== undefined) return undefined
      group = readMessage(plan.values, reader.delimited(), castStrings)
      if (group === undefined) return undefined
    } else {
      const field = plan.root.byTag[tag]
      if (field === undefined || ts !== undefined) return undefined
      const value = Number(scalarOf(field.scalar, reader))
      if (!(Math.abs(value) <= LAST_TS)) return undefined
      ts = value === 0 ? 0 : value
    }
  }
  return ts === undefined || group === undefined ? undefined : { ...group, ts }
}

function readMessage(message: FlatMessage, reader: WireReader, castStrings: boolean): UploadGroup | undefined {
  const entries: Entry[] = []
  let json = '{'
  let last = -1
  let filledIn = 0
  while (reader.position < reader.end) {
    const field = message.byTag[reader.shortTag()]
    if (field === undefined || field.place <= last) return undefined
    last = field.place
    if (!field.hasPresence) filledIn++
    const entry = entryOf(field, reader, castStrings)
    if (entry === undefined) return undefined
    if (entries.length > 0) json += ','
    json += field.quoted + textOf(entry)
    entries.push(entry)
  }
  return filledIn < message.filledIn ? undefined : { ts: undefined, entries, json: json + '}' }
}

function entryOf({ key, scalar }: FlatField, reader: WireReader, castStrings: boolean): Entry | undefined {
  if (scalar === 'double') {
    const value = reader.double()
    return Number.isFinite(value) ? { key, type: 'DOUBLE', value } : undefined
  }
  const value = scalarOf(scalar, reader)
  if (typeof value === 'boolean') return { key, type: 'BOOLEAN', value }
  if (typeof value === 'number') return { key, type: scalar === 'float' ? 'DOUBLE' : 'LONG', value }
  if (typeof value === 'object') return { key, type: 'DOUBLE', value: value.value }
  if (scalar === 'string') return castStrings && LIKE_A_NUMBER.test(value) ? undefined : { key, type: 'STRING', value }
  const number = Number(value)
  return castStrings && Number.isSafeInteger(number) ? { key, type: 'LONG', value: number } : undefined
}

function textOf(entry: Entry): string {
  switch (entry.type) {
    case 'DOUBLE':
      return javaDouble(entry.value)
    case 'STRING':
      return JSON.stringify(entry.value)
    default:
      return String(entry.value)
  }
}

function planOf({ types, root }: PayloadSchema): FlatUpload | undefined {
  const fields = types[root]
  if (fields === undefined) return undefined
  const values = flatMessage(fields)
  if (values !== undefined) return { root: values, valuesTag: undefined, values }
  const [time, held] = ['ts', 'values'].map((key) => [...fields.values()].find((field) => field.key === key))
  if (fields.size !== 2 || time === undefined || held?.type.kind !== 'message' || held.isRepeated) return undefined
  const inner = flatMessage(types[held.type.type] ?? new Map())
  const rootMessage = flatMessage(new Map([[time.number, time]]))
  if (inner === undefined || rootMessage === undefined || !isWhole(time) || tagOf(held) > MAX_TAG) return undefined
  return { root: rootMessage, valuesTag: tagOf(held), values: inner }
}

/** Undefined where a field is more than a scalar, or `ts` or `values` would mean something of their own. */
function flatMessage(fields: SchemaType): FlatMessage | undefined {
  const byTag: (FlatField | undefined)[] = new Array<undefined>(MAX_TAG + 1).fill(undefined)
  const keys = new Set<string>()
  let place = 0
  let filledIn = 0
  for (const field of fields.values()) {
    const { key, type, hasPresence } = field
    const tag = tagOf(field)
    if (type.kind !== 'scalar' || type.scalar === 'bytes' || tag > MAX_TAG) return undefined
    if (field.isRepeated || field.rivals.length > 0 || keys.has(key) || key.length > LONGEST_FAST_KEY) return undefined
    keys.add(key)
    if (!hasPresence) filledIn++
    byTag[tag] = { key, quoted: `${JSON.stringify(key)}:`, scalar: type.scalar, place: place++, hasPresence }
  }
  return keys.has('ts') && keys.has('values') ? undefined : { byTag, filledIn }
}

function isWhole({ type }: SchemaField): boolean {
  return type.kind === 'scalar' && /int|fixed/.test(type.scalar)
}

function tagOf(field: SchemaField): number {
  return field.number * 8 + wireTypeOf(field)
}
