/** What a client sends, in whichever format: values at paths. */
import { decodeCbor, decodeSenmlCbor } from './codecs/cbor.ts'
import { Format, isValuePath, type Path, type RawValue, type ValueRecord } from './codecs/records.ts'
import { decodeOmaJson } from './codecs/oma-json.ts'
import { decodeSenmlJson } from './codecs/senml-json.ts'
import { decodeTlv } from './codecs/tlv.ts'
import { Lwm2mErrors } from './errors.ts'
import { rawOfPlainText, type ResourceType } from './values.ts'

export interface Sent {
  readonly payload: Buffer
  /** Undefined where the client did not say: text. */
  readonly format: number | undefined
  /** What it was asked for. */
  readonly path: Path
  /** Of the resource there, where that is known. */
  readonly type: ResourceType | undefined
}

/** A promise only where the format's library may have to be loaded. Throws, or rejects, BAD_PAYLOAD, WRONG_VALUE, TOO_MANY_VALUES, UNKNOWN_FORMAT. */
export function decoded({
  payload,
  format = Format.TEXT,
  path,
  type,
}: Sent): readonly ValueRecord[] | Promise<readonly ValueRecord[]> {
  switch (format) {
    case Format.TLV:
      return decodeTlv(payload, path)
    case Format.OMA_JSON:
      return decodeOmaJson(payload, path)
    case Format.SENML_JSON:
      return decodeSenmlJson(payload)
    case Format.SENML_CBOR:
      return decodeSenmlCbor(payload)
    case Format.CBOR:
      return decodeCbor(payload, single(path))
    case Format.OPAQUE:
      return [{ path: single(path), value: { kind: 'bytes', bytes: payload } }]
    case Format.TEXT:
    case Format.LINK:
      return [{ path: single(path), value: textValue(payload.toString('utf8'), type, path) }]
    default:
      throw Lwm2mErrors.UNKNOWN_FORMAT({ format })
  }
}

function textValue(text: string, type: ResourceType | undefined, path: Path): RawValue {
  return type === undefined ? { kind: 'text', value: text } : rawOfPlainText(type, text, path)
}

function single(path: Path): Path {
  if (isValuePath(path)) return path
  throw Lwm2mErrors.BAD_PAYLOAD({ format: 'pack of values', reason: 'it is for one value alone' })
}
