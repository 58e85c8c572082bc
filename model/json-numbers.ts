/** What JSON text means here: values, and numbers that keep what their text says (the table in `json.ts`). */

/** A double that is whole, such as `2.0`: prints with its dot, is a DOUBLE where it is stored. */
export class WholeDouble {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
  valueOf(): number {
    return this.value
  }
  toJSON(): number {
    return this.value
  }
}

/** A decimal with more than 16 digits behind the dot: stored as a STRING of its plain digits. */
export class LongDecimal {
  readonly text: string
  readonly value: number
  constructor(text: string) {
    this.text = text
    this.value = Number(text)
  }
  valueOf(): number {
    return this.value
  }
  toJSON(): number {
    return this.value
  }
}

export type JsonNumber = number | bigint | WholeDouble | LongDecimal
export type JsonObject = { [key: string]: JsonValue }
export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject

/** So many digits are exact as a number, and divided by a power of ten of as many give the nearest double: both are exact. */
export const MAX_EXACT_DIGITS = 15
export const POWERS_OF_TEN = Array.from({ length: MAX_EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent)

/** The number that a JSON number's text means under the rules in this module's head. */
export function exactNumber(source: string, rounded: number = Number(source)): JsonNumber {
  const dot = source.indexOf('.')
  const hasExponent = /[eE]/.test(source)
  if (dot < 0 && !hasExponent) {
    return Number.isSafeInteger(rounded) ? (rounded === 0 ? 0 : rounded) : BigInt(source)
  }
  if (!hasExponent) {
    if (source.length - dot - 1 > 16) return new LongDecimal(source)
    return Number.isInteger(rounded) ? new WholeDouble(rounded) : rounded
  }
  if (!Number.isFinite(rounded)) return new LongDecimal(source)
  if (!Number.isInteger(rounded)) return decimalScale(source) > 16 ? new LongDecimal(source) : rounded
  if (Number.isSafeInteger(rounded)) return rounded
  return integerOfScientific(source) ?? new WholeDouble(rounded)
}

/** Digits behind the dot once the exponent is applied. */
function decimalScale(source: string): number {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const dot = mantissa.indexOf('.')
  return (dot < 0 ? 0 : mantissa.length - dot - 1) - Number(exponent)
}

function integerOfScientific(source: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const scale = -decimalScale(source)
  if (scale < 0 || Number(exponent) > 400) return undefined
  return BigInt(mantissa.replace('.', '')) * 10n ** BigInt(scale)
}
