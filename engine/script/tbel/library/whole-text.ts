/**
 * Numbers out of texts, as scripts of the reference know them: decimal, hex in either byte order, binary in two's complement, radix 25 to
 * 36. Source: `rule-engine.md` 6.5 "parse text", "parse hex" and the quirks below them.
 */
import { Fault } from '../fault.ts'

const MAX_DIGITS = 100
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'
const DECIMAL = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/
const HEX = /^-?(0[xX])?[0-9a-fA-F]+$/

export function isDecimalText(text: string): boolean {
  return DECIMAL.test(text)
}

export function isHexText(text: string): boolean {
  return HEX.test(text)
}

/** The text to be read, without blanks and marks, a comma as the point; undefined where it is blank. */
export function preparedNumber(text: string, bigEndian: boolean): string | undefined {
  if (text.trim() === '') return undefined
  if (text.length > MAX_DIGITS)
    throw new Fault(`a number of ${text.length} characters, at most ${MAX_DIGITS} are allowed`)
  const plain = text.trim().replaceAll('0x', '').replaceAll('0X', '').replaceAll(',', '.')
  return bigEndian ? plain : reversedPairs(plain)
}

/** The hex digits of the bytes in the other order. */
export function reversedPairs(hex: string): string {
  if (hex.startsWith('-')) throw new Fault('the hexadecimal text must be without a sign')
  if (hex.length % 2 > 0) throw new Fault('the hexadecimal text must be of even length')
  return (hex.match(/../g) ?? []).reverse().join('')
}

/** The radix by which `prepared` is read; 0 asks for 10 or 16. `given` is the text as it came. Throws where it does not fit. */
export function radixOf(prepared: string, radix: number, given: string): number {
  if (radix >= 25 && radix <= 36) return radix
  const fits = fittingRadix(prepared, radix)
  if (fits === undefined) throw new Fault(`'${given}' is no number${radix === 0 ? '' : ` of radix ${radix}`}`)
  const found = given.startsWith('0x') ? 16 : fits
  const digits = given.startsWith('-') ? given.slice(1) : given
  if (found === 16 && digits.length % 2 > 0)
    throw new Fault(`the hexadecimal value '${given}' must be of even length, or the value must be a decimal number`)
  return found
}

function fittingRadix(text: string, radix: number): number | undefined {
  switch (radix) {
    case 0:
      return isDecimalText(text) ? 10 : isHexText(text) ? 16 : undefined
    case 2:
      return /^[01]+$/.test(text) ? 2 : undefined
    case 8:
      return /^[0-7]+$/.test(text) ? 8 : undefined
    case 10:
      return isDecimalText(text) ? 10 : undefined
    case 16:
      return isHexText(text) ? 16 : undefined
    default:
      throw new Fault(`radix ${radix} is not supported`)
  }
}

/** Plain digits with a sign, as the platform reads them. Throws beyond the bits. */
export function plainWhole(text: string, radix: number, bits: 32 | 64): bigint {
  const signed = /^[+-]/.test(text)
  const digits = (signed ? text.slice(1) : text).toLowerCase()
  if (digits === '') throw new Fault(`'${text}' is no number`)
  let value = 0n
  for (const digit of digits) {
    const place = DIGITS.indexOf(digit)
    if (place < 0 || place >= radix) throw new Fault(`'${text}' is no number of radix ${radix}`)
    value = value * BigInt(radix) + BigInt(place)
  }
  const whole = text.startsWith('-') ? -value : value
  if (BigInt.asIntN(bits, whole) !== whole)
    throw new Fault(`${text} is beyond the range of ${bits === 32 ? 'int' : 'long'}`)
  return whole
}

/** Undefined where the text is blank. Throws where it is no whole number. */
export function wholeOfText(text: string, radix: number, bits: 32 | 64, bigEndian = true): bigint | undefined {
  const prepared = preparedNumber(text, bigEndian)
  if (prepared === undefined) return undefined
  const found = radixOf(prepared, radix, text)
  return found === 2 ? binaryWhole(prepared, bits) : plainWhole(prepared, found, bits)
}

/** Digits of a full width with the first one set are a negative number in two's complement. */
function binaryWhole(digits: string, bits: 32 | 64): bigint {
  const padded = digits.padStart(bits, '0')
  if (!padded.startsWith('1')) return plainWhole(padded, 2, bits)
  const inverted = padded.replace(/[01]/g, (bit) => (bit === '0' ? '1' : '0'))
  return BigInt.asIntN(bits, -(plainWhole(inverted, 2, bits) + 1n))
}
