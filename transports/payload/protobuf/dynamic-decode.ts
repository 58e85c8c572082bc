/** A message of a profile's schema → canonical Protobuf JSON with default values (`device-api.md` 5.2). Throws NOT_PROTOBUF. */
import { WholeDouble, type JsonObject, type JsonValue } from '../../../model/json.ts'
import type { PayloadSchema, ScalarKind, SchemaField } from '../../../engine/device/gateway.ts'
import { PayloadErrors } from '../errors.ts'
import { MAX_NESTING, WireReader, WireType } from './wire.ts'

type Scalar = string | number | boolean | WholeDouble
type Single = Scalar | Decoded
/** By the numbers of fields; of repeated ones all values. */
interface Decoded {
  readonly type: number
  readonly fields: Map<number, Single | Single[]>
}

/** Two bytes can be a message of fifty defaults: what is made of a payload is bounded by its size. */
const GROWTH = 16
const ALWAYS_ALLOWED = 1 << 16
/** Of a value beside its key. */
const VALUE_COST = 8

export function decodePayload(schema: PayloadSchema, bytes: Buffer): JsonObject {
  const decoded = new MessageDecoder(schema).decode(schema.root, new WireReader(bytes), 0)
  return new MessagePrinter(schema, ALWAYS_ALLOWED + GROWTH * bytes.length).print(decoded)
}

class MessageDecoder {
  private readonly schema: PayloadSchema

  constructor(schema: PayloadSchema) {
    this.schema = schema
  }

  /** Fields that nobody knows, or of another wire type, are passed over. A message that is there already is added to. */
  decode(type: number, reader: WireReader, depth: number, into?: Decoded): Decoded {
    if (depth >= MAX_NESTING) throw PayloadErrors.NOT_PROTOBUF({ reason: 'it is nested too deeply' })
    const message: Decoded = into ?? { type, fields: new Map() }
    const known = this.schema.types[type]
    while (reader.position < reader.end) {
      const { number, wireType } = reader.tag()
      const field = known?.get(number)
      if (field === undefined) reader.skip(wireType, number)
      else if (field.isRepeated) this.addRepeated(field, wireType, reader, depth, message)
      else if (wireType !== wireTypeOf(field)) reader.skip(wireType, number)
      else {
        for (const rival of field.rivals) message.fields.delete(rival)
        message.fields.set(number, this.value(field, reader, depth, message.fields.get(number)))
      }
    }
    return message
  }

  private addRepeated(field: SchemaField, wireType: number, reader: WireReader, depth: number, message: Decoded): void {
    const expected = wireTypeOf(field)
    const isPacked = wireType === WireType.BYTES && expected !== WireType.BYTES
    if (wireType !== expected && !isPacked) return reader.skip(wireType, field.number)
    let list = message.fields.get(field.number)
    if (!Array.isArray(list)) message.fields.set(field.number, (list = []))
    if (!isPacked) list.push(this.value(field, reader, depth))
    else for (const part = reader.delimited(); part.position < part.end;) list.push(this.value(field, part, depth))
  }

  private value(field: SchemaField, reader: WireReader, depth: number, before?: Single | Single[]): Single {
    const { type } = field
    switch (type.kind) {
      case 'message': {
        const merged = before !== undefined && isDecoded(before) ? before : undefined
        return this.decode(type.type, reader.delimited(), depth + 1, merged)
      }
      case 'enum': {
        const number = reader.int32()
        return type.values.find(([, value]) => value === number)?.[0] ?? number
      }
      case 'scalar':
        return scalarOf(type.scalar, reader)
    }
  }
}

class MessagePrinter {
  private readonly schema: PayloadSchema
  private left: number

  constructor(schema: PayloadSchema, left: number) {
    this.schema = schema
    this.left = left
  }

  print({ type, fields }: Decoded): JsonObject {
    const object: JsonObject = {}
    for (const field of this.schema.types[type]?.values() ?? []) {
      const value = fields.get(field.number)
      if (value === undefined && field.hasPresence) continue
      this.spend(field.key.length)
      if (value === undefined) object[field.key] = field.isRepeated ? [] : defaultOf(field)
      else if (!Array.isArray(value)) object[field.key] = this.printed(value)
      else object[field.key] = value.map((each) => this.printedElement(each))
    }
    return object
  }

  private printedElement(value: Single): JsonValue {
    this.spend(0)
    return this.printed(value)
  }

  private printed(value: Single): JsonValue {
    return isDecoded(value) ? this.print(value) : value
  }

  private spend(characters: number): void {
    this.left -= characters + VALUE_COST
    if (this.left < 0) throw PayloadErrors.NOT_PROTOBUF({ reason: 'it grows too large with its default values' })
  }
}

function isDecoded(value: Single | Single[]): value is Decoded {
  return typeof value === 'object' && 'fields' in value
}

export function wireTypeOf({ type }: SchemaField): number {
  if (type.kind === 'message') return WireType.BYTES
  if (type.kind === 'enum') return WireType.VARINT
  return SCALAR_WIRE_TYPES[type.scalar]
}

const SCALAR_WIRE_TYPES: Readonly<Record<ScalarKind, number>> = {
  double: WireType.FIXED64,
  float: WireType.FIXED32,
  int32: WireType.VARINT,
  int64: WireType.VARINT,
  uint32: WireType.VARINT,
  uint64: WireType.VARINT,
  sint32: WireType.VARINT,
  sint64: WireType.VARINT,
  fixed32: WireType.FIXED32,
  fixed64: WireType.FIXED64,
  sfixed32: WireType.FIXED32,
  sfixed64: WireType.FIXED64,
  bool: WireType.VARINT,
  string: WireType.BYTES,
  bytes: WireType.BYTES,
}

/** Integers of 64 bits are texts, as canonical JSON has them. */
export function scalarOf(kind: ScalarKind, reader: WireReader): Scalar {
  switch (kind) {
    case 'double':
      return decimal(reader.double())
    case 'float':
      return decimal(shortest(reader.float()))
    case 'int32':
      return reader.int32()
    case 'uint32':
      return reader.int32() >>> 0
    case 'sint32':
      return unzigzag32(reader.int32())
    case 'int64':
      return reader.signedText()
    case 'uint64':
      return `${reader.varint()}`
    case 'sint64':
      return `${BigInt.asIntN(64, unzigzag(reader.varint()))}`
    case 'fixed32':
      return reader.fixed(4).readUInt32LE()
    case 'sfixed32':
      return reader.fixed(4).readInt32LE()
    case 'fixed64':
      return `${reader.fixed(8).readBigUInt64LE()}`
    case 'sfixed64':
      return `${reader.fixed(8).readBigInt64LE()}`
    case 'bool':
      return reader.bool()
    case 'string':
      return reader.delimited().text()
    case 'bytes':
      return reader.delimited().rest().toString('base64')
  }
}

function defaultOf({ type }: SchemaField): JsonValue {
  if (type.kind === 'enum') return type.values[0]?.[0] ?? 0
  if (type.kind === 'message') return null
  switch (type.scalar) {
    case 'string':
    case 'bytes':
      return ''
    case 'bool':
      return false
    case 'double':
    case 'float':
      return new WholeDouble(0)
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      return '0'
    default:
      return 0
  }
}

/** A whole one stays a decimal number. */
function decimal(value: number): Scalar {
  if (!Number.isFinite(value)) return `${value}`
  return Number.isInteger(value) ? new WholeDouble(value) : value
}

/** The shortest decimal number that is this one in 32 bits. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits))
    if (Math.fround(rounded) === value) return rounded
  }
  return value
}

function unzigzag32(value: number): number {
  return (value >>> 1) ^ -(value & 1)
}

function unzigzag(value: bigint): bigint {
  return (value >> 1n) ^ -(value & 1n)
}
