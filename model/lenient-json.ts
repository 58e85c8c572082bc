/**
 * JSON as the reference's parser takes it of devices (`device-api.md` 2.3) and of who saves for them (`rest-api.md` 4.5): names without
 * quotes or in single ones, `=` and `=>` for the colon, `;` for the comma, comments, bare words as texts, left out elements of a list as
 * null. Firmware that prints its payloads by hand lives by it. Read only where a payload is no strict JSON, and written anew as such, so
 * that one parser decides what its values mean.
 */
import { isMillraceError } from './errors.ts'
import { parseJson, type JsonValue } from './json.ts'

const NO_JSON = 'json.JSON_INVALID'
const BLANKS = /[ \t\r\n]+/y
const LINE = /[^\r\n]*/y
/** A quote that has no end begins no word. */
const BARE = /(?!["'])[^/\\;#={}[\]:, \t\f\r\n]+/y
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const KEYWORD = /^(?:true|false|null)$/i
const ESCAPED: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' }
const ESCAPES_ITSELF = /['"\\/\n]/
const BYTE_ORDER_MARK = '\ufeff'
const PREFIX = ")]}'\n"

/** Longer ones are no work of hand, and would cost the others time. */
const LONGEST = 262_144

/** The same as strict JSON text; undefined where it is none in this form either. */
export function strictJsonOf(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  return new LenientReader(text).read()
}

/** What stands around the place that is read, innermost last. */
type Enclosing = '{' | '['

class LenientReader {
  private readonly text: string
  private position = 0
  private readonly out: string[] = []
  private readonly enclosing: Enclosing[] = []

  constructor(text: string) {
    this.text = text
  }

  /** Without recursion: how deep a payload may be is for the strict parser to say. */
  read(): string | undefined {
    if (this.text.startsWith(BYTE_ORDER_MARK)) this.position = BYTE_ORDER_MARK.length
    if (this.text.startsWith(PREFIX, this.position)) this.position += PREFIX.length
    let isWanted = true
    while (isWanted) {
      if (!this.value()) return undefined
      const goesOn = this.afterValue()
      if (goesOn === undefined) return undefined
      isWanted = goesOn
    }
    this.skip()
    return this.position === this.text.length ? this.out.join('') : undefined
  }

  /** A value, or the beginning of one: then the first value in it is next. False where there is none. */
  private value(): boolean {
    for (;;) {
      this.skip()
      const next = this.text[this.position]
      if (next === '{') {
        if (this.open('{', '}')) return true
        if (!this.name()) return false
      } else if (next === '[') {
        if (this.open('[', ']')) return true
      } else if (this.enclosing.at(-1) === '[' && (next === ',' || next === ';' || next === ']')) {
        this.out.push('null')
        return true
      } else return this.scalar(next)
    }
  }

  /** True where it is empty, and so read whole. */
  private open(sign: Enclosing, end: string): boolean {
    this.position++
    this.skip()
    if (this.text[this.position] === end) {
      this.position++
      this.out.push(sign + end)
      return true
    }
    this.enclosing.push(sign)
    this.out.push(sign)
    return false
  }

  /** Whether another value follows; undefined for what may not stand there. */
  private afterValue(): boolean | undefined {
    for (let around = this.enclosing.at(-1); around !== undefined; around = this.enclosing.at(-1)) {
      this.skip()
      const next = this.text[this.position++]
      if (next === ',' || next === ';') {
        this.out.push(',')
        return around === '[' || this.name() ? true : undefined
      }
      const end = around === '[' ? ']' : '}'
      if (next !== end) return undefined
      this.out.push(end)
      this.enclosing.pop()
    }
    return false
  }

  /** With the sign behind it. */
  private name(): boolean {
    this.skip()
    const name = this.quoted(this.text[this.position]) ?? this.bare()
    if (name === undefined) return false
    this.skip()
    const sign = this.text[this.position++]
    if (sign !== ':' && sign !== '=') return false
    if (sign === '=' && this.text[this.position] === '>') this.position++
    this.out.push(JSON.stringify(name), ':')
    return true
  }

  private scalar(next: string | undefined): boolean {
    const quoted = this.quoted(next)
    const word = quoted ?? this.bare()
    if (word === undefined) return false
    if (quoted !== undefined) this.out.push(JSON.stringify(quoted))
    else if (NUMBER.test(word)) this.out.push(word)
    else this.out.push(KEYWORD.test(word) ? word.toLowerCase() : JSON.stringify(word))
    return true
  }

  private bare(): string | undefined {
    const start = this.position
    return this.pass(BARE) ? this.text.slice(start, this.position) : undefined
  }

  /** Undefined where there is no quote, or no end of it. */
  private quoted(quote: string | undefined): string | undefined {
    if (quote !== '"' && quote !== "'") return undefined
    let read = ''
    let start = this.position + 1
    for (let position = start; position < this.text.length; position++) {
      const character = this.text[position]
      if (character === quote) {
        this.position = position + 1
        return read + this.text.slice(start, position)
      }
      if (character !== '\\') continue
      read += this.text.slice(start, position)
      const escaped = this.escaped(position + 1)
      if (escaped === undefined) return undefined
      read += escaped.character
      start = escaped.end
      position = escaped.end - 1
    }
    return undefined
  }

  private escaped(position: number): { readonly character: string; readonly end: number } | undefined {
    const sign = this.text[position] ?? ''
    if (sign === 'u') {
      const code = this.text.slice(position + 1, position + 5)
      if (!/^[\da-fA-F]{4}$/.test(code)) return undefined
      return { character: String.fromCharCode(parseInt(code, 16)), end: position + 5 }
    }
    const character = ESCAPES_ITSELF.test(sign) ? sign : ESCAPED[sign]
    return character === undefined ? undefined : { character, end: position + 1 }
  }

  /** Blanks and comments. One that has no end is no comment: what comes next says so. */
  private skip(): void {
    for (;;) {
      const next = this.text[this.position]
      if (next === undefined) return
      if (this.pass(BLANKS)) continue
      if (next === '#' || this.text.startsWith('//', this.position)) this.pass(LINE)
      else if (this.text.startsWith('/*', this.position)) {
        const end = this.text.indexOf('*/', this.position + 2)
        if (end < 0) return
        this.position = end + 2
      } else return
    }
  }

  private pass(what: RegExp): boolean {
    what.lastIndex = this.position
    if (!what.test(this.text)) return false
    this.position = what.lastIndex
    return true
  }
}

/** Throws `invalid`: what is wrong with it as strict JSON, where it is none at all. */
export function parseLenientJson(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (!isMillraceError(error) || error.code !== NO_JSON) throw error
    const strict = strictJsonOf(text)
    if (strict === undefined) throw error
    return parseJson(strict)
  }
}
