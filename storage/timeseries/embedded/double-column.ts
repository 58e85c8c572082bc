/**
 * A column of doubles. Sensors send decimals: where every value is a whole number of 10^-scale exactly, the differences of
 * those whole numbers are stored; else the eight bytes of each, byte by byte in planes, which deflate likes better.
 */
import type { ByteReader, ByteWriter } from './bytes.ts'

const MAX_SCALE = 9
const MAX_SCALED = 2 ** 50
/** The scale's place where the values are not decimals. */
const RAW = 0xff

export function doubleColumn(writer: ByteWriter, values: Float64Array): void {
  const scale = scaleOf(values)
  if (scale === undefined) {
    writer.byte(RAW)
    writer.bytes(planesOf(values))
    return
  }
  writer.byte(scale)
  const factor = 10 ** scale
  let previous = 0
  for (const value of values) {
    const scaled = Math.round(value * factor)
    writer.signed(scaled - previous)
    previous = scaled
  }
}

export function readDoubles(reader: ByteReader, count: number): Float64Array {
  const scale = reader.byte()
  const values = new Float64Array(count)
  if (scale === RAW) {
    const planes = reader.bytes(count * 8)
    const bytes = new Uint8Array(values.buffer)
    for (let plane = 0; plane < 8; plane++) {
      for (let index = 0; index < count; index++) bytes[index * 8 + plane] = planes[plane * count + index] ?? 0
    }
    return values
  }
  const factor = 10 ** scale
  let scaled = 0
  for (let index = 0; index < count; index++) {
    scaled += reader.signed()
    values[index] = scaled / factor
  }
  return values
}

/** The smallest scale under which every value comes back bit by bit; undefined where there is none. */
function scaleOf(values: Float64Array): number | undefined {
  let scale = 0
  for (const value of values) {
    while (!isExact(value, 10 ** scale)) if (++scale > MAX_SCALE) return undefined
  }
  const factor = 10 ** scale
  return values.every((value) => isExact(value, factor)) ? scale : undefined
}

/** -0 has no whole number of its own. */
function isExact(value: number, factor: number): boolean {
  if (value === 0) return !Object.is(value, -0)
  const scaled = Math.round(value * factor)
  return Math.abs(scaled) < MAX_SCALED && Object.is(scaled / factor, value)
}

function planesOf(values: Float64Array): Uint8Array {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  const planes = new Uint8Array(bytes.length)
  const count = values.length
  for (let plane = 0; plane < 8; plane++) {
    for (let index = 0; index < count; index++) planes[plane * count + index] = bytes[index * 8 + plane] ?? 0
  }
  return planes
}
