/** Reading tokens one after another. Throws `SCRIPT_SYNTAX`. */
import { syntaxError } from './source.ts'
import { tokenize, type Token } from './lexer.ts'

/** How deep expressions and statements may nest: the parser and the compiler recurse. */
const MAX_NESTING = 100

export class TokenStream {
  readonly source: string
  readonly tokens: readonly Token[]
  private position = 0
  private nesting = 0

  constructor(source: string) {
    this.source = source
    this.tokens = tokenize(source)
  }

  get current(): Token {
    return this.peek(0)
  }

  /** The token some places ahead. */
  peek(ahead: number): Token {
    const token = this.tokens[Math.min(this.position + ahead, this.tokens.length - 1)]
    if (token === undefined) throw this.error('no tokens')
    return token
  }

  next(): Token {
    const token = this.current
    this.position++
    return token
  }

  /** Whether the current token is this operator or word. */
  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.text === text && (token.kind === 'operator' || token.kind === 'name')
  }

  accept(text: string): boolean {
    if (!this.is(text)) return false
    this.position++
    return true
  }

  expect(text: string): Token {
    if (!this.is(text)) throw this.error(`expected '${text}' but found ${this.describe()}`)
    return this.next()
  }

  expectName(what: string): Token {
    if (this.current.kind !== 'name') throw this.error(`expected ${what} but found ${this.describe()}`)
    return this.next()
  }

  describe(): string {
    return this.current.kind === 'end' ? 'the end of the script' : `'${this.current.text}'`
  }

  error(reason: string, at: number = this.current.at): Error {
    return syntaxError(this.source, at, reason)
  }

  /** Runs one level of nesting. */
  nested<Result>(parse: () => Result): Result {
    if (++this.nesting > MAX_NESTING) throw this.error(`nested deeper than ${MAX_NESTING} levels`)
    const result = parse()
    this.nesting--
    return result
  }
}
