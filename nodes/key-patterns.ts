/**
 * Keys that a configuration names by regular expressions, which must match a key whole. A tenant writes the expressions and a device
 * the keys, so the matcher is one whose time is linear (RE2): without look-around and back references.
 */
import { NodeErrors } from './errors.ts'

export type KeyMatcher = (key: string) => boolean

/** A message costs at most some tenths of a second: characters of its keys, times instructions of the expressions. */
const MAX_STEPS = 20_000_000
const MAX_PATTERNS = 1000
const MAX_INSTRUCTIONS = 20_000

const LITERAL = /^[\w\- ]*$/

export interface KeyPatterns {
  /** Those of the members whose name matches one of the expressions. Throws `KEYS_TOO_MANY`. */
  choose<Value>(members: Readonly<Record<string, Value>>): [string, Value][]
}

/** Throws `KEY_PATTERN` where one is no regular expression. */
export async function keyPatterns(patterns: readonly string[]): Promise<KeyPatterns> {
  if (patterns.length > MAX_PATTERNS) throw tooLarge(patterns.length, `more than ${MAX_PATTERNS} keys`)
  const literals = new Set(patterns.filter((pattern) => LITERAL.test(pattern)))
  const expressions = patterns.filter((pattern) => !literals.has(pattern))
  const { matches, instructions } = await compiled(expressions)
  return {
    choose: (members) => {
      const entries = Object.entries(members)
      if (instructions > 0) {
        const characters = entries.reduce((sum, [key]) => sum + key.length, 0)
        if (characters * instructions > MAX_STEPS) throw NodeErrors.KEYS_TOO_MANY({ characters })
      }
      return entries.filter(([key]) => literals.has(key) || matches(key))
    },
  }
}

interface Compiled {
  readonly matches: KeyMatcher
  readonly instructions: number
}

/** The engine is loaded with the first expression: most configurations name plain keys. */
async function compiled(patterns: readonly string[]): Promise<Compiled> {
  if (patterns.length === 0) return { matches: () => false, instructions: 0 }
  const { RE2JS } = await import('re2js')
  const expressions = patterns.map((pattern) => {
    try {
      return RE2JS.compile(pattern)
    } catch (error) {
      throw NodeErrors.KEY_PATTERN({ pattern, reason: error instanceof Error ? error.message : String(error) }, error)
    }
  })
  const instructions = expressions.reduce((sum, expression) => sum + expression.programSize(), 0)
  if (instructions > MAX_INSTRUCTIONS) throw tooLarge(patterns.length, `too large together: ${instructions} steps`)
  return { matches: (key) => expressions.some((expression) => expression.matches(key)), instructions }
}

function tooLarge(count: number, reason: string): Error {
  return NodeErrors.KEY_PATTERN({ pattern: `${count} keys`, reason })
}
