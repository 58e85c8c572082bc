/** TLV: type, length, value. Source: OMA LwM2M Core 1.0, 6.4.3. */
import { Lwm2mErrors } from '../errors.ts'
import { isValuePath, MAX_ID, Records, type Path, type ValueRecord } from './records.ts'

const Kind = { OBJECT_INSTANCE: 0b00, RESOURCE_INSTANCE: 0b01, MULTIPLE: 0b10, RESOURCE: 0b11 } as const
const WIDE_ID = 0b0010_0000
const LARGEST_LENGTH = 0xff_ffff
const LONGEST_INLINE = 7

interface Element {
  readonly kind: number
  readonly id: number
  readonly value: Buffer
}

export interface TlvResource {
  readonly id: number
  /** Of a multiple resource: by the ids of its instances. */
  readonly value: Buffer | ReadonlyMap<number, Buffer>
}

/** What a device said of `base`, the path that it was asked for. Throws BAD_PAYLOAD, TOO_MANY_VALUES. */
export function decodeTlv(payload: Buffer, base: Path): readonly ValueRecord[] {
  const records = new Records()
  for (const element of elementsOf(payload)) {
    if (element.kind === Kind.OBJECT_INSTANCE) instance(element, base, records)
    else if (element.kind === Kind.RESOURCE_INSTANCE) value(element, [...atDepth(base, 3), element.id], records)
    else resource(element, atDepth(base, 2, 0), records)
  }
  return records.all
}

/** Resources of one instance. */
export function encodeTlv(resources: readonly TlvResource[]): Buffer {
  return Buffer.concat(
    resources.map(({ id, value: content }) => {
      if (Buffer.isBuffer(content)) return elementBytes(Kind.RESOURCE, id, content)
      const inner = [...content].map(([each, bytes]) => elementBytes(Kind.RESOURCE_INSTANCE, each, bytes))
      return elementBytes(Kind.MULTIPLE, id, Buffer.concat(inner))
    }),
  )
}

/** Instances of one object with their ids. */
export function encodeTlvInstances(
  instances: readonly { readonly id: number; readonly resources: readonly TlvResource[] }[],
): Buffer {
  return Buffer.concat(
    instances.map(({ id, resources }) => elementBytes(Kind.OBJECT_INSTANCE, id, encodeTlv(resources))),
  )
}

function instance({ id, value: content }: Element, base: Path, records: Records): void {
  const at = base.length === 1 ? [...base, id] : atDepth(base, 2)
  for (const element of elementsOf(content)) {
    if (element.kind === Kind.RESOURCE || element.kind === Kind.MULTIPLE) resource(element, at, records)
    else throw malformed('an object instance holds resources')
  }
}

function resource(element: Element, base: Path, records: Records): void {
  const path = [...base, element.id]
  if (element.kind === Kind.RESOURCE) return value(element, path, records)
  for (const each of elementsOf(element.value)) {
    if (each.kind !== Kind.RESOURCE_INSTANCE) throw malformed('a multiple resource holds its instances')
    value(each, [...path, each.id], records)
  }
}

function value({ value: bytes }: Element, path: Path, records: Records): void {
  if (!isValuePath(path)) throw malformed('a value stands where none can')
  records.add({ path, value: { kind: 'encoded', bytes } })
}

/** The path down to that depth. A device with one instance may leave its id out. */
function atDepth(base: Path, depth: number, missing?: number): Path {
  const cut = base.slice(0, depth)
  if (cut.length === depth) return cut
  if (cut.length === depth - 1 && missing !== undefined) return [...cut, missing]
  throw malformed('it says less than the path that was asked for')
}

function* elementsOf(bytes: Buffer): Generator<Element> {
  let at = 0
  const uint = (width: number): number => {
    if (at + width > bytes.length) throw malformed('it ends in the middle of a header')
    at += width
    return bytes.readUIntBE(at - width, width)
  }
  while (at < bytes.length) {
    const head = uint(1)
    const id = uint((head & WIDE_ID) === 0 ? 1 : 2)
    const lengthWidth = (head >> 3) & 0b11
    const length = lengthWidth === 0 ? head & 0b111 : uint(lengthWidth)
    if (length > bytes.length - at) throw malformed('a value is longer than what is left')
    yield { kind: head >> 6, id, value: bytes.subarray(at, at + length) }
    at += length
  }
}

function elementBytes(kind: number, id: number, content: Buffer): Buffer {
  const { length } = content
  if (id > MAX_ID || length > LARGEST_LENGTH) throw malformed('it is too large')
  const lengthWidth = length <= LONGEST_INLINE ? 0 : length <= 0xff ? 1 : length <= 0xffff ? 2 : 3
  const idWidth = id <= 0xff ? 1 : 2
  const header = Buffer.alloc(1 + idWidth + lengthWidth)
  const inline = lengthWidth === 0 ? length : 0
  header.writeUInt8((kind << 6) | (idWidth === 2 ? WIDE_ID : 0) | (lengthWidth << 3) | inline)
  header.writeUIntBE(id, 1, idWidth)
  if (lengthWidth > 0) header.writeUIntBE(length, 1 + idWidth, lengthWidth)
  return Buffer.concat([header, content])
}

function malformed(reason: string): Error {
  return Lwm2mErrors.BAD_PAYLOAD({ format: 'TLV', reason })
}
