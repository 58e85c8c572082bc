/** Properties, indexes, calls: where values are reached. Only own members and the library's tables, by name. */
import { LongDecimal, type JsonObject } from '../../../model/json.ts'
import { Fault } from './fault.ts'
import { syntaxError } from './source.ts'
import { mapGet, mapHas, mapPut } from './maps.ts'
import { Frame, type Code, type Evaluate, type StaticType } from './frame.ts'
import { dateProperty } from './library/date.ts'
import { DateValue } from './library/date-value.ts'
import { invoke, methodChoice, type Library, type MethodChoice } from './library/library.ts'
import type { LibraryFunction } from './library/signature.ts'
import { MapEntry, PlatformObject, double, isInt, isMap, keyOf, textOf, typeName, type Value } from './values.ts'
import type { Compiler, ScriptFunction } from './compiler.ts'
import type { Expression } from './syntax.ts'

const MAX_ARGUMENTS = 10
/** Properties that are methods without parameters, even where a map has such a key (`rule-engine.md` 6.4 "map properties"). */
const METHOD_PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['size', 'size'],
  ['empty', 'isEmpty'],
  ['keys', 'keys'],
  ['values', 'values'],
  ['entrySet', 'entrySet'],
  ['keySet', 'keySet'],
])
const LENGTH: ReadonlySet<string> = new Set(['length'])

type Chain = Extract<Expression, { kind: 'member' | 'index' | 'method' }>

/** A path such as `a.b[0].c()`. */
export function compileChain(compiler: Compiler, library: Library, expression: Chain): Code {
  const fixed = compileStatic(compiler, library, expression)
  if (fixed !== undefined) return fixed
  if (!containsSafe(expression.object)) return compileStep(compiler, expression, compiler.expression(expression.object))
  const run = stoppable(compiler, expression)
  return { type: 'unknown', run: (frame) => unlessStopped(run(frame)) }
}

/** Stands for the null at which a null-safe member (`.?`) ends its whole path. */
const STOPPED = new MapEntry('', null)

function unlessStopped(value: Value): Value {
  return value === STOPPED ? null : value
}

/** A path with null-safe members: where one finds null, the later parts are not run. */
function stoppable(compiler: Compiler, expression: Chain): Evaluate {
  const { object } = expression
  const before =
    isChain(object) && (isSafe(object) || containsSafe(object))
      ? stoppable(compiler, object)
      : compiler.expression(object).run
  // Each step reads what it works on exactly once, and before anything else.
  const held: { value: Value } = { value: null }
  const step = compileStep(compiler, expression, { run: () => held.value, type: 'unknown' }).run
  const stops = isSafe(expression)
  return (frame) => {
    const value = before(frame)
    if (value === STOPPED) return STOPPED
    held.value = value
    const result = step(frame)
    return stops && result === null ? STOPPED : result
  }
}

function isChain(expression: Expression): expression is Chain {
  return expression.kind === 'member' || expression.kind === 'index' || expression.kind === 'method'
}

function isSafe(expression: Expression): boolean {
  return (expression.kind === 'member' || expression.kind === 'method') && expression.safe
}

function containsSafe(expression: Expression): boolean {
  return isChain(expression) && (isSafe(expression) || containsSafe(expression.object))
}

function compileStep(compiler: Compiler, expression: Chain, object: Code): Code {
  switch (expression.kind) {
    case 'member':
      return compileMember(expression.name, object, expression.at)
    case 'index':
      return { run: indexReader(object.run, compiler.expression(expression.index).run, expression.at), type: 'unknown' }
    case 'method':
      return compileMethod(compiler, expression, object)
  }
}

function compileMember(name: string, object: Code, at: number): Code {
  const methodName = METHOD_PROPERTIES.get(name)
  if (methodName !== undefined) return methodProperty(methodChoice(methodName), name, object, at)
  const target = object.run
  if (name in Object.prototype || LENGTH.has(name))
    return { run: (frame) => readProperty(frame, target(frame), name, at), type: 'unknown' }
  const run: Evaluate = (frame) => {
    const value = target(frame)
    // The common case: a member of the shared message data. The name is none that every object inherits.
    if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      const member = (value as JsonObject)[name]
      if (typeof member !== 'object') return member === undefined ? null : member
      return member instanceof LongDecimal ? double(member.value) : member
    }
    return readProperty(frame, value, name, at)
  }
  return { run, type: 'unknown' }
}

function methodProperty(choice: MethodChoice, name: string, object: Code, at: number): Code {
  const target = object.run
  return {
    type: 'unknown',
    run: (frame) => {
      const value = target(frame)
      frame.budget.at = at
      frame.budget.step()
      if (value === null) throw new Fault(`null pointer: ${name} of null`)
      const result = value instanceof PlatformObject ? value.property(name) : invoke(choice, value, [], frame.budget)
      if (result === undefined) throw new Fault(`${typeName(value)} has no property '${name}'`)
      return result
    },
  }
}

function readProperty(frame: Frame, value: Value, name: string, at: number): Value {
  if (isMap(value)) return mapGet(value, name)
  frame.budget.at = at
  if (value === null) throw new Fault(`null pointer: ${name} of null`)
  if (LENGTH.has(name) && (typeof value === 'string' || Array.isArray(value))) return value.length
  if (value instanceof MapEntry && name === 'key') return value.key
  if (value instanceof MapEntry && name === 'value') return value.value
  const own = ownProperty(frame, value, name)
  if (own !== undefined) return own
  throw new Fault(`${typeName(value)} has no property '${name}'`)
}

function ownProperty(frame: Frame, value: Value, name: string): Value | undefined {
  if (value instanceof DateValue) return dateProperty(value, name, frame.budget)
  return value instanceof PlatformObject ? value.property(name) : undefined
}

function indexReader(object: Evaluate, index: Evaluate, at: number): Evaluate {
  return (frame) => {
    const target = object(frame)
    const place = index(frame)
    frame.budget.at = at
    if (Array.isArray(target)) return itemAt(target, place)
    if (isMap(target)) return place === null ? null : mapGet(target, keyOf(place))
    if (typeof target === 'string') return target.charAt(placeWithin(target.length, place))
    if (target === null) throw new Fault(`null pointer: [${textOf(place)}] of null`)
    throw new Fault(`[] can not be applied to ${typeName(target)}`)
  }
}

function itemAt(list: readonly Value[], place: Value): Value {
  const item = list[placeWithin(list.length, place)]
  if (item === undefined) return null
  return item instanceof LongDecimal ? double(item.value) : item
}

function placeWithin(length: number, place: Value): number {
  if (!isInt(place)) throw new Fault(`index must be an int, not ${typeName(place)}`)
  if (place < 0 || place >= length) throw new Fault(`index ${place} is out of bounds for length ${length}`)
  return place
}

/** Writes a member or an item. */
export function writeAt(frame: Frame, target: Value, place: Value, value: Value, at: number): void {
  const { budget } = frame
  budget.at = at
  if (Array.isArray(target)) {
    target[placeWithin(target.length, place)] = value
    return
  }
  if (isMap(target)) {
    if (place === null) throw new Fault('null can not be a key of a map')
    if (!mapHas(target, keyOf(place))) budget.allocate(48)
    mapPut(target, place, value)
    return
  }
  throw new Fault(target === null ? `null pointer: ${textOf(place)} of null` : `${typeName(target)} can not be changed`)
}

function compileMethod(compiler: Compiler, expression: Extract<Expression, { kind: 'method' }>, object: Code): Code {
  const { at, name } = expression
  const choice = methodChoice(name)
  const target = object.run
  const values = compileArguments(compiler, expression.arguments, at)
  const run: Evaluate = (frame) => {
    const value = target(frame)
    const given = values(frame)
    frame.budget.at = at
    frame.budget.step()
    if (value === null) throw new Fault(`null pointer: ${name}() of null`)
    const result = invoke(choice, value, given, frame.budget)
    if (result === undefined)
      throw new Fault(`unable to resolve method: ${name}(${given.map(typeName).join(', ')}) of ${typeName(value)}`)
    return result
  }
  return { run, type: methodType(choice, object.type) }
}

function methodType(choice: MethodChoice, target: StaticType): StaticType {
  if (target === 'string') return choice.string?.returns ?? 'unknown'
  if (target === 'list') return choice.list?.returns ?? 'unknown'
  return target === 'map' ? (choice.map?.returns ?? 'unknown') : 'unknown'
}

function compileArguments(
  compiler: Compiler,
  expressions: readonly Expression[],
  at: number,
): (frame: Frame) => Value[] {
  if (expressions.length > MAX_ARGUMENTS) throw syntaxError(compiler.source, at, `more than ${MAX_ARGUMENTS} arguments`)
  const codes = expressions.map((expression) => compiler.expression(expression).run)
  const [first, second] = codes
  if (first === undefined) return () => []
  if (second === undefined) return (frame) => [first(frame)]
  return (frame) => codes.map((code) => code(frame))
}

/** `Math.round(x)`, `Math.PI`: a name before the dot that is no variable but the library's. */
function compileStatic(compiler: Compiler, library: Library, expression: Chain): Code | undefined {
  if (expression.kind === 'index' || expression.object.kind !== 'name') return undefined
  const owner = expression.object.name
  if (compiler.scope.find(owner) !== undefined) return undefined
  if (expression.kind === 'member') {
    const value = library.constants.get(owner)?.get(expression.name)
    // No literal: what is calculated with an int of the platform is one, and stops at its border.
    return value === undefined ? undefined : { run: () => value, type: isInt(value) ? 'platformInt' : 'unknown' }
  }
  const functions = library.statics.get(owner)
  if (functions === undefined) return undefined
  const known = functions.get(expression.name)
  if (known === undefined)
    throw syntaxError(compiler.source, expression.at, `${owner} has no function '${expression.name}'`)
  return libraryCall(compiler, known, `${owner}.${expression.name}`, expression.arguments, expression.at)
}

/** `f(x)`: the script's own functions before the library's. */
export function compileCall(
  compiler: Compiler,
  library: Library,
  expression: Extract<Expression, { kind: 'call' }>,
): Code {
  const { at, name } = expression
  const own = compiler.functions.get(name)
  if (own !== undefined)
    return { run: ownCall(own, compileArguments(compiler, expression.arguments, at), at), type: 'unknown' }
  const known = library.functions.get(name)
  if (known === undefined) throw syntaxError(compiler.source, at, `unknown function '${name}'`)
  return libraryCall(compiler, known, name, expression.arguments, at)
}

export function compileNew(
  compiler: Compiler,
  library: Library,
  expression: Extract<Expression, { kind: 'new' }>,
): Code {
  const known = library.constructors.get(expression.type)
  if (known === undefined)
    throw syntaxError(compiler.source, expression.at, `could not resolve class: ${expression.type}`)
  return libraryCall(compiler, known, `new ${expression.type}`, expression.arguments, expression.at)
}

function libraryCall(
  compiler: Compiler,
  known: LibraryFunction,
  name: string,
  given: readonly Expression[],
  at: number,
): Code {
  if (given.length < known.least || given.length > known.most) {
    throw syntaxError(compiler.source, at, `${name} does not take ${given.length} arguments`)
  }
  const values = compileArguments(compiler, given, at)
  const run: Evaluate = (frame) => {
    const evaluated = values(frame)
    frame.budget.at = at
    frame.budget.step()
    return known.run(evaluated, frame.budget)
  }
  return { run, type: known.returns }
}

function ownCall(own: ScriptFunction, values: (frame: Frame) => Value[], at: number): Evaluate {
  return (frame) => {
    const given = values(frame)
    const { budget } = frame
    budget.at = at
    budget.enterCall()
    if (given.length > own.parameters)
      throw new Fault(`${own.name} takes ${own.parameters} arguments, not ${given.length}`)
    const variables: (Value | undefined)[] = new Array<Value | undefined>(own.size).fill(undefined)
    for (let index = 0; index < given.length; index++) variables[index] = given[index]
    const result = own.body(new Frame(variables, frame.globals, budget))
    budget.leaveCall()
    return result
  }
}
