/** Expressions by precedence climbing; operators of one rank join from the left, `**` too. Source: `rule-engine.md` 6.4. */
import type { TokenStream } from './token-stream.ts'
import type { BinaryOperator, Expression, Target } from './syntax.ts'

const RANKS: ReadonlyMap<string, number> = new Map([
  ['||', 2],
  ['or', 2],
  ['&&', 3],
  ['and', 3],
  ['|', 4],
  ['^', 5],
  ['&', 6],
  ['==', 7],
  ['===', 7],
  ['!=', 7],
  ['<', 8],
  ['<=', 8],
  ['>', 8],
  ['>=', 8],
  ['instanceof', 8],
  ['is', 8],
  ['<<', 9],
  ['>>', 9],
  ['>>>', 9],
  ['+', 10],
  ['-', 10],
  ['*', 11],
  ['/', 11],
  ['%', 11],
  ['**', 12],
  ['#', 13],
  ['~=', 13],
  ['contains', 13],
  ['soundslike', 13],
  ['strsim', 13],
])
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['or', '||'],
  ['and', '&&'],
  ['===', '=='],
])
const ASSIGNMENTS: ReadonlyMap<string, BinaryOperator | undefined> = new Map<string, BinaryOperator | undefined>([
  ['=', undefined],
  ['+=', '+'],
  ['-=', '-'],
  ['*=', '*'],
  ['/=', '/'],
  ['%=', '%'],
  ['**=', '**'],
  ['&=', '&'],
  ['|=', '|'],
  ['^=', '^'],
  ['<<=', '<<'],
  ['>>=', '>>'],
  ['>>>=', '>>>'],
])
const CASTS: ReadonlySet<string> = new Set([
  'int',
  'long',
  'double',
  'float',
  'boolean',
  'String',
  'Integer',
  'Long',
  'Double',
  'Boolean',
  'short',
  'Short',
  'byte',
  'Byte',
  'char',
  'Character',
])
const WORDS: ReadonlyMap<string, null | boolean> = new Map([
  ['null', null],
  ['nil', null],
  ['true', true],
  ['false', false],
])
/** Words that are no variables; those of other languages get a message of their own. */
const RESERVED: ReadonlySet<string> = new Set([
  'if',
  'else',
  'for',
  'foreach',
  'while',
  'until',
  'do',
  'switch',
  'case',
  'default',
  'return',
  'break',
  'function',
  'def',
  'var',
  'new',
  'isdef',
  'contains',
  'instanceof',
  'is',
  'and',
  'or',
  'soundslike',
  'strsim',
  'in',
])
const FOREIGN: ReadonlySet<string> = new Set([
  'let',
  'const',
  'continue',
  'try',
  'catch',
  'throw',
  'typeof',
  'import',
  'import_static',
  'delete',
  'assert',
  'with',
  'proto',
  'this',
])

export function parseExpression(tokens: TokenStream): Expression {
  return tokens.nested(() => {
    const left = parseConditional(tokens)
    const operator = tokens.current.text
    if (tokens.current.kind !== 'operator' || !ASSIGNMENTS.has(operator)) return left
    const joining = ASSIGNMENTS.get(operator)
    if (!isTarget(left)) throw tokens.error('left side can not be assigned to', left.at)
    tokens.next()
    const value = parseExpression(tokens)
    return joining === undefined
      ? { kind: 'assign', at: left.at, target: left, value }
      : { kind: 'assign', at: left.at, target: left, operator: joining, value }
  })
}

function isTarget(expression: Expression): expression is Target {
  return expression.kind === 'name' || expression.kind === 'index' || (expression.kind === 'member' && !expression.safe)
}

function parseConditional(tokens: TokenStream): Expression {
  const test = parseBinary(tokens, 2)
  if (!tokens.accept('?')) return test
  const yes = tokens.nested(() => parseConditional(tokens))
  tokens.expect(':')
  const no = tokens.nested(() => parseConditional(tokens))
  return { kind: 'conditional', at: test.at, test, yes, no }
}

function parseBinary(tokens: TokenStream, least: number): Expression {
  let left = parseUnary(tokens)
  for (;;) {
    const token = tokens.current
    const rank = token.kind === 'operator' || token.kind === 'name' ? RANKS.get(token.text) : undefined
    if (rank === undefined || rank < least) return left
    tokens.next()
    if (rank === 8 && token.kind === 'name') {
      left = { kind: 'instance', at: token.at, operand: left, type: parseTypeName(tokens) }
      continue
    }
    const right = tokens.nested(() => parseBinary(tokens, rank + 1))
    left = {
      kind: 'binary',
      at: token.at,
      operator: (SPELLINGS.get(token.text) ?? token.text) as BinaryOperator,
      left,
      right,
    }
  }
}

function parseUnary(tokens: TokenStream): Expression {
  const { text, at, kind } = tokens.current
  if (kind === 'operator' && (text === '-' || text === '!' || text === '~')) {
    tokens.next()
    const operand = tokens.nested(() => parseUnary(tokens))
    return { kind: 'unary', at, operator: text, operand }
  }
  if (kind === 'operator' && (text === '++' || text === '--')) {
    tokens.next()
    const name = tokens.expectName('a variable').text
    return { kind: 'step', at, name, by: text === '++' ? 1 : -1, prefix: true }
  }
  if (
    text === '(' &&
    kind === 'operator' &&
    CASTS.has(tokens.peek(1).text) &&
    tokens.is(')', 2) &&
    tokens.peek(1).kind === 'name'
  ) {
    tokens.next()
    const type = tokens.next().text
    tokens.next()
    return { kind: 'cast', at, type, operand: tokens.nested(() => parseUnary(tokens)) }
  }
  if (kind === 'name' && text === 'isdef') {
    tokens.next()
    return { kind: 'defined', at, name: tokens.expectName('a variable').text }
  }
  return parsePostfix(tokens, parsePrimary(tokens))
}

function parsePostfix(tokens: TokenStream, start: Expression): Expression {
  let object = start
  for (;;) {
    const { at } = tokens.current
    if (tokens.is('.') || tokens.is('.?')) {
      const safe = tokens.next().text === '.?'
      const name = tokens.expectName('a property')
      object = tokens.is('(')
        ? { kind: 'method', at: name.at, object, name: name.text, safe, arguments: parseArguments(tokens) }
        : { kind: 'member', at: name.at, object, name: name.text, safe }
    } else if (tokens.is('[')) {
      tokens.next()
      const index = parseExpression(tokens)
      tokens.expect(']')
      object = { kind: 'index', at, object, index }
    } else if ((tokens.is('++') || tokens.is('--')) && object.kind === 'name') {
      // Only where nothing follows: inside a larger expression the reference refuses it too.
      const by = tokens.next().text === '++' ? 1 : -1
      return { kind: 'step', at, name: object.name, by, prefix: false }
    } else return object
  }
}

function parseArguments(tokens: TokenStream): Expression[] {
  tokens.expect('(')
  return parseItems(tokens, ')')
}

function parseItems(tokens: TokenStream, end: string): Expression[] {
  const items: Expression[] = []
  while (!tokens.accept(end)) {
    if (items.length > 0) {
      tokens.expect(',')
      if (end !== ')' && tokens.accept(end)) break
    }
    items.push(parseExpression(tokens))
  }
  return items
}

function parsePrimary(tokens: TokenStream): Expression {
  const token = tokens.next()
  const { at } = token
  if (token.kind === 'number' || token.kind === 'string') return { kind: 'literal', at, value: token.value }
  if (token.kind === 'name') return parseWord(tokens, token.text, at)
  if (token.text === '(' && token.kind === 'operator') {
    const inner = parseExpression(tokens)
    tokens.expect(')')
    return inner.kind === 'binary' ? { ...inner, grouped: true } : inner
  }
  if (token.text === '{' && token.kind === 'operator') return { kind: 'map', at, entries: parseEntries(tokens, '}') }
  if (token.text === '[' && token.kind === 'operator') return parseBracket(tokens, at)
  throw tokens.error(token.kind === 'end' ? 'unexpected end of the script' : `unexpected '${token.text}'`, at)
}

function parseWord(tokens: TokenStream, word: string, at: number): Expression {
  if (WORDS.has(word)) return { kind: 'literal', at, value: WORDS.get(word) ?? null }
  if (word === 'new') return { kind: 'new', at, type: parseTypeName(tokens), arguments: parseArguments(tokens) }
  if (FOREIGN.has(word)) throw tokens.error(`'${word}' does not exist in this language`, at)
  if (RESERVED.has(word)) throw tokens.error(`unexpected '${word}'`, at)
  return tokens.is('(')
    ? { kind: 'call', at, name: word, arguments: parseArguments(tokens) }
    : { kind: 'name', at, name: word }
}

/** `[1, 2]`, `['k': 1]`, `[:]`. */
function parseBracket(tokens: TokenStream, at: number): Expression {
  if (tokens.is(':') && tokens.is(']', 1)) {
    tokens.next()
    tokens.next()
    return { kind: 'map', at, entries: [] }
  }
  if (tokens.is(':', 1) && tokens.current.kind !== 'operator')
    return { kind: 'map', at, entries: parseEntries(tokens, ']') }
  return { kind: 'list', at, items: parseItems(tokens, ']') }
}

function parseEntries(tokens: TokenStream, end: string): [Expression, Expression][] {
  const entries: [Expression, Expression][] = []
  while (!tokens.accept(end)) {
    if (entries.length > 0) {
      tokens.expect(',')
      if (tokens.accept(end)) break
    }
    const key = parseKey(tokens)
    tokens.expect(':')
    entries.push([key, parseExpression(tokens)])
  }
  return entries
}

/** A word before the colon is a text, as in JSON. */
function parseKey(tokens: TokenStream): Expression {
  if (tokens.current.kind === 'name' && tokens.is(':', 1)) {
    const token = tokens.next()
    return { kind: 'literal', at: token.at, value: token.text }
  }
  return parseBinary(tokens, 2)
}

/** `String`, `java.util.List`. */
export function parseTypeName(tokens: TokenStream): string {
  let name = tokens.expectName('a type').text
  while (tokens.is('.') && tokens.peek(1).kind === 'name') {
    tokens.next()
    name += `.${tokens.next().text}`
  }
  return name
}
