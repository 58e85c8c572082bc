/** The conditions in filters of JSON paths: what they compare, and how (Jayway's rules). */
import { LongDecimal, WholeDouble, isJsonObject, stringifyJson } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import { isMillraceError } from '../../model/errors.ts'
import { JsonPathErrors } from './errors.ts'
import type { Condition, Operand, Operator, Path } from './syntax.ts'

interface CompiledPattern {
  matches(text: string): boolean
  readonly instructions: number
}

/** The evaluation of one path over one document. */
export interface Evaluation {
  /** Throws `NOT_FOUND`. */
  value(path: Path, item: JsonValue): JsonValue
  /** Counts work against the bound. Throws `TOO_COSTLY`. */
  spend(visits: number): void
}

type PatternOperand = Extract<Operand, { kind: 'pattern' }>

/** Instructions of a regular expression over as many characters that count as one visited place. */
const PATTERN_STEPS_A_VISIT = 200
/** Characters compared that count as one visited place. */
const CHARACTERS_A_VISIT = 1024

/** Compiles the regular expressions, by an engine of linear time that is loaded when one is there. Throws `PATH_INVALID`. */
export async function compileConditions(path: Path): Promise<Conditions> {
  const sources = patternsIn(path)
  const patterns = new Map<PatternOperand, CompiledPattern>()
  if (sources.length > 0) {
    const { RE2JS } = await import('re2js')
    for (const operand of sources) {
      try {
        const compiled = RE2JS.compile(withFlags(operand))
        patterns.set(operand, { matches: (text) => compiled.matches(text), instructions: compiled.programSize() })
      } catch (error) {
        const reason = `/${operand.source}/: ${error instanceof Error ? error.message : String(error)}`
        throw JsonPathErrors.PATH_INVALID({ position: 0, reason }, error)
      }
    }
  }
  return new Conditions(patterns)
}

function withFlags({ source, flags }: PatternOperand): string {
  const known = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('')
  return known === '' ? source : `(?${known})${source}`
}

function patternsIn(path: Path): PatternOperand[] {
  const inOperand = (operand: Operand): PatternOperand[] => {
    if (operand.kind === 'pattern') return [operand]
    return operand.kind === 'path' ? patternsIn(operand.path) : []
  }
  const inCondition = (condition: Condition): PatternOperand[] => {
    switch (condition.kind) {
      case 'and':
      case 'or':
        return [...inCondition(condition.left), ...inCondition(condition.right)]
      case 'not':
        return inCondition(condition.condition)
      case 'exists':
        return patternsIn(condition.path)
      case 'compare':
        return [...inOperand(condition.left), ...inOperand(condition.right)]
    }
  }
  const inSteps = path.steps.flatMap((step) => (step.kind === 'filter' ? inCondition(step.condition) : []))
  return [...inSteps, ...(path.call?.arguments.flatMap(inOperand) ?? [])]
}

export class Conditions {
  private readonly patterns: ReadonlyMap<PatternOperand, CompiledPattern>

  constructor(patterns: ReadonlyMap<PatternOperand, CompiledPattern>) {
    this.patterns = patterns
  }

  holds(evaluation: Evaluation, condition: Condition, item: JsonValue): boolean {
    evaluation.spend(1)
    switch (condition.kind) {
      case 'and':
        return this.holds(evaluation, condition.left, item) && this.holds(evaluation, condition.right, item)
      case 'or':
        return this.holds(evaluation, condition.left, item) || this.holds(evaluation, condition.right, item)
      case 'not':
        return !this.holds(evaluation, condition.condition, item)
      case 'exists':
        return this.exists(evaluation, condition.path, item)
      case 'compare':
        return this.compare(evaluation, condition, item)
    }
  }

  /** Undefined where the path leads nowhere. */
  operand(evaluation: Evaluation, operand: Operand, item: JsonValue): JsonValue | undefined {
    if (operand.kind === 'value') return operand.value
    if (operand.kind === 'pattern') return operand.source
    try {
      return evaluation.value(operand.path, item)
    } catch (error) {
      if (isMillraceError(error) && error.code === 'json-path.NOT_FOUND') return undefined
      throw error
    }
  }

  private exists(evaluation: Evaluation, path: Path, item: JsonValue): boolean {
    const value = this.operand(evaluation, { kind: 'path', path }, item)
    return value !== undefined && (path.isDefinite || !Array.isArray(value) || value.length > 0)
  }

  private compare(
    evaluation: Evaluation,
    { operator, left, right }: Extract<Condition, { kind: 'compare' }>,
    item: JsonValue,
  ): boolean {
    const a = this.operand(evaluation, left, item)
    if (operator === '=~') return this.isMatch(evaluation, a, left, right, item)
    const b = this.operand(evaluation, right, item)
    if (Array.isArray(a)) evaluation.spend(a.length)
    if (Array.isArray(b)) evaluation.spend(b.length)
    return compareValues(evaluation, operator, a, b)
  }

  /** The expression may stand on either side; it must match the whole text. */
  private isMatch(
    evaluation: Evaluation,
    a: JsonValue | undefined,
    left: Operand,
    right: Operand,
    item: JsonValue,
  ): boolean {
    const [pattern, found] = right.kind === 'pattern' ? [right, a] : [left, this.operand(evaluation, right, item)]
    const value = textOf(found)
    const compiled = pattern.kind === 'pattern' ? this.patterns.get(pattern) : undefined
    if (compiled === undefined || value === undefined) return false
    evaluation.spend(Math.ceil((value.length * compiled.instructions) / PATTERN_STEPS_A_VISIT))
    return compiled.matches(value)
  }
}

function compareValues(
  evaluation: Evaluation,
  operator: Exclude<Operator, '=~'>,
  a: JsonValue | undefined,
  b: JsonValue | undefined,
): boolean {
  switch (operator) {
    case '==':
      return isEqual(evaluation, a, b)
    case '!=':
      return !isEqual(evaluation, a, b)
    case '===':
      return kindOf(a) === kindOf(b) && isEqual(evaluation, a, b)
    case '!==':
      return kindOf(a) !== kindOf(b) || !isEqual(evaluation, a, b)
    case '<':
      return order(evaluation, a, b, (sign) => sign < 0)
    case '<=':
      return order(evaluation, a, b, (sign) => sign <= 0)
    case '>':
      return order(evaluation, a, b, (sign) => sign > 0)
    case '>=':
      return order(evaluation, a, b, (sign) => sign >= 0)
    default:
      return a !== undefined && b !== undefined && compareLists(evaluation, operator, a, b)
  }
}

function compareLists(
  evaluation: Evaluation,
  operator: 'in' | 'nin' | 'subsetof' | 'anyof' | 'noneof' | 'contains' | 'size' | 'empty',
  a: JsonValue,
  b: JsonValue,
): boolean {
  const holds = (list: JsonValue, value: JsonValue): boolean =>
    Array.isArray(list) && list.some((each) => isEqual(evaluation, each, value))
  const both = (test: (mine: readonly JsonValue[]) => boolean): boolean =>
    Array.isArray(a) && Array.isArray(b) && test(a)
  switch (operator) {
    case 'in':
      return holds(b, a)
    case 'nin':
      return Array.isArray(b) && !holds(b, a)
    case 'subsetof':
      return both((mine) => mine.every((each) => holds(b, each)))
    case 'anyof':
      return both((mine) => mine.some((each) => holds(b, each)))
    case 'noneof':
      return both((mine) => !mine.some((each) => holds(b, each)))
    case 'contains':
      return typeof a === 'string' ? typeof b === 'string' && includes(evaluation, a, b) : holds(a, b)
    case 'size':
      return typeof a === 'string' || Array.isArray(a) ? isEqual(evaluation, a.length, b) : false
    case 'empty':
      return (typeof a === 'string' || Array.isArray(a)) && (a.length === 0) === b
  }
}

function includes(evaluation: Evaluation, text: string, part: string): boolean {
  const places = Math.max(0, text.length - part.length + 1)
  evaluation.spend(Math.floor((text.length + places * part.length) / CHARACTERS_A_VISIT))
  return text.includes(part)
}

function payForTexts(evaluation: Evaluation, a: JsonValue | undefined, b: JsonValue | undefined): void {
  if (typeof a === 'string') evaluation.spend(Math.floor(a.length / CHARACTERS_A_VISIT))
  if (typeof b === 'string') evaluation.spend(Math.floor(b.length / CHARACTERS_A_VISIT))
}

function order(
  evaluation: Evaluation,
  a: JsonValue | undefined,
  b: JsonValue | undefined,
  test: (sign: number) => boolean,
): boolean {
  payForTexts(evaluation, a, b)
  if (typeof a === 'string' && typeof b === 'string') return test(a < b ? -1 : a > b ? 1 : 0)
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x === undefined || y === undefined) return false
  return test(x < y ? -1 : x > y ? 1 : 0)
}

/** A number equals a text of the same number. */
function isEqual(evaluation: Evaluation, a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  evaluation.spend(1)
  payForTexts(evaluation, a, b)
  // What is not there equals nothing, not even another such.
  if (a === undefined || b === undefined) return false
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined) return isSameNumber(x, y)
  if (x !== undefined && typeof b === 'string') return b.trim() !== '' && isSameNumber(Number(b), x)
  if (y !== undefined && typeof a === 'string') return a === String(y)
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, index) => isEqual(evaluation, each, b[index]))
  }
  if (!isJsonObject(a)) return a === b
  if (!isJsonObject(b)) return false
  const keys = Object.keys(a)
  evaluation.spend(keys.length)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(evaluation, a[key], b[key]))
  )
}

/** Of a number and a bigint too. */
function isSameNumber(a: number | bigint, b: number | bigint): boolean {
  return a <= b && a >= b
}

function numberOf(value: JsonValue | undefined): number | bigint | undefined {
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value.value
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined
}

function kindOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return String(value)
  return numberOf(value) === undefined ? (Array.isArray(value) ? 'list' : typeof value) : 'number'
}

/** Of a scalar. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  return value === undefined || value === null || Array.isArray(value) || isJsonObject(value)
    ? undefined
    : stringifyJson(value)
}
