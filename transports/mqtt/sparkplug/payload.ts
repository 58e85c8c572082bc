/**
 * The Protobuf of Sparkplug B: bytes ↔ metrics, as far as anything of them is used. Data sets, templates, properties and metadata are
 * passed over. Source: `device-api.md` 14, Sparkplug 3.0 section 6.4.
 */
import { LAST_TS } from '../../../model/value.ts'
import { PayloadErrors } from '../../payload/errors.ts'
import type { PayloadLimits } from '../../payload/limits.ts'
import { tagBytes, varintBytes, WireReader, WireType } from '../../payload/protobuf/wire.ts'

/** Numbers of fields. */
const PAYLOAD = { timestamp: 1, metrics: 2, seq: 3 } as const
const METRIC = { name: 1, alias: 2, timestamp: 3, datatype: 4, isNull: 7 } as const
/** Those of a metric that hold its value. */
export const VALUE = { int: 10, long: 11, float: 12, double: 13, boolean: 14, string: 15, bytes: 16 } as const

const LAST_TIME = BigInt(LAST_TS)

/** As it stands on the wire: whole numbers are bits without a sign. */
export type WireValue =
  | { readonly field: typeof VALUE.int | typeof VALUE.long; readonly value: bigint }
  | { readonly field: typeof VALUE.float | typeof VALUE.double; readonly value: number }
  | { readonly field: typeof VALUE.boolean; readonly value: boolean }
  | { readonly field: typeof VALUE.string; readonly value: string }
  | { readonly field: typeof VALUE.bytes; readonly value: Buffer }

export interface Metric {
  /** Undefined where it is not there, or empty. */
  readonly name: string | undefined
  readonly alias: bigint | undefined
  /** Unix ms; undefined where it is not there, or 0. */
  readonly ts: number | undefined
  /** 0 where it is not there. */
  readonly datatype: number
  /** Undefined where it is null, or of a kind that is not used. */
  readonly value: WireValue | undefined
}

export interface SparkplugPayload {
  readonly ts: number | undefined
  readonly seq: number | undefined
  readonly metrics: readonly Metric[]
}

/** A metric of a command. */
export interface CommandMetric {
  /** Undefined where the alias stands for it. */
  readonly name: string | undefined
  readonly alias: bigint | undefined
  readonly datatype: number
  readonly value: WireValue
}

export class SparkplugDecoder {
  private readonly limits: PayloadLimits

  constructor(limits: PayloadLimits) {
    this.limits = limits
  }

  /** Throws `invalid`. Bytes of values are not copied. */
  decode(body: Buffer): SparkplugPayload {
    const reader = new WireReader(body)
    const metrics: Metric[] = []
    let ts: number | undefined
    let seq: number | undefined
    while (reader.position < reader.end) {
      const { number, wireType } = reader.tag()
      if (number === PAYLOAD.metrics && wireType === WireType.BYTES) {
        if (metrics.length >= this.limits.maxEntries)
          throw PayloadErrors.TOO_MANY_ENTRIES({ limit: this.limits.maxEntries })
        metrics.push(this.metric(reader.delimited()))
      } else if (number === PAYLOAD.timestamp && wireType === WireType.VARINT) ts = timeOf(reader.varint())
      else if (number === PAYLOAD.seq && wireType === WireType.VARINT) seq = Number(reader.varint())
      else reader.skip(wireType, number)
    }
    return { ts, seq, metrics }
  }

  private metric(reader: WireReader): Metric {
    let name: string | undefined
    let alias: bigint | undefined
    let ts: number | undefined
    let datatype = 0
    let isNull = false
    let value: WireValue | undefined
    while (reader.position < reader.end) {
      const { number, wireType } = reader.tag()
      const next = valueAt(number, wireType, reader)
      if (next !== undefined) value = next
      else if (number === METRIC.name && wireType === WireType.BYTES) name = this.name(reader.delimited().text())
      else if (wireType !== WireType.VARINT) reader.skip(wireType, number)
      else if (number === METRIC.alias) alias = reader.varint()
      else if (number === METRIC.timestamp) ts = timeOf(reader.varint())
      else if (number === METRIC.datatype) datatype = Number(BigInt.asUintN(32, reader.varint()))
      else if (number === METRIC.isNull) isNull = reader.varint() !== 0n
      else reader.skip(wireType, number)
    }
    const { maxStringLength } = this.limits
    if (maxStringLength > 0 && value?.field === VALUE.string && value.value.length > maxStringLength) {
      throw PayloadErrors.STRING_TOO_LONG({ key: name ?? '', length: value.value.length, limit: maxStringLength })
    }
    return { name, alias, ts, datatype, value: isNull ? undefined : value }
  }

  private name(text: string): string | undefined {
    const { maxKeyLength } = this.limits
    if (text.length > maxKeyLength) throw PayloadErrors.KEY_TOO_LONG({ length: text.length, limit: maxKeyLength })
    return text === '' ? undefined : text
  }
}

/** Undefined, and nothing read, where it is another field. */
function valueAt(number: number, wireType: number, reader: WireReader): WireValue | undefined {
  switch (number) {
    case VALUE.int:
      return wireType === WireType.VARINT ? { field: number, value: BigInt.asUintN(32, reader.varint()) } : undefined
    case VALUE.long:
      return wireType === WireType.VARINT ? { field: number, value: reader.varint() } : undefined
    case VALUE.float:
      return wireType === WireType.FIXED32 ? { field: number, value: reader.float() } : undefined
    case VALUE.double:
      return wireType === WireType.FIXED64 ? { field: number, value: reader.double() } : undefined
    case VALUE.boolean:
      return wireType === WireType.VARINT ? { field: number, value: reader.varint() !== 0n } : undefined
    case VALUE.string:
      return wireType === WireType.BYTES ? { field: number, value: reader.delimited().text() } : undefined
    case VALUE.bytes:
      return wireType === WireType.BYTES ? { field: number, value: reader.delimited().rest() } : undefined
    default:
      return undefined
  }
}

function timeOf(value: bigint): number | undefined {
  if (value > LAST_TIME) throw PayloadErrors.BAD_TIME({ value: String(value) })
  return value === 0n ? undefined : Number(value)
}

/** `now`: Unix ms. A command has no sequence number [tck-id-payloads-ncmd-seq]. */
export function encodeCommand(metrics: readonly CommandMetric[], now: number): Buffer {
  const time = varintBytes(BigInt(now))
  const parts = [tagBytes(PAYLOAD.timestamp, WireType.VARINT), time]
  for (const metric of metrics) parts.push(tagBytes(PAYLOAD.metrics, WireType.BYTES), sized(encodeMetric(metric, time)))
  return Buffer.concat(parts)
}

function encodeMetric({ name, alias, datatype, value }: CommandMetric, time: Buffer): Buffer {
  const parts: Buffer[] = []
  if (name !== undefined) parts.push(tagBytes(METRIC.name, WireType.BYTES), sized(Buffer.from(name)))
  if (alias !== undefined) parts.push(tagBytes(METRIC.alias, WireType.VARINT), varintBytes(alias))
  parts.push(tagBytes(METRIC.timestamp, WireType.VARINT), time)
  parts.push(tagBytes(METRIC.datatype, WireType.VARINT), varintBytes(BigInt(datatype)), encodeValue(value))
  return Buffer.concat(parts)
}

function encodeValue(value: WireValue): Buffer {
  switch (value.field) {
    case VALUE.int:
    case VALUE.long:
      return Buffer.concat([tagBytes(value.field, WireType.VARINT), varintBytes(value.value)])
    case VALUE.boolean:
      return Buffer.concat([tagBytes(value.field, WireType.VARINT), varintBytes(value.value ? 1n : 0n)])
    case VALUE.float: {
      const bytes = Buffer.alloc(4)
      bytes.writeFloatLE(value.value)
      return Buffer.concat([tagBytes(value.field, WireType.FIXED32), bytes])
    }
    case VALUE.double: {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(value.value)
      return Buffer.concat([tagBytes(value.field, WireType.FIXED64), bytes])
    }
    case VALUE.string:
      return Buffer.concat([tagBytes(value.field, WireType.BYTES), sized(Buffer.from(value.value))])
    case VALUE.bytes:
      return Buffer.concat([tagBytes(value.field, WireType.BYTES), sized(value.value)])
  }
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([varintBytes(BigInt(bytes.length)), bytes])
}
