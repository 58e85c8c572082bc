/** Expressions as closures. */
import { Fault } from './fault.ts'
import { syntaxError } from './source.ts'
import { castValue, isInstance, isKnownType } from './types.ts'
import { compileCall, compileChain, compileNew, writeAt } from './compile-access.ts'
import { compileBinary, compileUnary, condition, joinCodes } from './compile-operators.ts'
import { add, arithmetic } from './arithmetic.ts'
import { keyOf, type ScriptMap, type Value } from './values.ts'
import type { Code, Evaluate, Frame, StaticType } from './frame.ts'
import type { Compiler } from './compiler.ts'
import type { Library } from './library/library.ts'
import type { Slot } from './scope.ts'
import type { Expression } from './syntax.ts'

export function compileExpression(compiler: Compiler, library: Library, expression: Expression): Code {
  switch (expression.kind) {
    case 'literal':
      return literal(expression.value)
    case 'name':
      return compileName(compiler, expression.name, expression.at)
    case 'list':
      return compileList(compiler, expression)
    case 'map':
      return compileMap(compiler, expression)
    case 'unary':
      return compileUnary(compiler, expression)
    case 'binary':
      return compileBinary(compiler, expression)
    case 'instance':
      return compileInstance(compiler, expression)
    case 'conditional':
      return compileConditional(compiler, expression)
    case 'cast':
      return compileCast(compiler, expression)
    case 'defined':
      return compileDefined(compiler, expression.name)
    case 'member':
    case 'index':
    case 'method':
      return compileChain(compiler, library, expression)
    case 'call':
      return compileCall(compiler, library, expression)
    case 'new':
      return compileNew(compiler, library, expression)
    case 'assign':
      return compileAssign(compiler, expression)
    case 'step':
      return compileStep(compiler, expression)
  }
}

function literal(value: Value): Code {
  const type: StaticType =
    typeof value === 'string'
      ? 'string'
      : typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2147483647
        ? 'int'
        : 'unknown'
  return { run: () => value, type, constant: value }
}

/** Reads a variable; undefined where it does not exist. */
export function slotReader(slot: Slot): (frame: Frame) => Value | undefined {
  const { index, fallback } = slot
  if (slot.global) return (frame) => frame.globals[index]
  if (fallback === undefined) return (frame) => frame.variables[index]
  const outer = fallback.index
  return (frame) => frame.variables[index] ?? (frame.variables[index] === null ? null : frame.globals[outer])
}

export function slotWriter(slot: Slot): (frame: Frame, value: Value) => void {
  const { index } = slot
  if (slot.global) return (frame, value) => void (frame.globals[index] = value)
  return (frame, value) => void (frame.variables[index] = value)
}

function unresolvable(frame: Frame, name: string, at: number): never {
  frame.budget.at = at
  throw new Fault(`unresolvable property or identifier: ${name}`)
}

function compileName(compiler: Compiler, name: string, at: number): Code {
  const slot = compiler.scope.find(name)
  if (slot === undefined) return { run: (frame) => unresolvable(frame, name, at), type: 'unknown' }
  const read = slotReader(slot)
  const { index } = slot
  if (!slot.global && slot.fallback === undefined) {
    return {
      run: (frame) =>
        frame.variables[index] ?? (frame.variables[index] === null ? null : unresolvable(frame, name, at)),
      type: slot.type,
    }
  }
  return {
    run: (frame) => read(frame) ?? (read(frame) === null ? null : unresolvable(frame, name, at)),
    type: slot.type,
  }
}

function compileDefined(compiler: Compiler, name: string): Code {
  const slot = compiler.scope.find(name)
  if (slot === undefined) return { run: () => false, type: 'unknown' }
  const read = slotReader(slot)
  return { run: (frame) => read(frame) !== undefined, type: 'unknown' }
}

function compileList(compiler: Compiler, expression: Extract<Expression, { kind: 'list' }>): Code {
  const items = expression.items.map((item) => compiler.expression(item).run)
  const run: Evaluate = (frame) => {
    frame.budget.at = expression.at
    frame.budget.allocate(16 + 8 * items.length)
    return items.map((item) => item(frame))
  }
  return { run, type: 'list' }
}

function compileMap(compiler: Compiler, expression: Extract<Expression, { kind: 'map' }>): Code {
  const entries = expression.entries.map(([key, value]) => ({
    key: compiler.expression(key).run,
    value: compiler.expression(value).run,
  }))
  const run: Evaluate = (frame) => {
    frame.budget.at = expression.at
    frame.budget.allocate(48 * (1 + entries.length))
    const map: ScriptMap = new Map()
    for (const { key, value } of entries) {
      const name = keyOf(key(frame))
      const member = value(frame)
      if (member === null) map.delete(name)
      else map.set(name, member)
    }
    return map
  }
  return { run, type: 'map' }
}

function compileInstance(compiler: Compiler, expression: Extract<Expression, { kind: 'instance' }>): Code {
  const { at, type } = expression
  if (!isKnownType(type)) throw syntaxError(compiler.source, at, `unknown type '${type}'`)
  const operand = compiler.expression(expression.operand).run
  return { run: (frame) => isInstance(operand(frame), type), type: 'unknown' }
}

function compileConditional(compiler: Compiler, expression: Extract<Expression, { kind: 'conditional' }>): Code {
  const { at } = expression
  const test = compiler.expression(expression.test).run
  const yes = compiler.expression(expression.yes)
  const no = compiler.expression(expression.no)
  return {
    run: (frame) => (condition(frame, test(frame), at) ? yes.run(frame) : no.run(frame)),
    // As the reference knows it: by the second branch alone.
    type: no.type,
  }
}

const CAST_TYPES: ReadonlyMap<string, StaticType> = new Map([
  ['int', 'platformInt'],
  ['Integer', 'platformInt'],
  ['short', 'int'],
  ['Short', 'int'],
  ['String', 'string'],
])

function compileCast(compiler: Compiler, expression: Extract<Expression, { kind: 'cast' }>): Code {
  const { at, type } = expression
  const operand = compiler.expression(expression.operand).run
  const run: Evaluate = (frame) => {
    const value = operand(frame)
    frame.budget.at = at
    return castValue(value, type, frame.budget)
  }
  return { run, type: CAST_TYPES.get(type) ?? 'unknown' }
}

function compileAssign(compiler: Compiler, expression: Extract<Expression, { kind: 'assign' }>): Code {
  const { target, at } = expression
  if (target.kind === 'name') return assignVariable(compiler, expression, target.name)
  const object = compiler.expression(target.object).run
  const place = target.kind === 'index' ? compiler.expression(target.index).run : (): Value => target.name
  const value =
    expression.operator === undefined
      ? compiler.expression(expression.value)
      : joinCodes(compiler, expression.operator, compiler.expression(target), compiler.expression(expression.value), at)
  const run: Evaluate = (frame) => {
    const container = object(frame)
    const key = place(frame)
    const fresh = value.run(frame)
    writeAt(frame, container, key, fresh, target.at)
    return fresh
  }
  return { run, type: value.type }
}

function assignVariable(compiler: Compiler, expression: Extract<Expression, { kind: 'assign' }>, name: string): Code {
  const { operator, at } = expression
  const value = compiler.expression(expression.value)
  // A joined value is divided by the rules for values, whatever is known of the operands (`a /= 2` is a double).
  const code =
    operator === undefined
      ? value
      : joinCodes(compiler, operator, { ...compileName(compiler, name, at), type: 'unknown' }, value, at)
  // `x += 1` changes the variable it reads, wherever that lives.
  const known = operator === undefined ? undefined : compiler.scope.find(name)
  const write = slotWriter(known ?? compiler.scope.assign(name, code.type))
  const run: Evaluate = (frame) => {
    const fresh = code.run(frame)
    write(frame, fresh)
    return fresh
  }
  return { run, type: code.type }
}

function compileStep(compiler: Compiler, expression: Extract<Expression, { kind: 'step' }>): Code {
  const { at, by, name, prefix } = expression
  const read = compileName(compiler, name, at).run
  const write = slotWriter(compiler.scope.find(name) ?? compiler.scope.assign(name, 'unknown'))
  const run: Evaluate = (frame) => {
    const old = read(frame)
    frame.budget.at = at
    const fresh = by === 1 ? add(old, 1) : arithmetic['-'](old, 1)
    write(frame, fresh)
    return prefix ? fresh : old
  }
  return { run, type: 'unknown' }
}
