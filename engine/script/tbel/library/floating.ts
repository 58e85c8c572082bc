/** Single and double precision by their bits. A single is kept as the double with the same shortest digits: 1.1 prints as 1.1. */
import { Fault } from '../fault.ts'

const view = new DataView(new ArrayBuffer(8))

/** The shortest decimal number that means the same single. */
export function single(value: number): number {
  const rounded = Math.fround(value)
  // A zero has its sign.
  if (!Number.isFinite(rounded) || rounded === 0) return rounded
  for (let digits = 2; digits < 10; digits++) {
    const short = Number(rounded.toPrecision(digits))
    if (Math.fround(short) === rounded) return short
  }
  return rounded
}

/** The lower 32 bits as a single. */
export function singleOfBits(bits: bigint): number {
  view.setBigUint64(0, BigInt.asUintN(32, bits))
  return single(view.getFloat32(4))
}

export function doubleOfBits(bits: bigint): number {
  view.setBigUint64(0, BigInt.asUintN(64, bits))
  return view.getFloat64(0)
}

/** As an int. */
export function singleBits(value: number): number {
  view.setFloat32(0, value)
  return view.getInt32(0)
}

/** As a long. */
export function doubleBits(value: number): bigint {
  view.setFloat64(0, value)
  return view.getBigInt64(0)
}

/** As the platform writes it: `0x1.8p0`. */
export function hexText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const size = Math.abs(value)
  if (size === Infinity) return `${sign}Infinity`
  if (size === 0) return `${sign}0x0.0p0`
  view.setFloat64(0, size)
  const bits = view.getBigUint64(0)
  const exponent = Number(bits >> 52n)
  const digits = BigInt.asUintN(52, bits).toString(16).padStart(13, '0').replace(/0+$/, '') || '0'
  return exponent === 0 ? `${sign}0x0.${digits}p-1022` : `${sign}0x1.${digits}p${exponent - 1023}`
}

export function singleHex(value: number): string {
  view.setFloat32(0, value)
  return view.getUint32(0).toString(16).padStart(8, '0').toUpperCase()
}

export function doubleHex(value: number): string {
  view.setFloat64(0, value)
  return view.getBigUint64(0).toString(16).padStart(16, '0').toUpperCase()
}

export function refuseNaN(value: number, hex: string): number {
  if (Number.isNaN(value)) throw new Fault(`bytes 0x${hex} are not a number`)
  return value
}
