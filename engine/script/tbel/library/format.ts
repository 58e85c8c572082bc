/** `String.format`: the platform's format texts, in English. */
import { Fault } from '../fault.ts'
import { DOUBLE, isNumber, numberOf, rankOf, textOf, typeName, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import { textArgument } from './signature.ts'

const SPECIFIER = /%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/y
const MOST = 10_000

interface Specifier {
  readonly flags: string
  readonly width: number
  readonly precision: number | undefined
  readonly conversion: string
}

/** The first value is the text, the others fill it. */
export function formatText(values: readonly Value[], budget: Budget): string {
  const format = textArgument(values, 0)
  let text = ''
  let next = 1
  let last = 0
  for (let at = 0; at < format.length;) {
    const percent = format.indexOf('%', at)
    if (percent < 0) return counted(text + format.slice(at), budget)
    text += format.slice(at, percent)
    SPECIFIER.lastIndex = percent
    const match = SPECIFIER.exec(format)
    if (match === null) throw new Fault(`unknown format at '${format.slice(percent, percent + 20)}'`)
    at = SPECIFIER.lastIndex
    const specifier = specifierOf(match)
    if (specifier.conversion === 'n' || specifier.conversion === '%') {
      budget.allocate(2 * specifier.width)
      text += padded(specifier.conversion === 'n' ? '\n' : '%', specifier)
      continue
    }
    last = match[1] !== undefined ? Number(match[1]) : specifier.flags.includes('<') ? last : next++
    const value = values[last]
    if (last < 1 || value === undefined) throw new Fault(`format '${match[0]}' has no value`)
    const piece = converted(value, specifier)
    budget.allocate(2 * piece.length)
    text += piece
  }
  return counted(text, budget)
}

function counted(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  return text
}

function specifierOf(match: RegExpExecArray): Specifier {
  const [, , flags = '', width = '0', precision, conversion = ''] = match
  const most = Math.max(Number(width), Number(precision ?? 0))
  if (most > MOST) throw new Fault(`a format of ${most} characters, at most ${MOST} are allowed`)
  if (new Set(flags).size !== flags.length) throw new Fault(`flags '${flags}' are doubled`)
  if ((flags.includes('-') || flags.includes('0')) && width === '0') throw new Fault('a flag needs a width')
  if (flags.includes('-') && flags.includes('0')) throw new Fault(`flags '${flags}' exclude each other`)
  return { flags, width: Number(width), precision: precision === undefined ? undefined : Number(precision), conversion }
}

function converted(value: Value, specifier: Specifier): string {
  const lower = specifier.conversion.toLowerCase()
  const text = convertedAs(lower, value, specifier)
  return padded(specifier.conversion === lower ? text : upper(specifier.conversion, text), specifier)
}

function upper(conversion: string, text: string): string {
  if (!'SBXEGCH'.includes(conversion)) throw new Fault(`unknown format conversion '${conversion}'`)
  return text.toUpperCase()
}

function convertedAs(conversion: string, value: Value, specifier: Specifier): string {
  switch (conversion) {
    case 's':
      return cut(textOf(value), specifier)
    case 'b':
      return cut(String(typeof value === 'boolean' ? value : value !== null), specifier)
    case 'c':
      return value === null ? 'null' : character(value)
    case 'd':
      return value === null ? 'null' : decimal(value, specifier)
    case 'x':
    case 'o':
      return value === null ? 'null' : unsigned(value, specifier, conversion === 'x' ? 16 : 8)
    case 'f':
    case 'e':
    case 'g':
      return value === null ? 'null' : real(conversion, value, specifier)
    default:
      throw new Fault(`unknown format conversion '${specifier.conversion}'`)
  }
}

function cut(text: string, { precision }: Specifier): string {
  return precision === undefined ? text : text.slice(0, precision)
}

function character(value: Value): string {
  if (typeof value === 'string' && value.length === 1) return value
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0x10ffff)
    return String.fromCodePoint(value)
  throw new Fault(`${typeName(value)} is no character`)
}

function wholeOf(value: Value, { conversion, precision }: Specifier): bigint {
  if (precision !== undefined) throw new Fault(`format '${conversion}' takes no precision`)
  if (!isNumber(value) || rankOf(value) === DOUBLE)
    throw new Fault(`format '${conversion}' takes no ${typeName(value)}`)
  return BigInt(value as number | bigint)
}

function decimal(value: Value, specifier: Specifier): string {
  const whole = wholeOf(value, specifier)
  return signed((whole < 0n ? -whole : whole).toString(), whole < 0n, specifier)
}

function unsigned(value: Value, specifier: Specifier, radix: number): string {
  const whole = wholeOf(value, specifier)
  if (/[+ ,(]/.test(specifier.flags)) throw new Fault(`flags '${specifier.flags}' do not fit '${specifier.conversion}'`)
  const isInt = typeof value === 'number' && (value | 0) === value
  const digits = BigInt.asUintN(isInt ? 32 : 64, whole).toString(radix)
  const prefix = specifier.flags.includes('#') ? (radix === 16 ? '0x' : '0') : ''
  return specifier.flags.includes('0')
    ? prefix + digits.padStart(specifier.width - prefix.length, '0')
    : prefix + digits
}

function real(conversion: string, value: Value, specifier: Specifier): string {
  if (!isNumber(value) || rankOf(value) !== DOUBLE)
    throw new Fault(`format '${conversion}' takes no ${typeName(value)}`)
  const number = numberOf(value)
  const isNegative = number < 0 || Object.is(number, -0)
  if (!Number.isFinite(number)) {
    const plain = { ...specifier, flags: specifier.flags.replace('0', '') }
    return Number.isNaN(number) ? 'NaN' : signed('Infinity', isNegative, plain)
  }
  const magnitude = Math.abs(number)
  const digits = specifier.precision ?? 6
  const text =
    conversion === 'f'
      ? fixed(magnitude, digits)
      : conversion === 'e'
        ? scientific(magnitude, digits)
        : general(magnitude, digits)
  return signed(text, isNegative, specifier)
}

/** The shortest digits of the number, rounded half up at a number of places. */
function fixed(magnitude: number, digits: number): string {
  const [mantissa = '0', exponent = '0'] = magnitude.toExponential().split('e')
  const unscaled = BigInt(mantissa.replace('.', ''))
  const scale = mantissa.replace('.', '').length - 1 - Number(exponent)
  const shifted =
    scale <= digits
      ? unscaled * 10n ** BigInt(digits - scale)
      : (unscaled * 2n + 10n ** BigInt(scale - digits)) / (2n * 10n ** BigInt(scale - digits))
  const text = shifted.toString().padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

function scientific(magnitude: number, digits: number): string {
  const exponent = magnitude === 0 ? 0 : Number(magnitude.toExponential().split('e')[1])
  const mantissa = magnitude === 0 ? 0 : Number(`${magnitude.toExponential().split('e')[0] ?? '0'}`)
  const rounded = fixed(mantissa, digits)
  const [text, power] = rounded.startsWith('10') ? [fixed(1, digits), exponent + 1] : [rounded, exponent]
  return `${text}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** `precision` digits in all, in the form that fits the size. */
function general(magnitude: number, precision: number): string {
  const digits = Math.max(1, precision)
  if (magnitude !== 0 && (magnitude < 0.0001 || magnitude >= 10 ** digits)) return scientific(magnitude, digits - 1)
  const whole = magnitude === 0 ? 1 : Math.floor(Math.log10(magnitude)) + 1
  return fixed(magnitude, Math.max(0, digits - whole))
}

function signed(digits: string, isNegative: boolean, { flags, width }: Specifier): string {
  const grouped = flags.includes(',')
    ? digits.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','))
    : digits
  const [before, after] = isNegative
    ? flags.includes('(')
      ? ['(', ')']
      : ['-', '']
    : flags.includes('+')
      ? ['+', '']
      : flags.includes(' ')
        ? [' ', '']
        : ['', '']
  const room = width - before.length - after.length
  return before + (flags.includes('0') ? grouped.padStart(room, '0') : grouped) + after
}

function padded(text: string, { flags, width }: Specifier): string {
  return flags.includes('-') ? text.padEnd(width) : text.padStart(width)
}
