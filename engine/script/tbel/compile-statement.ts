/** Statements as closures. A list of statements gives the value of the last one that ran (`rule-engine.md` 6.4 "last value"). */
import { Fault } from './fault.ts'
import { condition } from './compile-operators.ts'
import { slotWriter } from './compile-expression.ts'
import { looselyEqual } from './comparison.ts'
import { mapEntryList } from './library/map.ts'
import { membersOf } from './library/set.ts'
import { PlatformObject, ValueSet, isInt, isMap, typeName, type Value } from './values.ts'
import { BREAKING, RETURNING, RUNNING, type Evaluate, type Frame, type StaticType } from './frame.ts'
import type { Compiler } from './compiler.ts'
import type { Block, Expression, Statement } from './syntax.ts'

export function compileStatements(compiler: Compiler, statements: readonly Statement[]): Evaluate {
  const codes = statements.map((statement) => compileStatement(compiler, statement))
  const [only] = codes
  if (only === undefined) return () => null
  if (codes.length === 1) return only
  return (frame) => {
    let value: Value = null
    for (const code of codes) {
      value = code(frame)
      if (frame.signal !== RUNNING) return value
    }
    return value
  }
}

/** A block with variables of its own, which do not exist yet whenever it begins. */
function compileBlock(compiler: Compiler, block: Block, clears: boolean): Evaluate {
  compiler.scope.enter()
  const run = compileStatements(compiler, block.statements)
  const slots = compiler.scope.leave()
  return clears ? clearing(slots, run) : run
}

function clearing(slots: readonly number[], run: Evaluate): Evaluate {
  if (slots.length === 0) return run
  return (frame) => {
    for (const slot of slots) frame.variables[slot] = undefined
    return run(frame)
  }
}

function compileStatement(compiler: Compiler, statement: Statement): Evaluate {
  switch (statement.kind) {
    case 'expression':
      return compiler.expression(statement.expression).run
    case 'declare':
      return compileDeclaration(compiler, statement)
    case 'return':
      return compileReturn(compiler, statement.value)
    case 'break':
      return (frame) => {
        frame.signal = BREAKING
        return null
      }
    case 'if':
      return compileIf(compiler, statement)
    case 'loop':
      return compileLoop(compiler, statement)
    case 'foreach':
      return compileForeach(compiler, statement)
    case 'switch':
      return compileSwitch(compiler, statement)
  }
}

function compileDeclaration(compiler: Compiler, statement: Extract<Statement, { kind: 'declare' }>): Evaluate {
  const { name, type } = statement
  const code = statement.value === undefined ? undefined : compiler.expression(statement.value)
  const declaredType = DECLARED_TYPES.get(type) ?? (type === 'var' ? (code?.type ?? 'unknown') : 'unknown')
  const isLong = type === 'long' || type === 'Long'
  const known = compiler.scope.find(name)
  const slot = known !== undefined && !known.global ? known : compiler.scope.assign(name, declaredType)
  if (!slot.global) slot.declared = true
  const write = slotWriter(slot)
  return (frame) => {
    const given = code === undefined ? null : code.run(frame)
    const value = isLong && isInt(given) ? BigInt(given) : given
    write(frame, value)
    return value
  }
}

/** What a typed declaration says of its variable; the value itself is not converted, but for a long. */
const DECLARED_TYPES: ReadonlyMap<string, StaticType> = new Map([
  ['int', 'platformInt'],
  ['Integer', 'int'],
  ['String', 'string'],
])

function compileReturn(compiler: Compiler, expression: Expression | undefined): Evaluate {
  const value = expression === undefined ? (): null => null : compiler.expression(expression).run
  return (frame) => {
    const result = value(frame)
    frame.signal = RETURNING
    return result
  }
}

function compileIf(compiler: Compiler, statement: Extract<Statement, { kind: 'if' }>): Evaluate {
  const { at } = statement
  const test = compiler.expression(statement.test).run
  const yes = compileBlock(compiler, statement.yes, true)
  const no = statement.no === undefined ? (): null => null : compileBlock(compiler, statement.no, true)
  return (frame) => (condition(frame, test(frame), at) ? yes(frame) : no(frame))
}

function compileLoop(compiler: Compiler, statement: Extract<Statement, { kind: 'loop' }>): Evaluate {
  const { at, testAfter } = statement
  compiler.scope.enter()
  const init = compileStatements(compiler, statement.init)
  const testCode = statement.test === undefined ? (): true => true : compiler.expression(statement.test).run
  compiler.scope.enter()
  const body = compileStatements(compiler, statement.body.statements)
  const inner = compiler.scope.leave()
  const update = compileStatements(compiler, statement.update)
  const slots = [...inner, ...compiler.scope.leave()]
  const wanted = !statement.until
  const run: Evaluate = (frame) => {
    const { budget } = frame
    init(frame)
    for (let first = true; ; first = false) {
      budget.at = at
      budget.step()
      if (!(first && testAfter) && condition(frame, testCode(frame), at) !== wanted) return null
      const value = body(frame)
      if (leavesLoop(frame)) return frame.signal === RETURNING ? value : null
      update(frame)
    }
  }
  return clearing(slots, run)
}

/** After the body of a loop: whether the loop ends here. A `break` ends with it. */
function leavesLoop(frame: Frame): boolean {
  if (frame.signal === RUNNING) return false
  if (frame.signal === BREAKING) frame.signal = RUNNING
  return true
}

function compileForeach(compiler: Compiler, statement: Extract<Statement, { kind: 'foreach' }>): Evaluate {
  const { at } = statement
  const items = compiler.expression(statement.items).run
  compiler.scope.enter()
  const write = slotWriter(compiler.scope.create(statement.name, 'unknown', true))
  const body = compileStatements(compiler, statement.body.statements)
  const slots = compiler.scope.leave()
  return clearing(slots, (frame) => {
    const source = items(frame)
    frame.budget.at = at
    const values = iterated(source, frame)
    const { length } = values
    for (let index = 0; index !== values.length; index++) {
      frame.budget.at = at
      frame.budget.step()
      if (values.length !== length) throw new Fault('the list was changed while it was walked through')
      write(frame, elementAt(values, index))
      const value = body(frame)
      if (leavesLoop(frame)) return frame.signal === RETURNING ? value : null
    }
    return null
  })
}

function elementAt(values: readonly Value[] | string, index: number): Value {
  const value = values[index]
  return value === undefined ? null : value
}

function iterated(source: Value, frame: Frame): readonly Value[] | string {
  if (Array.isArray(source) || typeof source === 'string') return source
  if (source instanceof ValueSet) return membersOf(source)
  if (isMap(source)) return mapEntryList(source, frame.budget)
  const items = source instanceof PlatformObject ? source.items() : undefined
  if (items !== undefined) return items
  throw new Fault(`${typeName(source)} can not be walked through`)
}

function compileSwitch(compiler: Compiler, statement: Extract<Statement, { kind: 'switch' }>): Evaluate {
  const { at } = statement
  const subject = compiler.expression(statement.subject).run
  const cases = statement.cases.map(({ value, body }) => ({
    value: value === undefined ? undefined : compiler.expression(value).run,
    body: compileBlock(compiler, body, true),
  }))
  const fallback = cases.findIndex(({ value }) => value === undefined)
  return (frame) => {
    const wanted = subject(frame)
    frame.budget.at = at
    const hit = cases.findIndex(({ value }) => value !== undefined && looselyEqual(wanted, value(frame)))
    let result: Value = null
    for (const { body } of hit < 0 && fallback < 0 ? [] : cases.slice(hit < 0 ? fallback : hit)) {
      result = body(frame)
      if (frame.signal === BREAKING) {
        frame.signal = RUNNING
        return null
      }
      if (frame.signal === RETURNING) return result
    }
    return result
  }
}
