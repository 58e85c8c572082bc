/** Operators as closures. The common case (two plain numbers) stays inside the closure, the rest goes to the shared functions. */
import {
  add,
  arithmetic,
  bits,
  complement,
  cutOperation,
  divideInts,
  negate,
  type ArithmeticOperator,
  type BitOperator,
} from './arithmetic.ts'
import { inOrder, looselyEqual, type Order } from './comparison.ts'
import { contains, matches, similarity, soundsLike } from './text-operators.ts'
import { Fault } from './fault.ts'
import { syntaxError } from './source.ts'
import { Frame, type Code, type Evaluate, type StaticType } from './frame.ts'
import { ValueSet, isNumber, numberOf, payForText, textOf, typeName, type Value } from './values.ts'
import type { Budget } from './budget.ts'
import type { Compiler } from './compiler.ts'
import type { BinaryOperator, Expression } from './syntax.ts'

type Binary = Extract<Expression, { kind: 'binary' }>

export function compileBinary(compiler: Compiler, expression: Binary): Code {
  const emptiness = compileEmptiness(compiler, expression)
  if (emptiness !== undefined) return emptiness
  const left = compiler.expression(expression.left)
  const right = compiler.expression(expression.right)
  const inner = expression.left
  // The reference cuts no quotient behind another one or a power: `a / 2 / 2` with a = 10 is 2.5.
  const isChained =
    inner.kind === 'binary' && inner.grouped !== true && (inner.operator === '/' || inner.operator === '**')
  const leftCode: Code = isChained && expression.operator === '/' ? { ...left, type: 'unknown' } : left
  return joinCodes(compiler, expression.operator, leftCode, right, expression.at)
}

/** `x == empty`: only on the right the word has its meaning, on the left it equals itself alone. */
function compileEmptiness(compiler: Compiler, { operator, left, right }: Binary): Code | undefined {
  if (operator !== '==' && operator !== '!=') return undefined
  const wanted = operator === '=='
  const isWord = (operand: Expression): boolean =>
    operand.kind === 'name' && operand.name === 'empty' && compiler.scope.find('empty') === undefined
  if (isWord(left)) {
    const value = isWord(right) === wanted
    return { run: () => value, type: 'unknown' }
  }
  if (!isWord(right)) return undefined
  const { run } = compiler.expression(left)
  return { run: (frame) => isEmptyValue(run(frame)) === wanted, type: 'unknown' }
}

function isEmptyValue(value: Value): boolean {
  if (typeof value === 'string') return value.trim() === ''
  if (Array.isArray(value)) return value.length === 0
  if (value instanceof ValueSet) return value.members.size === 0
  return value === null || value === false || (isNumber(value) && numberOf(value) === 0)
}

/** Joins two pieces of code by an operator; literals are joined at once. */
export function joinCodes(compiler: Compiler, operator: BinaryOperator, left: Code, right: Code, at: number): Code {
  const run = binary(operator, left, right, at)
  const type = resultType(operator, left, right)
  if (left.constant === undefined || right.constant === undefined || operator === '~=') return { run, type }
  try {
    const constant = run(new Frame([], [], compiler.budget))
    return { run: () => constant, type, constant }
  } catch (error) {
    // Literals that can not be joined are a mistake of the text, known before it runs.
    throw error instanceof Fault ? syntaxError(compiler.source, at, error.message) : error
  }
}

function resultType(operator: BinaryOperator, left: Code, right: Code): StaticType {
  if (operator === '#') return 'string'
  if (operator === '+' && (left.type === 'string' || right.type === 'string')) return 'string'
  if (operator === '+' && left.type === 'list') return 'list'
  if (BITWISE.has(operator)) return 'int'
  const areInts = isIntType(left.type) && isIntType(right.type) && ['+', '-', '*', '/', '%'].includes(operator)
  return !areInts || (operator === '/' && bothConstant(left, right)) ? 'unknown' : left.type
}

const BITWISE: ReadonlySet<string> = new Set(['&', '|', '^', '<<', '>>', '>>>'])

function isIntType(type: StaticType): boolean {
  return type === 'int' || type === 'platformInt'
}

function bothConstant(left: Code, right: Code): boolean {
  return left.constant !== undefined && right.constant !== undefined
}

function isArithmetic(operator: BinaryOperator): operator is ArithmeticOperator {
  return operator in arithmetic
}

function binary(operator: BinaryOperator, left: Code, right: Code, at: number): Evaluate {
  const isCut = (left.type === 'platformInt') !== (right.type === 'platformInt')
  if (isCut && isArithmetic(operator)) return plain(left.run, right.run, at, cutOperation(operator))
  switch (operator) {
    case '&&':
      return and(left.run, right.run, at)
    case '||':
      return or(left.run, right.run, at)
    case '==':
      return equality(left, right, at, true)
    case '!=':
      return equality(left, right, at, false)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordering(operator, left, right, at)
    case '+':
      return addition(left.run, right.run, at)
    case '/':
      if (left.type === 'int' && right.type === 'int' && !bothConstant(left, right))
        return plain(left.run, right.run, at, divideInts)
      return plain(left.run, right.run, at, arithmetic['/'])
    case '-':
    case '*':
    case '%':
    case '**':
      return mathematics(operator, left.run, right.run, at)
    default:
      return plain(left.run, right.run, at, others[operator])
  }
}

type Operation = (left: Value, right: Value, budget: Budget) => Value

function bitOperation(operator: BitOperator): Operation {
  return (left, right) => bits(operator, left, right)
}

const others: Readonly<
  Record<'&' | '|' | '^' | '<<' | '>>' | '>>>' | '#' | '~=' | 'contains' | 'soundslike' | 'strsim', Operation>
> = {
  '&': bitOperation('&'),
  '|': bitOperation('|'),
  '^': bitOperation('^'),
  '<<': bitOperation('<<'),
  '>>': bitOperation('>>'),
  '>>>': bitOperation('>>>'),
  '#': (left, right, budget) => joined(textOf(left), textOf(right), budget),
  '~=': matches,
  contains: contains,
  soundslike: soundsLike,
  strsim: similarity,
}

function plain(left: Evaluate, right: Evaluate, at: number, operation: Operation): Evaluate {
  return (frame) => {
    const leftValue = left(frame)
    const rightValue = right(frame)
    frame.budget.at = at
    return operation(leftValue, rightValue, frame.budget)
  }
}

function mathematics(operator: ArithmeticOperator, left: Evaluate, right: Evaluate, at: number): Evaluate {
  const operation = arithmetic[operator]
  if (operator === '%') return remainder(left, right, at)
  if (operator !== '-' && operator !== '*') return plain(left, right, at, operation)
  const isProduct = operator === '*'
  return (frame) => {
    const leftValue = left(frame)
    const rightValue = right(frame)
    if (typeof leftValue === 'number' && typeof rightValue === 'number') {
      const result = isProduct ? leftValue * rightValue : leftValue - rightValue
      if (isSmallInt(result) && isSmallInt(leftValue) && isSmallInt(rightValue)) return result + 0
      // A fraction can only come of doubles and stays one; other whole results need the exact rules.
      if (result % 1 !== 0 && result - result === 0) return result
    }
    frame.budget.at = at
    return operation(leftValue, rightValue)
  }
}

function remainder(left: Evaluate, right: Evaluate, at: number): Evaluate {
  return (frame) => {
    const leftValue = left(frame)
    const rightValue = right(frame)
    if (typeof leftValue === 'number' && typeof rightValue === 'number' && rightValue !== 0)
      if (isSmallInt(leftValue) && isSmallInt(rightValue)) return (leftValue % rightValue) + 0
    frame.budget.at = at
    return arithmetic['%'](leftValue, rightValue)
  }
}

function addition(left: Evaluate, right: Evaluate, at: number): Evaluate {
  return (frame) => {
    const leftValue = left(frame)
    const rightValue = right(frame)
    if (typeof leftValue === 'number' && typeof rightValue === 'number') {
      const result = leftValue + rightValue
      if (isSmallInt(result) && isSmallInt(leftValue) && isSmallInt(rightValue)) return result
      if (result % 1 !== 0 && result - result === 0) return result
    }
    frame.budget.at = at
    if (Array.isArray(leftValue))
      frame.budget.allocate(8 * (leftValue.length + (Array.isArray(rightValue) ? rightValue.length : 1)))
    if (typeof leftValue === 'string' && typeof rightValue === 'string')
      return joined(leftValue, rightValue, frame.budget)
    const result = add(leftValue, rightValue)
    if (typeof result === 'string') frame.budget.allocate(2 * result.length)
    return result
  }
}

function isSmallInt(value: number): boolean {
  return (value | 0) === value
}

function joined(left: string, right: string, budget: Budget): string {
  budget.allocate(2 * (left.length + right.length))
  return left + right
}

function equality(left: Code, right: Code, at: number, wanted: boolean): Evaluate {
  const leftRun = left.run
  const rightRun = right.run
  if (right.constant === null) return wanted ? (frame) => leftRun(frame) === null : (frame) => leftRun(frame) !== null
  return (frame) => {
    const leftValue = leftRun(frame)
    const rightValue = rightRun(frame)
    if (typeof leftValue === 'string' && leftValue.length > 256) {
      frame.budget.at = at
      payForText(leftValue)
    }
    if (typeof leftValue === typeof rightValue && typeof leftValue !== 'object')
      return (leftValue === rightValue) === wanted
    frame.budget.at = at
    frame.budget.step()
    return looselyEqual(leftValue, rightValue) === wanted
  }
}

function ordering(order: Order, left: Code, right: Code, at: number): Evaluate {
  const leftRun = left.run
  if (typeof right.constant === 'number') return orderedBeside(order, leftRun, right.constant, at)
  const rightRun = right.run
  const compare = COMPARISONS[order]
  return (frame) => {
    const leftValue = leftRun(frame)
    const rightValue = rightRun(frame)
    if (typeof leftValue === 'number' && typeof rightValue === 'number') return compare(leftValue, rightValue)
    frame.budget.at = at
    return inOrder(order, leftValue, rightValue)
  }
}

const COMPARISONS: Readonly<Record<Order, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

function orderedBeside(order: Order, left: Evaluate, bound: number, at: number): Evaluate {
  const slow = (frame: Frame, value: Value): boolean => {
    frame.budget.at = at
    return inOrder(order, value, bound)
  }
  switch (order) {
    case '<':
      return (frame) => {
        const value = left(frame)
        return typeof value === 'number' ? value < bound : slow(frame, value)
      }
    case '<=':
      return (frame) => {
        const value = left(frame)
        return typeof value === 'number' ? value <= bound : slow(frame, value)
      }
    case '>':
      return (frame) => {
        const value = left(frame)
        return typeof value === 'number' ? value > bound : slow(frame, value)
      }
    case '>=':
      return (frame) => {
        const value = left(frame)
        return typeof value === 'number' ? value >= bound : slow(frame, value)
      }
  }
}

/** A condition's value. Throws unless it is a boolean: there is no truthiness. */
export function condition(frame: Frame, value: Value, at: number): boolean {
  if (typeof value === 'boolean') return value
  frame.budget.at = at
  throw new Fault(`condition must be a boolean, not ${typeName(value)}`)
}

function and(left: Evaluate, right: Evaluate, at: number): Evaluate {
  return (frame) => {
    const value = left(frame)
    if (value !== true && !condition(frame, value, at)) return false
    const second = right(frame)
    return typeof second === 'boolean' ? second : condition(frame, second, at)
  }
}

function or(left: Evaluate, right: Evaluate, at: number): Evaluate {
  return (frame) => {
    const value = left(frame)
    if (value !== false && condition(frame, value, at)) return true
    const second = right(frame)
    return typeof second === 'boolean' ? second : condition(frame, second, at)
  }
}

export function compileUnary(compiler: Compiler, expression: Extract<Expression, { kind: 'unary' }>): Code {
  const { at, operator } = expression
  const { run: operand, type, constant } = compiler.expression(expression.operand)
  if (operator === '!') return { run: (frame) => !condition(frame, operand(frame), at), type: 'unknown' }
  const operation = operator === '-' ? negate : complement
  if (
    typeof constant === 'number' ||
    typeof constant === 'bigint' ||
    (operator === '-' && typeof constant === 'object' && constant !== null)
  ) {
    const value = foldUnary(compiler, () => operation(constant), at)
    return { run: () => value, type, constant: value }
  }
  const run: Evaluate = (frame) => {
    const value = operand(frame)
    frame.budget.at = at
    return operation(value)
  }
  return { run, type: isIntType(type) ? type : 'unknown' }
}

/** An operation on a literal, done once. */
function foldUnary(compiler: Compiler, operation: () => Value, at: number): Value {
  try {
    return operation()
  } catch (error) {
    throw error instanceof Fault ? syntaxError(compiler.source, at, error.message) : error
  }
}
