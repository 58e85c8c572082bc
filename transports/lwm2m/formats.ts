/** In which format a client is asked and written to. Source: `device-api.md` 13.7. */
import { encodeSenmlCbor } from './codecs/cbor.ts'
import { Format, isValuePath, type Path, type RawValue } from './codecs/records.ts'
import { encodeOmaJson } from './codecs/oma-json.ts'
import { encodeSenmlJson } from './codecs/senml-json.ts'
import { encodeTlv, encodeTlvInstances, type TlvResource } from './codecs/tlv.ts'
import type { Registration } from './registrations.ts'
import { plainText, tlvBytes, type ResourceType } from './values.ts'

export interface WrittenValue {
  readonly path: Path
  readonly type: ResourceType
  readonly value: RawValue
}

type Client = Pick<Registration, 'version' | 'offer'>

const OF_ONE: readonly number[] = [Format.SENML_CBOR, Format.SENML_JSON]
const OF_MANY: readonly number[] = [Format.SENML_CBOR, Format.SENML_JSON, Format.TLV, Format.OMA_JSON]

/** Of one value, by its type where that is known. */
export function formatOfOne({ version, offer: { formats } }: Client, type: ResourceType | undefined): number {
  if (type === 'OPAQUE' && formats.includes(Format.OPAQUE)) return Format.OPAQUE
  return OF_ONE.find((each) => formats.includes(each)) ?? (version === '1.0' ? Format.TLV : Format.TEXT)
}

/** Of an object, an instance, or a resource with instances. */
export function formatOfMany({ version, offer: { formats } }: Client): number {
  return version === '1.0' ? Format.TLV : (OF_MANY.find((each) => formats.includes(each)) ?? Format.TLV)
}

/** Of several paths at once; undefined where it knows no such thing. */
export function formatOfComposite({ version, offer: { formats } }: Client): number | undefined {
  return version === '1.0' ? undefined : OF_ONE.find((each) => formats.includes(each))
}

/** Paths alone, in a format of composite requests. */
export function encodeNames(format: number, paths: readonly Path[]): Promise<Buffer> | Buffer {
  const named = paths.map((path) => ({ path }))
  return format === Format.SENML_CBOR ? encodeSenmlCbor(named) : encodeSenmlJson(named)
}

/** In TLV alone an instance needs no name. */
export function formatOfCreation(client: Client, isUnnamed: boolean): number {
  const isTlv = isUnnamed && client.offer.formats.includes(Format.TLV)
  return isTlv ? Format.TLV : formatOfMany(client)
}

/** New instances of one object. `isUnnamed`: of one, whose id the client picks. */
export async function encodeInstances(
  format: number,
  values: readonly WrittenValue[],
  isUnnamed: boolean,
): Promise<Buffer> {
  if (format !== Format.TLV || isUnnamed) return encodeValues(format, values)
  const instances = Map.groupBy(values, ({ path: [, instanceId = 0] }) => instanceId)
  return encodeTlvInstances([...instances].map(([id, of]) => ({ id, resources: tlvResources(of) })))
}

/** Values below one instance, as the client is sent them. */
export async function encodeValues(format: number, values: readonly WrittenValue[]): Promise<Buffer> {
  const [first] = values
  switch (format) {
    case Format.SENML_CBOR:
      return encodeSenmlCbor(values)
    case Format.SENML_JSON:
      return encodeSenmlJson(values)
    case Format.OMA_JSON:
      return encodeOmaJson(values)
    case Format.TLV:
      return encodeTlv(tlvResources(values))
    case Format.OPAQUE:
    case Format.TEXT:
      if (first !== undefined && values.length === 1 && isValuePath(first.path))
        return format === Format.TEXT ? Buffer.from(plainText(first.value)) : tlvBytes(first.type, first.value)
  }
  throw new Error(`${values.length} values can not be written in format ${format}`)
}

function tlvResources(values: readonly WrittenValue[]): readonly TlvResource[] {
  const resources = new Map<number, Buffer | Map<number, Buffer>>()
  for (const { path, type, value } of values) {
    const [, , resourceId = 0, instanceId] = path
    if (instanceId === undefined) {
      resources.set(resourceId, tlvBytes(type, value))
      continue
    }
    const known = resources.get(resourceId)
    const instances = known instanceof Map ? known : new Map<number, Buffer>()
    resources.set(resourceId, instances.set(instanceId, tlvBytes(type, value)))
  }
  return [...resources].map(([id, value]) => ({ id, value }))
}
