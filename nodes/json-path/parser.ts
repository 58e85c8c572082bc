/**
 * Reads a JSON path in Jayway's dialect (`rule-nodes.md` 27): `$.a`, `['a','b']`, `[0,-1]`, `[1:3]`, `*`, `..`, `[?(…)]`, and a function at the
 * end, as in `$.list.length()`.
 */
import { parseJson } from '../../model/json.ts'
import { JsonPathErrors } from './errors.ts'
import { FUNCTION_NAMES, OPERATORS, isDefinite } from './syntax.ts'
import type { Condition, FunctionCall, Operand, Operator, Path, Step } from './syntax.ts'

const LONGEST_PATH = 2000
/** Of conditions and filters within each other. */
const MAX_DEPTH = 20

const NAME = /[^\s.[\]()'"*?@,!=<>&|~]+/y
const INTEGER = /-?\d{1,9}/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const BLANK = /\s*/y
const PATTERN = /\/((?:[^/\\]|\\.)+)\/([imsU]*)/y

export function parsePath(text: string): Path {
  if (text.length > LONGEST_PATH) {
    throw JsonPathErrors.PATH_INVALID({ position: LONGEST_PATH, reason: `longer than ${LONGEST_PATH} characters` })
  }
  const trimmed = text.trim()
  // As in the reference, a path may leave out its root.
  const parser = new Parser(/^[$@]/.test(trimmed) ? trimmed : `$.${trimmed}`)
  return parser.whole()
}

class Parser {
  private position = 0
  private depth = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  whole(): Path {
    const path = this.path()
    this.blank()
    if (this.position < this.text.length) throw this.wrong('unexpected')
    return path
  }

  private path(): Path {
    const root = this.take('@') ? '@' : '$'
    if (root === '$') this.expect('$')
    const steps: Step[] = []
    let call: FunctionCall | undefined
    while (call === undefined) {
      if (this.take('..')) {
        steps.push({ kind: 'descend' }, this.peek('[') ? this.bracket() : this.wildcardOrName())
      } else if (this.peek('.')) {
        this.expect('.')
        call = this.call()
        if (call === undefined) steps.push(this.peek('[') ? this.bracket() : this.wildcardOrName())
      } else if (this.peek('[')) steps.push(this.bracket())
      else break
    }
    return { root, steps, call, isDefinite: isDefinite(steps) }
  }

  private wildcardOrName(): Step {
    if (this.take('*')) return { kind: 'wildcard' }
    const name = this.match(NAME)
    if (name === undefined) throw this.wrong('expected a name or *')
    return { kind: 'child', names: [name] }
  }

  private call(): FunctionCall | undefined {
    const start = this.position
    const name = this.match(NAME)
    if (name === undefined || !this.take('(')) {
      this.position = start
      return undefined
    }
    const known = FUNCTION_NAMES.find((each) => each === name)
    if (known === undefined) throw this.wrong(`there is no function ${name}`)
    const given: Operand[] = []
    this.blank()
    while (!this.take(')')) {
      if (given.length > 0) this.expect(',')
      given.push(this.nested(() => this.operand()))
      this.blank()
    }
    return { name: known, arguments: given }
  }

  private bracket(): Step {
    this.expect('[')
    this.blank()
    const step = this.insideBracket()
    this.blank()
    this.expect(']')
    return step
  }

  private insideBracket(): Step {
    if (this.take('*')) return { kind: 'wildcard' }
    if (this.take('?')) return this.filter()
    if (this.peek("'") || this.peek('"')) {
      return { kind: 'child', names: this.list(() => this.quoted()) }
    }
    const first = this.integer()
    this.blank()
    if (!this.take(':')) {
      if (first === undefined) throw this.wrong('expected an index, a name in quotes, * or a filter')
      const indexes = [first]
      while (this.take(',')) {
        this.blank()
        const index = this.integer()
        if (index === undefined) throw this.wrong('expected an index')
        indexes.push(index)
        this.blank()
      }
      return { kind: 'index', indexes }
    }
    this.blank()
    const to = this.integer()
    if (first === undefined && to === undefined) throw this.wrong('expected an index')
    // A step is read and has no effect, as in the reference.
    this.blank()
    if (this.take(':')) this.integer()
    return { kind: 'slice', from: first, to }
  }

  private filter(): Step {
    this.blank()
    this.expect('(')
    const condition = this.nested(() => this.or())
    this.blank()
    this.expect(')')
    return { kind: 'filter', condition }
  }

  private or(): Condition {
    let left = this.and()
    while (this.operator('||')) left = { kind: 'or', left, right: this.and() }
    return left
  }

  private and(): Condition {
    let left = this.not()
    while (this.operator('&&')) left = { kind: 'and', left, right: this.not() }
    return left
  }

  private not(): Condition {
    return this.nested(() => {
      this.blank()
      if (this.take('!')) return { kind: 'not', condition: this.not() }
      if (!this.take('(')) return this.comparison()
      const condition = this.or()
      this.blank()
      this.expect(')')
      return condition
    })
  }

  private comparison(): Condition {
    const left = this.operand()
    this.blank()
    const operator = OPERATORS.find((each) => this.takeOperator(each))
    if (operator !== undefined) return { kind: 'compare', operator, left, right: this.operand() }
    if (left.kind !== 'path') throw this.wrong('expected an operator')
    return { kind: 'exists', path: left.path }
  }

  private operand(): Operand {
    this.blank()
    if (this.peek('@') || this.peek('$')) return { kind: 'path', path: this.path() }
    if (this.peek("'") || this.peek('"')) return { kind: 'value', value: this.quoted() }
    if (this.peek('[') || this.peek('{')) return { kind: 'value', value: this.json() }
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (this.take(word)) return { kind: 'value', value }
    }
    const number = this.match(NUMBER)
    if (number !== undefined) return { kind: 'value', value: parseJson(number) }
    const pattern = this.exec(PATTERN)
    if (pattern !== undefined) return { kind: 'pattern', source: pattern[1] ?? '', flags: pattern[2] ?? '' }
    throw this.wrong('expected a path, text, number, list, true, false, null or /pattern/')
  }

  /** A list or an object, which may have its texts in single quotes. */
  private json(): JsonLiteral {
    return this.nested(() => {
      this.blank()
      if (this.take('[')) return this.items(']', () => this.json())
      if (this.take('{')) {
        const members = this.items('}', () => {
          const name = this.quoted()
          this.blank()
          this.expect(':')
          return [name, this.json()] as const
        })
        return Object.fromEntries(members)
      }
      const operand = this.operand()
      if (operand.kind !== 'value') throw this.wrong('expected a value')
      return operand.value
    })
  }

  private items<Item>(end: string, read: () => Item): Item[] {
    const items: Item[] = []
    for (this.blank(); !this.take(end); this.blank()) {
      if (items.length > 0) this.expect(',')
      this.blank()
      items.push(read())
    }
    return items
  }

  private list<Item>(read: () => Item): Item[] {
    const items = [read()]
    for (this.blank(); this.take(','); this.blank()) {
      this.blank()
      items.push(read())
    }
    return items
  }

  /** Text in either quotes; a backslash takes the next character as it is. */
  private quoted(): string {
    const quote = this.text[this.position]
    if (quote !== "'" && quote !== '"') throw this.wrong('expected a text in quotes')
    let value = ''
    for (let index = this.position + 1; index < this.text.length; index++) {
      const character = this.text[index] ?? ''
      if (character === quote) {
        this.position = index + 1
        return value
      }
      value += character === '\\' ? (this.text[++index] ?? '') : character
    }
    throw this.wrong('the quotes are not closed')
  }

  private integer(): number | undefined {
    const digits = this.match(INTEGER)
    return digits === undefined ? undefined : Number(digits)
  }

  private operator(text: string): boolean {
    this.blank()
    return this.take(text)
  }

  /** A word ends where another letter would go on. */
  private takeOperator(operator: Operator): boolean {
    if (!this.peek(operator)) return false
    const next = this.text[this.position + operator.length] ?? ' '
    if (/[a-z]/.test(operator) && /\w/.test(next)) return false
    this.position += operator.length
    return true
  }

  private nested<Result>(read: () => Result): Result {
    if (++this.depth > MAX_DEPTH) throw this.wrong(`nested deeper than ${MAX_DEPTH}`)
    const result = read()
    this.depth--
    return result
  }

  private blank(): void {
    this.match(BLANK)
  }

  private peek(text: string): boolean {
    return this.text.startsWith(text, this.position)
  }

  private take(text: string): boolean {
    if (!this.peek(text)) return false
    this.position += text.length
    return true
  }

  private expect(text: string): void {
    if (!this.take(text)) throw this.wrong(`expected ${text}`)
  }

  private match(expression: RegExp): string | undefined {
    return this.exec(expression)?.[0]
  }

  private exec(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.position
    const found = expression.exec(this.text)
    if (found === null) return undefined
    this.position = expression.lastIndex
    return found
  }

  private wrong(reason: string): Error {
    return JsonPathErrors.PATH_INVALID({ position: this.position, reason })
  }
}

type JsonLiteral = Extract<Operand, { kind: 'value' }>['value']
