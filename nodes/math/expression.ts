/**
 * Arithmetic expressions of the math node's CUSTOM operation, in exp4j's dialect (`rule-nodes.md` 49): + - * / % ^, functions, the constants
 * pi, π, e and φ, and a product without a sign, as in `2x`. It runs no script.
 */
import { NodeErrors } from '../errors.ts'

export type Variables = ReadonlyMap<string, number>
export type Expression = (variables: Variables) => number

const MAX_DEPTH = 60

const FUNCTIONS: Readonly<Record<string, (...values: readonly [number, number]) => number>> = {
  abs: Math.abs,
  acos: Math.acos,
  asin: Math.asin,
  atan: Math.atan,
  cbrt: Math.cbrt,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  cot: (value) => 1 / Math.tan(value),
  exp: Math.exp,
  expm1: Math.expm1,
  floor: Math.floor,
  lg: Math.log10,
  ln: Math.log,
  log: Math.log,
  log10: Math.log10,
  log1p: Math.log1p,
  log2: Math.log2,
  logab: (base, value) => Math.log(value) / Math.log(base),
  pow: (base, exponent) => base ** exponent,
  signum: Math.sign,
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
}
const TWO_VALUES = new Set(['logab', 'pow'])
const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['π', Math.PI],
  ['e', Math.E],
  ['φ', 1.61803398874],
])

const OPENING = ['(', '[', '{']
const CLOSING = [')', ']', '}']
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy
const BLANK = /\s*/y

/** Throws `EXPRESSION` where the text is none, or names what is neither a variable nor a function. */
export function parseExpression(text: string, variables: ReadonlySet<string>): Expression {
  return new Parser(text, variables).whole()
}

class Parser {
  private position = 0
  private depth = 0
  private readonly text: string
  private readonly variables: ReadonlySet<string>

  constructor(text: string, variables: ReadonlySet<string>) {
    this.text = text
    this.variables = variables
  }

  whole(): Expression {
    const expression = this.sum()
    if (this.position < this.text.length) throw this.wrong('unexpected')
    return expression
  }

  private sum(): Expression {
    let left = this.product()
    for (;;) {
      const before = left
      if (this.take('+')) {
        const right = this.product()
        left = (variables) => before(variables) + right(variables)
      } else if (this.take('-')) {
        const right = this.product()
        left = (variables) => before(variables) - right(variables)
      } else return left
    }
  }

  private product(): Expression {
    let left = this.signed()
    for (;;) {
      const before = left
      if (this.take('/')) {
        const right = this.signed()
        left = (variables) => before(variables) / right(variables)
      } else if (this.take('%')) {
        const right = this.signed()
        left = (variables) => before(variables) % right(variables)
      } else if (this.take('*') || this.isFactorNext()) {
        const right = this.signed()
        left = (variables) => before(variables) * right(variables)
      } else return left
    }
  }

  /** A sign binds less than a power: -2^2 is -4. */
  private signed(): Expression {
    return this.nested(() => {
      if (this.take('-')) {
        const value = this.signed()
        return (variables) => -value(variables)
      }
      return this.take('+') ? this.signed() : this.power()
    })
  }

  private power(): Expression {
    const base = this.factor()
    if (!this.take('^')) return base
    const exponent = this.signed()
    return (variables) => base(variables) ** exponent(variables)
  }

  private factor(): Expression {
    if (this.takeOne(OPENING)) {
      const inner = this.sum()
      if (!this.takeOne(CLOSING)) throw this.wrong('expected )')
      return inner
    }
    const number = this.match(NUMBER)
    if (number !== undefined) {
      const value = Number(number)
      return () => value
    }
    const name = this.match(NAME)
    if (name === undefined) throw this.wrong('expected a number, a name or (')
    if (this.variables.has(name)) return (variables) => variables.get(name) ?? Number.NaN
    return this.call(name)
  }

  private call(name: string): Expression {
    const calculate = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (calculate === undefined) {
      const constant = CONSTANTS.get(name)
      if (constant === undefined) throw this.wrong(`${name} is neither an argument nor a function`)
      return () => constant
    }
    if (!this.takeOne(OPENING)) {
      if (TWO_VALUES.has(name) || /[+-]/.test(this.text.charAt(this.position))) throw this.wrong('expected (')
      // Without parentheses it takes all that follows: sqrt x + 1 is the root of the sum.
      const all = this.nested(() => this.sum())
      return (variables) => calculate(all(variables), 0)
    }
    const first = this.sum()
    const second = TWO_VALUES.has(name) && this.take(',') ? this.sum() : undefined
    if (TWO_VALUES.has(name) !== (second !== undefined) || !this.takeOne(CLOSING)) {
      throw this.wrong(`${name} takes ${TWO_VALUES.has(name) ? 'two values' : 'one value'}`)
    }
    return (variables) => calculate(first(variables), second?.(variables) ?? 0)
  }

  private isFactorNext(): boolean {
    this.match(BLANK)
    return /[\p{L}\p{N}_([{.]/u.test(this.text.charAt(this.position))
  }

  private nested<Result>(read: () => Result): Result {
    if (++this.depth > MAX_DEPTH) throw this.wrong('nested too deep')
    const result = read()
    this.depth--
    return result
  }

  private take(character: string): boolean {
    this.match(BLANK)
    if (this.text.charAt(this.position) !== character) return false
    this.position++
    this.match(BLANK)
    return true
  }

  /** Any of them closes what any of them opened, as in the reference. */
  private takeOne(characters: readonly string[]): boolean {
    return characters.some((character) => this.take(character))
  }

  private match(expression: RegExp): string | undefined {
    expression.lastIndex = this.position
    const found = expression.exec(this.text)?.[0]
    if (found !== undefined) this.position += found.length
    return found
  }

  private wrong(reason: string): Error {
    return NodeErrors.EXPRESSION({ position: this.position, reason })
  }
}
