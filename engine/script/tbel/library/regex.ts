/**
 * A matcher whose time is bounded by text × pattern, whatever the pattern: all alternatives advance together, so nothing
 * backtracks (`reliability.md` section 5, "regex backtracking"). Every advance is counted on the budget.
 */
import { Fault } from '../fault.ts'
import { compileRegex, type Instruction, type RegexProgram } from './regex-parser.ts'
import type { Budget } from '../budget.ts'

/** Positions of the groups, two each; -1 where a group took no part. */
export type Captures = readonly number[]

const CACHE_SIZE = 256
const MAX_PATTERN = 1000
const cache = new Map<string, RegexProgram>()

function programOf(pattern: string): RegexProgram {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  if (pattern.length > MAX_PATTERN)
    throw new Fault(`pattern of ${pattern.length} characters, at most ${MAX_PATTERN} are allowed`)
  const program = compileRegex(pattern)
  const [oldest] = cache.keys()
  if (cache.size >= CACHE_SIZE && oldest !== undefined) cache.delete(oldest)
  cache.set(pattern, program)
  return program
}

export function matchesWhole(pattern: string, text: string, budget: Budget): boolean {
  return execute(programOf(pattern), text, 0, true, budget) !== undefined
}

/** The first match at or behind `from`. */
export function search(pattern: string, text: string, from: number, budget: Budget): Captures | undefined {
  return execute(programOf(pattern), text, from, false, budget)
}

interface Thread {
  readonly at: number
  readonly captures: readonly number[]
}

function execute(
  program: RegexProgram,
  text: string,
  from: number,
  whole: boolean,
  budget: Budget,
): Captures | undefined {
  const { instructions } = program
  const nothing = new Array<number>(2 * program.groups).fill(-1)
  const visited = new Uint32Array(instructions.length)
  let generation = 0
  let threads: Thread[] = []
  let best: Captures | undefined
  for (let position = from; position <= text.length; position++) {
    generation++
    const next: Thread[] = []
    // Threads wait before the character here; a new attempt starts behind all older ones while nothing has matched.
    const starts =
      best === undefined && (position === from || !whole) ? [...threads, { at: 0, captures: nothing }] : threads
    budget.spend(1 + (starts.length >> 1))
    for (const thread of starts) {
      const ended = follow(instructions, thread, text, position, visited, generation, next, whole)
      if (ended !== undefined) {
        best = ended
        break
      }
    }
    if (position === text.length || (next.length === 0 && (whole || best !== undefined))) break
    threads = advance(instructions, next, text.charCodeAt(position))
    budget.spend(next.length >> 2)
  }
  return best
}

/** Follows a thread through everything that takes no character; gives its captures where it reaches the match. */
function follow(
  instructions: readonly Instruction[],
  start: Thread,
  text: string,
  position: number,
  visited: Uint32Array,
  generation: number,
  next: Thread[],
  whole: boolean,
): Captures | undefined {
  const stack: Thread[] = [start]
  for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
    const { at, captures } = thread
    const instruction = instructions[at]
    if (instruction === undefined || visited[at] === generation) continue
    visited[at] = generation
    switch (instruction.kind) {
      case 'test':
        next.push(thread)
        break
      case 'jump':
        stack.push({ at: instruction.to, captures })
        break
      case 'split':
        stack.push({ at: instruction.second, captures }, { at: instruction.first, captures })
        break
      case 'save':
        stack.push({ at: at + 1, captures: captures.with(instruction.slot, position) })
        break
      case 'assert':
        if (holds(instruction.what, text, position)) stack.push({ at: at + 1, captures })
        break
      case 'match':
        if (!whole || position === text.length) return captures
        break
    }
  }
  return undefined
}

function advance(instructions: readonly Instruction[], waiting: readonly Thread[], code: number): Thread[] {
  const threads: Thread[] = []
  for (const { at, captures } of waiting) {
    const instruction = instructions[at]
    if (instruction?.kind === 'test' && instruction.test(code)) threads.push({ at: at + 1, captures })
  }
  return threads
}

function holds(what: 'start' | 'end' | 'boundary' | 'inside', text: string, position: number): boolean {
  if (what === 'start') return position === 0
  // Java's `$` also stands before a last line end.
  if (what === 'end') return position === text.length || (position === text.length - 1 && text.endsWith('\n'))
  const boundary = isWordAt(text, position - 1) !== isWordAt(text, position)
  return boundary === (what === 'boundary')
}

function isWordAt(text: string, index: number): boolean {
  return /^\w$/.test(text.charAt(index))
}
