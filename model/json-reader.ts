/**
 * Reads text that is known to be JSON, and numbers as `exactNumber` has them. The reviver of `JSON.parse` knows their texts too, and takes three
 * times as long: every whole number that is sent as `21.0` would pay for it.
 */
import {
  LongDecimal,
  MAX_EXACT_DIGITS,
  POWERS_OF_TEN,
  WholeDouble,
  exactNumber,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
} from './json-numbers.ts'
import { setMember } from './members.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_LIST = 0x5b
const OPEN = 0x7b
const CLOSE = 0x7d
const BLANK = 0x20
/** A longer slice would keep the whole text in memory. */
const LONGEST_SLICE = 12

/** The value of a text that `JSON.parse` takes. Repeated keys: the last one wins, in the place of the first. */
export function readExactly(text: string): JsonValue {
  return new ExactReader(text).value()
}

class ExactReader {
  private readonly text: string
  private position = 0

  constructor(text: string) {
    this.text = text
  }

  value(): JsonValue {
    switch (this.next()) {
      case OPEN:
        return this.object()
      case OPEN_LIST:
        return this.list()
      case QUOTE:
        return this.string()
      case 0x74:
        this.position += 4
        return true
      case 0x66:
        this.position += 5
        return false
      case 0x6e:
        this.position += 4
        return null
      default:
        return this.number()
    }
  }

  private object(): JsonObject {
    const object: JsonObject = {}
    this.position++
    if (this.next() === CLOSE) {
      this.position++
      return object
    }
    do {
      this.next()
      const name = this.string()
      this.next()
      this.position++
      setMember(object, name, this.value())
    } while (this.goesOn())
    return object
  }

  private list(): JsonValue[] {
    const list: JsonValue[] = []
    this.position++
    if (this.next() === CLOSE_LIST) {
      this.position++
      return list
    }
    do list.push(this.value())
    while (this.goesOn())
    return list
  }

  /** Behind a comma, or behind the end. */
  private goesOn(): boolean {
    const isMore = this.next() === COMMA
    this.position++
    return isMore
  }

  /** The next character that is no blank. */
  private next(): number {
    let code = this.text.charCodeAt(this.position)
    while (code <= BLANK) code = this.text.charCodeAt(++this.position)
    return code
  }

  private string(): string {
    const { text } = this
    const start = this.position
    let isPlain = true
    let index = start + 1
    for (let code = text.charCodeAt(index); code !== QUOTE; code = text.charCodeAt(++index)) {
      if (code !== BACKSLASH) continue
      isPlain = false
      index++
    }
    this.position = index + 1
    return isPlain && index - start <= LONGEST_SLICE
      ? text.slice(start + 1, index)
      : copied(text.slice(start, index + 1))
  }

  private number(): JsonNumber {
    const { text } = this
    const start = this.position
    let index = start
    const isNegative = text.charCodeAt(index) === MINUS
    if (isNegative) index++
    let digits = 0
    let mantissa = 0
    let decimals = -1
    let code = text.charCodeAt(index)
    for (; (code >= ZERO && code <= NINE) || code === DOT; code = text.charCodeAt(++index)) {
      if (code === DOT) {
        decimals = 0
        continue
      }
      mantissa = mantissa * 10 + (code - ZERO)
      digits++
      if (decimals >= 0) decimals++
    }
    // `e` and `E` differ in one bit.
    if ((code | 0x20) === 0x65 || digits > MAX_EXACT_DIGITS) return this.rareNumber(start, index)
    this.position = index
    if (decimals < 0) return isNegative && mantissa !== 0 ? -mantissa : mantissa
    const size = mantissa / (POWERS_OF_TEN[decimals] ?? NaN)
    const value = isNegative ? -size : size
    return Number.isInteger(value) ? new WholeDouble(value) : value
  }

  private rareNumber(start: number, from: number): JsonNumber {
    const { text } = this
    let index = from
    for (let code = text.charCodeAt(index); isOfNumber(code); code = text.charCodeAt(++index));
    this.position = index
    const number = exactNumber(text.slice(start, index))
    return number instanceof LongDecimal ? new LongDecimal(copied(`"${number.text}"`)) : number
  }
}

/** What a text in quotes says, in memory of its own. */
function copied(quoted: string): string {
  return JSON.parse(quoted) as string
}

function isOfNumber(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === DOT || code === MINUS || code === 0x2b || (code | 0x20) === 0x65
}
