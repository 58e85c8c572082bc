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
