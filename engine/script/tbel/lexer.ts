/** Text into tokens. Throws `SCRIPT_SYNTAX`. Source: `rule-engine.md` 6.4. */
import { WholeDouble } from '../../../model/json.ts'
import { syntaxError } from './source.ts'
import { double, long, type Value } from './values.ts'

export interface Token {
  readonly kind: 'number' | 'string' | 'name' | 'operator' | 'end'
  /** The operator or name; for strings the text they mean. */
  readonly text: string
  readonly value: Value
  readonly at: number
  /** Offset behind the token. */
  readonly end: number
}

const OPERATORS = [
  '>>>=',
  '===',
  '!==',
  '>>>',
  '<<=',
  '>>=',
  '**=',
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '++',
  '--',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
  '&=',
  '|=',
  '^=',
  '<<',
  '>>',
  '**',
  '~=',
  '.?',
  '+',
  '-',
  '*',
  '/',
  '%',
  '<',
  '>',
  '=',
  '!',
  '~',
  '&',
  '|',
  '^',
  '#',
  '?',
  ':',
  ';',
  ',',
  '.',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
]
const BLANK = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)/y
const NAME = /[A-Za-z_$][A-Za-z0-9_$]*/y
const NUMBER = /0[xX][0-9a-fA-F]+[lL]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[lLdDfF]?/y

export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    at = skipBlank(text, at)
    if (at >= text.length) break
    const token = nextToken(text, at)
    tokens.push(token)
    at = token.end
  }
  tokens.push({ kind: 'end', text: 'end of script', value: null, at, end: at })
  return tokens
}

function skipBlank(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const blank = match(BLANK, text, at)
    if (blank === undefined) {
      if (text.startsWith('/*', at)) throw syntaxError(text, at, 'comment is not closed')
      return at
    }
    at += blank.length
  }
  return at
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function nextToken(text: string, at: number): Token {
  const first = text.charAt(at)
  if (first === '"' || first === "'") return stringToken(text, at)
  const name = match(NAME, text, at)
  if (name !== undefined) return { kind: 'name', text: name, value: null, at, end: at + name.length }
  const number = match(NUMBER, text, at)
  if (number !== undefined) return numberToken(text, at, number)
  const operator = OPERATORS.find((candidate) => text.startsWith(candidate, at))
  if (operator === undefined) throw syntaxError(text, at, `unexpected character '${first}'`)
  return { kind: 'operator', text: operator, value: null, at, end: at + operator.length }
}

function numberToken(text: string, at: number, digits: string): Token {
  const end = at + digits.length
  if (match(NAME, text, end) !== undefined)
    throw syntaxError(text, at, `badly formatted number '${digits}${match(NAME, text, end)}'`)
  return { kind: 'number', text: digits, value: numberValue(text, at, digits), at, end }
}

function numberValue(text: string, at: number, digits: string): Value {
  const suffix = /^0[xX]/.test(digits) ? /[lL]$/.exec(digits)?.[0] : /[lLdDfF]$/.exec(digits)?.[0]
  const plain = suffix === undefined ? digits : digits.slice(0, -1)
  const isHex = /^0[xX]/.test(plain)
  if (!isHex && (/[.eE]/.test(plain) || /[dDfF]/.test(suffix ?? ''))) {
    const number = Number(plain)
    return Number.isInteger(number) ? new WholeDouble(number) : double(number)
  }
  const isOctal = /^0\d/.test(plain)
  if (isOctal && /[89]/.test(plain)) throw syntaxError(text, at, `badly formatted number '${digits}'`)
  const whole = BigInt(isOctal ? `0o${plain.slice(1)}` : plain)
  if (whole > 9223372036854775807n) throw syntaxError(text, at, `number '${digits}' is too large`)
  // From ten digits on an integer is a long, as the reference reads it.
  return suffix === undefined && whole <= 2147483647n && (isHex || plain.length < 10) ? Number(whole) : long(whole)
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
  ['0', '\0'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
])

function stringToken(text: string, start: number): Token {
  const quote = text.charAt(start)
  let value = ''
  let at = start + 1
  let plainFrom = at
  for (;;) {
    const letter = text.charAt(at)
    if (letter === '') throw syntaxError(text, start, 'text is not closed')
    if (letter === quote) break
    if (letter !== '\\') {
      at++
      continue
    }
    value += text.slice(plainFrom, at)
    const unicode = /^u[0-9a-fA-F]{4}/.exec(text.slice(at + 1, at + 6))
    const escape =
      unicode === null ? ESCAPES.get(text.charAt(at + 1)) : String.fromCharCode(parseInt(unicode[0].slice(1), 16))
    if (escape === undefined) throw syntaxError(text, at, `unknown escape '\\${text.charAt(at + 1)}'`)
    value += escape
    at += unicode === null ? 2 : 6
    plainFrom = at
  }
  value += text.slice(plainFrom, at)
  return { kind: 'string', text: value, value, at: start, end: at + 1 }
}
