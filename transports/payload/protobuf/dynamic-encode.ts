/** JSON → a message of a profile's schema, as the platform's calls go to devices (`device-api.md` 5.2). Members that nobody knows are left out. */
import {
  isJsonObject,
  WholeDouble,
  LongDecimal,
  stringifyJson,
  type JsonObject,
  type JsonValue,
} from '../../../model/json.ts'
import type { PayloadSchema, ScalarKind, SchemaField } from '../../../engine/device/gateway.ts'
import { PayloadErrors } from '../errors.ts'
import { MAX_NESTING, tagBytes, varintBytes, WireType } from './wire.ts'

/** Throws UNFIT where a value does not fit its field. */
export function encodePayload(schema: PayloadSchema, object: JsonObject, type = schema.root, depth = 0): Buffer {
  if (depth >= MAX_NESTING) throw PayloadErrors.UNFIT({ field: 'message', value: 'too deep' })
  const parts: Buffer[] = []
  for (const field of schema.types[type]?.values() ?? []) {
    const value = memberOf(object, field.key) ?? memberOf(object, field.name) ?? null
    if (value === null) continue
    if (field.isRepeated && !Array.isArray(value)) throw unfit(field, value)
    for (const each of field.isRepeated && Array.isArray(value) ? value : [value]) {
      const [wireType, bytes] = encoded(schema, field, each, depth)
      parts.push(tagBytes(field.number, wireType), bytes)
    }
  }
  return Buffer.concat(parts)
}

/** Its own: a schema may have a field that is named as what every object has. */
function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function encoded(
  schema: PayloadSchema,
  field: SchemaField,
  value: JsonValue,
  depth: number,
): readonly [number, Buffer] {
  const { type } = field
  if (type.kind === 'message') {
    if (!isJsonObject(value)) throw unfit(field, value)
    return delimited(encodePayload(schema, value, type.type, depth + 1))
  }
  if (type.kind === 'enum') {
    const named = type.values.find(([name]) => name === value)
    return [WireType.VARINT, varintBytes(named === undefined ? whole(field, value, 32, true) : BigInt(named[1]))]
  }
  return scalar(field, type.scalar, value)
}

function scalar(field: SchemaField, kind: ScalarKind, value: JsonValue): readonly [number, Buffer] {
  switch (kind) {
    case 'string':
      return delimited(Buffer.from(textOf(field, value)))
    case 'bytes': {
      const text = textOf(field, value)
      if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw unfit(field, value)
      return delimited(Buffer.from(text, 'base64'))
    }
    case 'bool':
      if (value === true || value === 'true') return [WireType.VARINT, varintBytes(1n)]
      if (value === false || value === 'false') return [WireType.VARINT, varintBytes(0n)]
      throw unfit(field, value)
    case 'double': {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(numberOf(field, value))
      return [WireType.FIXED64, bytes]
    }
    case 'float': {
      const bytes = Buffer.alloc(4)
      bytes.writeFloatLE(numberOf(field, value))
      return [WireType.FIXED32, bytes]
    }
    case 'int32':
      return [WireType.VARINT, varintBytes(whole(field, value, 32, true))]
    case 'uint32':
      return [WireType.VARINT, varintBytes(whole(field, value, 32, false))]
    case 'sint32':
      return [WireType.VARINT, varintBytes(zigzag(whole(field, value, 32, true)))]
    case 'int64':
      return [WireType.VARINT, varintBytes(whole(field, value, 64, true))]
    case 'uint64':
      return [WireType.VARINT, varintBytes(whole(field, value, 64, false))]
    case 'sint64':
      return [WireType.VARINT, varintBytes(zigzag(whole(field, value, 64, true)))]
    case 'fixed32':
    case 'sfixed32': {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(Number(BigInt.asUintN(32, whole(field, value, 32, kind === 'sfixed32'))))
      return [WireType.FIXED32, bytes]
    }
    case 'fixed64':
    case 'sfixed64': {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(BigInt.asUintN(64, whole(field, value, 64, kind === 'sfixed64')))
      return [WireType.FIXED64, bytes]
    }
  }
}

/** Numbers and flags are taken as they are written. */
function textOf(field: SchemaField, value: JsonValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && !isNumber(value)) throw unfit(field, value)
  return stringifyJson(value)
}

function numberOf(field: SchemaField, value: JsonValue): number {
  if (value === 'NaN') return NaN
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = isText || isNumber(value) ? Number(value instanceof LongDecimal ? value.value : value) : NaN
  if (Number.isNaN(number)) throw unfit(field, value)
  return number
}

/** Throws UNFIT for what is no whole number of so many bits. */
function whole(field: SchemaField, value: JsonValue, bits: number, isSigned: boolean): bigint {
  const text = typeof value === 'string' ? value : isNumber(value) ? stringifyJson(value) : ''
  const isPlain = /^-?\d{1,20}$/.test(text)
  const number = isPlain ? BigInt(text) : numberOf(field, value)
  if (typeof number === 'number' && !Number.isSafeInteger(number)) throw unfit(field, value)
  const exact = BigInt(number)
  if ((isSigned ? BigInt.asIntN(bits, exact) : BigInt.asUintN(bits, exact)) !== exact) throw unfit(field, value)
  return exact
}

function isNumber(value: JsonValue): value is number | bigint | WholeDouble | LongDecimal {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof WholeDouble ||
    value instanceof LongDecimal
  )
}

function delimited(bytes: Buffer): readonly [number, Buffer] {
  return [WireType.BYTES, Buffer.concat([varintBytes(BigInt(bytes.length)), bytes])]
}

function zigzag(value: bigint): bigint {
  return value < 0n ? -2n * value - 1n : 2n * value
}

const SHOWN_CHARACTERS = 200

function unfit({ name }: SchemaField, value: JsonValue): Error {
  return PayloadErrors.UNFIT({ field: name, value: stringifyJson(value).slice(0, SHOWN_CHARACTERS) })
}
