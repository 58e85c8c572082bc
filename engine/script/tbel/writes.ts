/**
 * Whether a script can change a map or a list. Decided from the tokens, on the safe side: such a script works on its own
 * copy of the message, every other one reads the shared data in place.
 */
import type { Token } from './lexer.ts'

const ASSIGNING: ReadonlySet<string> = new Set([
  '=',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
  '**=',
  '&=',
  '|=',
  '^=',
  '<<=',
  '>>=',
  '>>>=',
])
/** Every method of the library that changes what it is called on. */
export const CHANGING_METHODS: ReadonlySet<string> = new Set([
  'put',
  'putAll',
  'putIfAbsent',
  'remove',
  'clear',
  'sortByKey',
  'sortByValue',
  'invert',
  'reverse',
  'add',
  'addAll',
  'push',
  'pop',
  'shift',
  'unshift',
  'set',
  'splice',
  'sort',
  'fill',
  'removeAll',
  'retainAll',
])

export function findsWrites(tokens: readonly Token[]): boolean {
  for (let index = 1; index < tokens.length; index++) {
    const token = tokens[index]
    const before = tokens[index - 1]
    if (token === undefined || before === undefined) continue
    if (token.kind === 'name' && (before.text === '.' || before.text === '.?') && CHANGING_METHODS.has(token.text))
      return true
    if (token.kind !== 'operator' || !ASSIGNING.has(token.text)) continue
    if (before.text === ']' || before.text === ')' || tokens[index - 2]?.text === '.') return true
  }
  return false
}
