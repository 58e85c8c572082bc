/**
 * Regular expressions (Java's notation) into a program for {@link ./regex.ts}. What no linear-time matcher can do is refused by
 * name: back references, look-around, possessive quantifiers, Unicode properties.
 */
import { Fault } from '../fault.ts'

export type Test = (code: number) => boolean
export type Instruction =
  | { readonly kind: 'test'; readonly test: Test }
  /** Tries `first` before `second`. */
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'save'; readonly slot: number }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'match' }

export interface RegexProgram {
  readonly instructions: readonly Instruction[]
  readonly groups: number
}

type Node =
  | { readonly kind: 'test'; readonly test: Test }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'group'; readonly index: number; readonly inner: Node }
  | {
      readonly kind: 'repeat'
      readonly inner: Node
      readonly least: number
      readonly most: number
      readonly lazy: boolean
    }

const MAX_INSTRUCTIONS = 2000
/** Parts written out: repetitions within each other may cost work without an instruction each. */
const MAX_EMITTED = 20_000
const MAX_NESTING = 50

interface Output {
  readonly instructions: Instruction[]
  emitted: number
}

const NOTHING: Node = { kind: 'sequence', items: [] }

export function compileRegex(pattern: string): RegexProgram {
  const parser = new RegexParser(pattern)
  const root = parser.parse()
  const instructions: Instruction[] = []
  const program = { instructions, emitted: 0 }
  emit({ kind: 'group', index: 0, inner: root }, program)
  push(program, { kind: 'match' })
  return { instructions, groups: parser.groups }
}

function push(program: Output, instruction: Instruction): void {
  if (program.instructions.length >= MAX_INSTRUCTIONS) throw tooLarge()
  program.instructions.push(instruction)
}

function tooLarge(): Fault {
  return new Fault(`pattern is too large: more than ${MAX_INSTRUCTIONS} steps`)
}

function emit(node: Node, program: Output): void {
  if (++program.emitted > MAX_EMITTED) throw tooLarge()
  switch (node.kind) {
    case 'test':
    case 'assert':
      push(program, node)
      break
    case 'sequence':
      for (const item of node.items) emit(item, program)
      break
    case 'group':
      push(program, { kind: 'save', slot: 2 * node.index })
      emit(node.inner, program)
      push(program, { kind: 'save', slot: 2 * node.index + 1 })
      break
    case 'choice':
      emitChoice(node.options, program)
      break
    case 'repeat':
      emitRepeat(node, program)
      break
  }
}

function emitChoice(options: readonly Node[], program: Output): void {
  const jumps: { kind: 'jump'; to: number }[] = []
  options.forEach((option, index) => {
    if (index === options.length - 1) {
      emit(option, program)
      return
    }
    const split: Instruction = { kind: 'split', first: program.instructions.length + 1, second: 0 }
    push(program, split)
    emit(option, program)
    const jump = { kind: 'jump' as const, to: 0 }
    jumps.push(jump)
    push(program, jump)
    split.second = program.instructions.length
  })
  for (const jump of jumps) jump.to = program.instructions.length
}

function emitRepeat(node: Extract<Node, { kind: 'repeat' }>, program: Output): void {
  for (let count = 0; count < node.least; count++) emit(node.inner, program)
  if (node.most === Infinity) {
    const split = { kind: 'split' as const, first: 0, second: 0 }
    const at = program.instructions.length
    push(program, split)
    emit(node.inner, program)
    push(program, { kind: 'jump', to: at })
    setBranches(split, at + 1, program.instructions.length, node.lazy)
    return
  }
  const splits: { kind: 'split'; first: number; second: number; at: number }[] = []
  for (let count = node.least; count < node.most; count++) {
    const split = { kind: 'split' as const, first: 0, second: 0, at: program.instructions.length }
    splits.push(split)
    push(program, split)
    emit(node.inner, program)
  }
  for (const split of splits) setBranches(split, split.at + 1, program.instructions.length, node.lazy)
}

function setBranches(split: { first: number; second: number }, inner: number, behind: number, lazy: boolean): void {
  split.first = lazy ? behind : inner
  split.second = lazy ? inner : behind
}

const isDigit: Test = (code) => code >= 48 && code <= 57
const isWord: Test = (code) => isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
const isSpace: Test = (code) => code === 32 || (code >= 9 && code <= 13)
const not =
  (test: Test): Test =>
  (code) =>
    !test(code)
const CLASSES: ReadonlyMap<string, Test> = new Map([
  ['d', isDigit],
  ['D', not(isDigit)],
  ['w', isWord],
  ['W', not(isWord)],
  ['s', isSpace],
  ['S', not(isSpace)],
])
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['t', 9],
  ['r', 13],
  ['f', 12],
])

class RegexParser {
  groups = 1
  private readonly pattern: string
  private at = 0
  private depth = 0
  private ignoresCase = false

  constructor(pattern: string) {
    this.pattern = pattern
  }

  parse(): Node {
    if (this.pattern.startsWith('(?i)')) {
      this.ignoresCase = true
      this.at = 4
    }
    const root = this.choice()
    if (this.at < this.pattern.length) throw this.error("unexpected ')'")
    return root
  }

  private error(reason: string): Fault {
    return new Fault(`pattern '${this.pattern.slice(0, 100)}': ${reason}`)
  }

  private peek(): string {
    return this.pattern.charAt(this.at)
  }

  private accept(text: string): boolean {
    if (!this.pattern.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  private choice(): Node {
    if (++this.depth > MAX_NESTING) throw this.error(`nested deeper than ${MAX_NESTING} levels`)
    const options = [this.sequence()]
    while (this.accept('|')) options.push(this.sequence())
    this.depth--
    const [only] = options
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options }
  }

  private sequence(): Node {
    const items: Node[] = []
    while (this.at < this.pattern.length && this.peek() !== '|' && this.peek() !== ')') items.push(this.quantified())
    return { kind: 'sequence', items: items.filter((item) => !isNothing(item)) }
  }

  private quantified(): Node {
    let node = this.atom()
    for (;;) {
      const range = this.range()
      if (range === undefined) return node
      const lazy = this.accept('?')
      if (!lazy && this.peek() === '+') throw this.error('possessive quantifiers are not supported')
      // Nothing, however often, is nothing: it would be written out without end and without an instruction.
      if (!isNothing(node)) node = { kind: 'repeat', inner: node, least: range[0], most: range[1], lazy }
      if (range[1] === 0) node = NOTHING
    }
  }

  private range(): [number, number] | undefined {
    if (this.accept('*')) return [0, Infinity]
    if (this.accept('+')) return [1, Infinity]
    if (this.accept('?')) return [0, 1]
    if (this.peek() !== '{') return undefined
    const match = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.pattern.slice(this.at, this.at + 12))
    if (match === null) throw this.error('badly formed repetition')
    this.at += match[0].length
    const least = Number(match[1])
    const most = match[2] === undefined ? least : match[3] === '' ? Infinity : Number(match[3])
    if (most < least) throw this.error('badly formed repetition')
    return [least, most]
  }

  private atom(): Node {
    const letter = this.peek()
    this.at++
    switch (letter) {
      case '(':
        return this.group()
      case '[':
        return { kind: 'test', test: this.cased(this.characterClass()) }
      case '.':
        return {
          kind: 'test',
          test: (code) => code !== 10 && code !== 13 && code !== 0x85 && code !== 0x2028 && code !== 0x2029,
        }
      case '^':
        return { kind: 'assert', what: 'start' }
      case '$':
        return { kind: 'assert', what: 'end' }
      case '\\':
        return this.escape()
      case '*':
      case '+':
      case '?':
      case '{':
        throw this.error(`nothing to repeat before '${letter}'`)
      default:
        return { kind: 'test', test: this.cased(equals(letter.charCodeAt(0))) }
    }
  }

  private group(): Node {
    let index: number | undefined
    if (this.accept('?')) {
      if (!this.accept(':')) {
        const name = /^<[A-Za-z][A-Za-z0-9]*>/.exec(this.pattern.slice(this.at, this.at + 64))
        if (name === null) throw this.error('look-around and inline flags are not supported')
        this.at += name[0].length
        index = this.groups++
      }
    } else index = this.groups++
    const inner = this.choice()
    if (!this.accept(')')) throw this.error("')' is missing")
    return index === undefined ? inner : { kind: 'group', index, inner }
  }

  private escape(): Node {
    const letter = this.peek()
    if (letter === 'b' || letter === 'B') {
      this.at++
      return { kind: 'assert', what: letter === 'b' ? 'boundary' : 'inside' }
    }
    const known = CLASSES.get(letter)
    if (known !== undefined) {
      this.at++
      return { kind: 'test', test: known }
    }
    return { kind: 'test', test: this.cased(equals(this.escapedCode())) }
  }

  /** The character behind a backslash. */
  private escapedCode(): number {
    const letter = this.peek()
    this.at++
    const control = CONTROLS.get(letter)
    if (control !== undefined) return control
    const hex =
      letter === 'u'
        ? /^[0-9a-fA-F]{4}/.exec(this.pattern.slice(this.at, this.at + 4))
        : letter === 'x'
          ? /^[0-9a-fA-F]{2}/.exec(this.pattern.slice(this.at, this.at + 2))
          : null
    if (hex !== null) {
      this.at += hex[0].length
      return parseInt(hex[0], 16)
    }
    if (letter === '' || /[A-Za-z0-9]/.test(letter)) throw this.error(`'\\${letter}' is not supported`)
    return letter.charCodeAt(0)
  }

  private characterClass(): Test {
    const negated = this.accept('^')
    const tests: Test[] = []
    let first = true
    while (first || this.peek() !== ']') {
      if (this.at >= this.pattern.length) throw this.error("']' is missing")
      if (this.peek() === '[' || this.pattern.startsWith('&&', this.at))
        throw this.error('nested classes are not supported')
      tests.push(this.classItem())
      first = false
    }
    this.at++
    const any: Test = (code) => tests.some((test) => test(code))
    return negated ? not(any) : any
  }

  private classItem(): Test {
    if (this.peek() === '\\') {
      const known = CLASSES.get(this.pattern.charAt(this.at + 1))
      if (known !== undefined) {
        this.at += 2
        return known
      }
    }
    const low = this.classCode()
    const isRange = this.peek() === '-' && this.pattern.charAt(this.at + 1) !== ']' && this.at + 1 < this.pattern.length
    if (!isRange) return equals(low)
    this.at++
    const high = this.classCode()
    if (high < low) throw this.error('badly formed range')
    return (code) => code >= low && code <= high
  }

  private classCode(): number {
    const letter = this.peek()
    this.at++
    return letter === '\\' ? this.escapedCode() : letter.charCodeAt(0)
  }

  private cased(test: Test): Test {
    if (!this.ignoresCase) return test
    return (code) => {
      const letter = String.fromCharCode(code)
      return test(code) || test(letter.toLowerCase().charCodeAt(0)) || test(letter.toUpperCase().charCodeAt(0))
    }
  }
}

function isNothing(node: Node): boolean {
  return node.kind === 'sequence' && node.items.length === 0
}

function equals(wanted: number): Test {
  return (code) => code === wanted
}
