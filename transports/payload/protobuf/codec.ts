/** Bytes ↔ messages of the platform itself. Source: protobuf.dev, "Encoding". */
import {
  isList,
  type Field,
  type ListType,
  type Message,
  type MessageType,
  type MessageValue,
  type ScalarType,
} from './message-type.ts'
import { tagBytes, varintBytes, WireReader, WireType } from './wire.ts'

/** Fields that nobody knows, or of another wire type, are passed over. Throws NOT_PROTOBUF. */
export function decodeMessage(type: MessageType, bytes: Buffer): Message {
  return decode(type, new WireReader(bytes))
}

/** As deep as the types are. */
function decode(type: MessageType, reader: WireReader): Message {
  const message = new Map<string, MessageValue>()
  while (reader.position < reader.end) {
    const { number, wireType } = reader.tag()
    const field = type.get(number)
    if (field === undefined || wireTypeOf(field.type) !== wireType) reader.skip(wireType, number)
    else if (typeof field.type === 'string') message.set(field.name, scalarOf(field.type, reader))
    else if ('of' in field.type) addTo(message, field.name, field.type.of, reader.delimited())
    else {
      const before = message.get(field.name)
      const next = decode(field.type, reader.delimited())
      message.set(field.name, before instanceof Map ? new Map([...before, ...next]) : next)
    }
  }
  return message
}

function addTo(message: Map<string, MessageValue>, name: string, of: ListType['of'], reader: WireReader): void {
  const next = of === 'string' ? reader.text() : decode(of, reader)
  const list = message.get(name)
  if (Array.isArray(list)) list.push(next)
  else message.set(name, [next])
}

function scalarOf(type: ScalarType, reader: WireReader): string | number | bigint | boolean {
  switch (type) {
    case 'string':
      return reader.delimited().text()
    case 'double':
      return reader.double()
    case 'bool':
      return reader.bool()
    case 'int64':
      return BigInt.asIntN(64, reader.varint())
    case 'int32':
    case 'enum':
      return reader.int32()
  }
}

/** In the order of the fields' numbers; what is not there or has the default of proto3 is left out, but for elements of lists. */
export function encodeMessage(type: MessageType, message: Message): Buffer {
  const parts: Buffer[] = []
  for (const [number, field] of type) {
    const value = message.get(field.name)
    if (value === undefined || value === '' || value === 0 || value === 0n || value === false) continue
    for (const each of isList(value) ? value : [value])
      parts.push(tagBytes(number, wireTypeOf(field.type)), encodeValue(field.type, each))
  }
  return Buffer.concat(parts)
}

type SingleValue = Exclude<MessageValue, readonly (string | Message)[]>

function encodeValue(type: Field['type'], value: SingleValue): Buffer {
  if (typeof value === 'string') return delimited(Buffer.from(value))
  if (type === 'double') {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(Number(value))
    return bytes
  }
  if (typeof value !== 'object') return varintBytes(BigInt(value))
  const own = typeof type === 'object' && 'of' in type ? type.of : type
  if (typeof own === 'string') throw new TypeError(`a message where ${own} is declared`)
  return delimited(encodeMessage(own, value))
}

function delimited(bytes: Buffer): Buffer {
  return Buffer.concat([varintBytes(BigInt(bytes.length)), bytes])
}

function wireTypeOf(type: Field['type']): number {
  if (type === 'double') return WireType.FIXED64
  return type === 'string' || typeof type === 'object' ? WireType.BYTES : WireType.VARINT
}
