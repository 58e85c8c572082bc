/** Statements, functions and the whole script. Throws `SCRIPT_SYNTAX` with line and column. Source: `rule-engine.md` 6.4. */
import { parseExpression, parseTypeName } from './expressions.ts'
import { TokenStream } from './token-stream.ts'
import { findsWrites } from './writes.ts'
import type { Block, Expression, FunctionDefinition, Program, Statement, SwitchCase } from './syntax.ts'

const DECLARATIONS: ReadonlySet<string> = new Set([
  'var',
  'int',
  'long',
  'double',
  'float',
  'boolean',
  'char',
  'byte',
  'short',
  'String',
  'Integer',
  'Long',
  'Double',
  'Float',
  'Boolean',
  'Object',
  'Number',
])
const MAX_PARAMETERS = 10

export function parseProgram(source: string): Program {
  const tokens = new TokenStream(source)
  const functions: FunctionDefinition[] = []
  const statements: Statement[] = []
  while (tokens.current.kind !== 'end') {
    if (tokens.is('function') || (tokens.is('def') && tokens.peek(1).kind === 'name'))
      functions.push(parseFunction(tokens))
    else parseStatementInto(tokens, statements)
  }
  const body = { statements }
  return { body, functions, writes: findsWrites(tokens.tokens) }
}

function parseFunction(tokens: TokenStream): FunctionDefinition {
  const { at } = tokens.next()
  const name = tokens.expectName('the name of a function').text
  tokens.expect('(')
  const parameters: string[] = []
  while (!tokens.accept(')')) {
    if (parameters.length > 0) tokens.expect(',')
    parameters.push(tokens.expectName('a parameter').text)
  }
  if (parameters.length > MAX_PARAMETERS) throw tokens.error(`more than ${MAX_PARAMETERS} parameters`, at)
  const body = parseBraces(tokens)
  tokens.accept(';')
  return { at, name, parameters, body }
}

function parseBraces(tokens: TokenStream): Block {
  return tokens.nested(() => {
    tokens.expect('{')
    const statements: Statement[] = []
    while (!tokens.accept('}')) {
      if (tokens.current.kind === 'end') throw tokens.error("expected '}' but found the end of the script")
      if (tokens.is('throw')) statements.push(parseThrow(tokens))
      else parseStatementInto(tokens, statements)
    }
    return { statements }
  })
}

/** The language has no `throw`: in a block it fails when it is reached, as existing scripts rely on. */
function parseThrow(tokens: TokenStream): Statement {
  const { at, text } = tokens.next()
  parseExpression(tokens)
  endOfStatement(tokens)
  return { kind: 'expression', at, expression: { kind: 'name', at, name: text } }
}

/** A block in braces or a single statement. */
function parseBody(tokens: TokenStream): Block {
  if (tokens.is('{')) return parseBraces(tokens)
  const statements: Statement[] = []
  tokens.nested(() => parseStatementInto(tokens, statements))
  return { statements }
}

function parseStatementInto(tokens: TokenStream, statements: Statement[]): void {
  if (tokens.accept(';')) return
  const { at, kind, text } = tokens.current
  const compound = kind === 'name' ? parseCompound(tokens, text, at) : undefined
  if (compound !== undefined) {
    statements.push(compound)
    return
  }
  statements.push(parseSimple(tokens))
  endOfStatement(tokens)
}

/** `;`, or the end of the block. */
function endOfStatement(tokens: TokenStream): void {
  if (tokens.accept(';') || tokens.is('}') || tokens.current.kind === 'end') return
  throw tokens.error(`expected ';' but found ${tokens.describe()}`)
}

function parseCompound(tokens: TokenStream, word: string, at: number): Statement | undefined {
  switch (word) {
    case 'if':
      return parseIf(tokens, at)
    case 'while':
    case 'until': {
      tokens.next()
      const test = parseTest(tokens)
      return loop(at, { test, until: word === 'until', body: parseBody(tokens) })
    }
    case 'do':
      return parseDo(tokens, at)
    case 'for':
    case 'foreach':
      return parseFor(tokens, at)
    case 'switch':
      return parseSwitch(tokens, at)
    case 'function':
      throw tokens.error('functions can only be declared at the top of the script')
    default:
      return undefined
  }
}

function loop(
  at: number,
  parts: Partial<Omit<Extract<Statement, { kind: 'loop' }>, 'at' | 'kind'>> & { body: Block },
): Statement {
  return { kind: 'loop', at, init: [], test: undefined, until: false, testAfter: false, update: [], ...parts }
}

function parseTest(tokens: TokenStream): Expression {
  tokens.expect('(')
  const test = parseExpression(tokens)
  tokens.expect(')')
  return test
}

function parseIf(tokens: TokenStream, at: number): Statement {
  tokens.next()
  const test = parseTest(tokens)
  const yes = parseBody(tokens)
  if (!tokens.accept('else')) return { kind: 'if', at, test, yes, no: undefined }
  return { kind: 'if', at, test, yes, no: parseBody(tokens) }
}

function parseDo(tokens: TokenStream, at: number): Statement {
  tokens.next()
  const body = parseBraces(tokens)
  const until = tokens.is('until')
  if (!until) tokens.expect('while')
  else tokens.next()
  const test = parseTest(tokens)
  endOfStatement(tokens)
  return loop(at, { test, until, testAfter: true, body })
}

function parseFor(tokens: TokenStream, at: number): Statement {
  tokens.next()
  tokens.expect('(')
  const declared = tokens.peek(1).kind === 'name' && tokens.is(':', 2) ? 1 : 0
  if (tokens.peek(declared).kind === 'name' && tokens.is(':', declared + 1)) {
    if (declared === 1) tokens.next()
    const name = tokens.next().text
    tokens.next()
    const items = parseExpression(tokens)
    tokens.expect(')')
    return { kind: 'foreach', at, name, items, body: parseBody(tokens) }
  }
  const init = tokens.is(';') ? [] : [parseSimple(tokens)]
  tokens.expect(';')
  const test = tokens.is(';') ? undefined : parseExpression(tokens)
  tokens.expect(';')
  const update = tokens.is(')') ? [] : [parseSimple(tokens)]
  tokens.expect(')')
  return loop(at, { init, test, update, body: parseBody(tokens) })
}

function parseSwitch(tokens: TokenStream, at: number): Statement {
  tokens.next()
  const subject = parseTest(tokens)
  tokens.expect('{')
  const cases: SwitchCase[] = []
  while (!tokens.accept('}')) {
    const isDefault = tokens.accept('default')
    if (!isDefault) tokens.expect('case')
    const value = isDefault ? undefined : parseExpression(tokens)
    tokens.expect(':')
    const statements: Statement[] = []
    while (!tokens.is('case') && !tokens.is('default') && !tokens.is('}')) {
      if (tokens.current.kind === 'end') throw tokens.error("expected '}' but found the end of the script")
      parseStatementInto(tokens, statements)
    }
    cases.push({ value, body: { statements } })
  }
  return { kind: 'switch', at, subject, cases }
}

/** Statements that end with `;`. */
function parseSimple(tokens: TokenStream): Statement {
  const { at, kind, text } = tokens.current
  if (kind === 'name') {
    if (text === 'return') {
      tokens.next()
      const isBare = tokens.is(';') || tokens.is('}') || tokens.current.kind === 'end'
      return { kind: 'return', at, value: isBare ? undefined : parseExpression(tokens) }
    }
    if (text === 'break') {
      tokens.next()
      return { kind: 'break', at }
    }
    if (isDeclaration(tokens)) return parseDeclaration(tokens, at)
  }
  return { kind: 'expression', at, expression: parseExpression(tokens) }
}

/** `var x`, `int x`, `java.util.List x`. */
function isDeclaration(tokens: TokenStream): boolean {
  if (DECLARATIONS.has(tokens.current.text)) return tokens.peek(1).kind === 'name'
  if (!tokens.is('java')) return false
  let ahead = 1
  while (tokens.is('.', ahead) && tokens.peek(ahead + 1).kind === 'name') ahead += 2
  return tokens.peek(ahead).kind === 'name'
}

function parseDeclaration(tokens: TokenStream, at: number): Statement {
  const type = parseTypeName(tokens)
  const name = tokens.expectName('a variable').text
  const value = tokens.accept('=') ? parseExpression(tokens) : undefined
  if (tokens.is(',')) throw tokens.error('one variable a declaration')
  return { kind: 'declare', at, name, type, value }
}
