/** What every format of LwM2M says, whatever its bytes look like: values at paths. Source: OMA LwM2M Core 1.1, 7.4. */
import { Lwm2mErrors } from '../errors.ts'

/** Object, instance, resource, resource instance: as many of them as it is deep. */
export type Path = readonly number[]

/** `encoded`: bytes whose meaning the type of the resource tells. `bytes`: opaque. `link`: `object:instance`. */
export type RawValue =
  | { readonly kind: 'encoded' | 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | {
      readonly kind: 'text' | 'link'
      readonly value: string
      /** Of a format that has no bytes: what stands at an opaque resource is Base64. */
      readonly isBase64OfOpaque?: boolean
    }

export interface ValueRecord {
  /** Three or four numbers deep. */
  readonly path: Path
  readonly value: RawValue
  /** Unix seconds, or seconds from now where it is below 2^28 (RFC 8428, 4.5.3); undefined where none was sent. */
  readonly time?: number
}

/** Of the media types of CoAP: their numbers. Source: `device-api.md` 13.7. */
export const Format = {
  TEXT: 0,
  LINK: 40,
  OPAQUE: 42,
  CBOR: 60,
  SENML_JSON: 110,
  SENML_CBOR: 112,
  TLV: 11_542,
  OMA_JSON: 11_543,
} as const

export const MAX_ID = 65_535
/** A device's whole tree has fewer; a payload of one byte a value would have more. */
const MAX_RECORDS = 4096
const DEEPEST = 4
const VALUE_DEPTHS: readonly number[] = [3, DEEPEST]

/** Collects, and refuses a payload with too many values. */
export class Records {
  readonly all: ValueRecord[] = []

  add(record: ValueRecord): void {
    if (this.all.length >= MAX_RECORDS) throw Lwm2mErrors.TOO_MANY_VALUES({ limit: MAX_RECORDS })
    this.all.push(record)
  }
}

/** Undefined where the text is none: `/3/0/9`, with or without the first slash; `/` is the root. */
export function pathOf(text: string): Path | undefined {
  const bare = text.startsWith('/') ? text.slice(1) : text
  if (bare === '') return []
  const path: number[] = []
  for (const segment of bare.split('/', DEEPEST + 1)) {
    if (!/^\d{1,5}$/.test(segment) || Number(segment) > MAX_ID) return undefined
    path.push(Number(segment))
  }
  return path.length > DEEPEST ? undefined : path
}

export function pathText(path: Path): string {
  return `/${path.join('/')}`
}

/** Whether a value stands there: a resource or an instance of one. */
export function isValuePath(path: Path): boolean {
  return VALUE_DEPTHS.includes(path.length)
}

export function isBelow(path: Path, base: Path): boolean {
  return base.every((id, index) => path[index] === id)
}
