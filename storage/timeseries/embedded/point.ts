/** A stored point, and its values as bytes: the form of the log, of latest values and of answers between the threads. */
import type { TypedValue, ValueType } from '../../../model/value.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

export interface StoredPoint {
  readonly ts: number
  readonly type: ValueType
  readonly value: boolean | number | bigint | string
  /** Unix ms from which on the point is gone; 0 for never. */
  readonly expiresAt: number
}

/** Codes on disk: never change one, add new ones. */
export const CODE = { FALSE: 0, TRUE: 1, LONG: 2, LONG64: 3, DOUBLE: 4, STRING: 5, JSON: 6 } as const

export function writeValue(writer: ByteWriter, type: ValueType, value: StoredPoint['value']): void {
  switch (type) {
    case 'BOOLEAN':
      writer.byte(value === true ? CODE.TRUE : CODE.FALSE)
      return
    case 'LONG':
      if (typeof value === 'bigint') {
        writer.byte(CODE.LONG64)
        writer.int64(value)
      } else {
        writer.byte(CODE.LONG)
        writer.signed(Number(value))
      }
      return
    case 'DOUBLE':
      writer.byte(CODE.DOUBLE)
      writer.float(Number(value))
      return
    default:
      writer.byte(type === 'STRING' ? CODE.STRING : CODE.JSON)
      writer.text(String(value))
  }
}

/** Reads a value. Throws a RangeError for a code it does not know. */
export function readValue(reader: ByteReader): TypedValue {
  return readCoded(reader, reader.byte())
}

/** Reads a value whose code was read. Throws as {@link readValue}. */
export function readCoded(reader: ByteReader, code: number): TypedValue {
  switch (code) {
    case CODE.FALSE:
    case CODE.TRUE:
      return { type: 'BOOLEAN', value: code === CODE.TRUE }
    case CODE.LONG:
      return { type: 'LONG', value: reader.signed() }
    case CODE.LONG64:
      return { type: 'LONG', value: reader.int64() }
    case CODE.DOUBLE:
      return { type: 'DOUBLE', value: reader.float() }
    case CODE.STRING:
      return { type: 'STRING', value: reader.text() }
    case CODE.JSON:
      return { type: 'JSON', value: reader.text() }
    default:
      throw new RangeError(`value code ${code}`)
  }
}

/** The type of a text by its code. Throws a RangeError for the code of another value. */
export function textTypeOf(code: number): 'STRING' | 'JSON' {
  if (code === CODE.STRING) return 'STRING'
  if (code === CODE.JSON) return 'JSON'
  throw new RangeError(`value code ${code} of a long text`)
}

/** The typed value of a stored point. The pair (type, value) was made from a TypedValue and is taken apart nowhere else. */
export function typedValue(point: StoredPoint): TypedValue {
  return { type: point.type, value: point.value } as TypedValue
}

export function isLive(point: StoredPoint, now: number): boolean {
  return point.expiresAt === 0 || point.expiresAt > now
}
