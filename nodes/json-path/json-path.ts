/**
 * A JSON path, compiled: what of a value it selects (`rule-nodes.md` 27). It runs no script, and what one message costs has a bound: deep scans
 * within deep scans visit a body many times over.
 */
import { isJsonObject, stringifyJson } from '../../model/json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { compileConditions } from './conditions.ts'
import type { Conditions, Evaluation } from './conditions.ts'
import { JsonPathErrors } from './errors.ts'
import { applyFunction, type Reader } from './functions.ts'
import { parsePath } from './parser.ts'
import type { FunctionCall, Operand, Path, Step } from './syntax.ts'

/** Places visited for one message: some tenths of a second. */
const MAX_VISITS = 1_000_000
/** Characters of the result: a list may hold the same part of the body many times. */
const LONGEST_RESULT = 16 * 1024 * 1024

export type JsonPath = (document: JsonValue) => JsonValue

/** Throws `PATH_INVALID`; the path throws `NOT_FOUND` and `TOO_COSTLY`. */
export async function compileJsonPath(text: string): Promise<JsonPath> {
  const path = parsePath(text)
  const conditions = await compileConditions(path)
  return (document) => {
    const result = new PathEvaluation(document, conditions).value(path, document)
    if (!path.isDefinite && Array.isArray(result)) checkSize(result)
    return result
  }
}

function checkSize(results: readonly JsonValue[]): void {
  let size = 0
  for (const result of results) {
    size += stringifyJson(result).length
    if (size > LONGEST_RESULT) throw JsonPathErrors.TOO_COSTLY()
  }
}

/** One path over one document, with those in its filters. */
class PathEvaluation implements Evaluation {
  private visits = 0
  private readonly document: JsonValue
  private readonly conditions: Conditions

  constructor(document: JsonValue, conditions: Conditions) {
    this.document = document
    this.conditions = conditions
  }

  /** The value at a definite path, else the list of all values; of a function its result for each. */
  value(path: Path, item: JsonValue): JsonValue {
    const { call } = path
    if (call !== undefined && path.steps[0]?.kind === 'descend') return this.ofRoot(path, call, item)
    const values = this.values(path, item)
    const result = path.isDefinite ? values[0] : values
    if (result === undefined) throw JsonPathErrors.NOT_FOUND({ reason: 'nothing is there' })
    if (call === undefined) return result
    const read: Reader = (operand) => this.conditions.operand(this, operand, item)
    return path.isDefinite ? applyFunction(call, result, read) : values.map((value) => applyFunction(call, value, read))
  }

  /** What a path finds at any depth below its root is an argument of the function, which is the root's: `$.sum($..price)` (Jayway's way). */
  private ofRoot({ root, steps }: Path, call: FunctionCall, item: JsonValue): JsonValue {
    const counted: readonly Step[] = ['length', 'size'].includes(call.name) ? [...steps, { kind: 'wildcard' }] : steps
    const found = this.values({ root, steps: counted, call: undefined, isDefinite: false }, item)
    const argument: Operand = { kind: 'value', value: found }
    return applyFunction({ name: call.name, arguments: [argument] }, root === '@' ? item : this.document, (operand) =>
      operand === argument ? found : this.conditions.operand(this, operand, item),
    )
  }

  private values(path: Path, item: JsonValue): JsonValue[] {
    let current: readonly JsonValue[] = [path.root === '@' ? item : this.document]
    let isDefinite = true
    let isDeep = false
    for (let index = 0; index < path.steps.length; index++) {
      const step = path.steps[index]
      if (step === undefined) break
      const next: JsonValue[] = []
      const isLast = index === path.steps.length - 1
      if (step.kind === 'descend') {
        isDefinite = false
        isDeep = true
        current = current.flatMap((value) => this.depths(value))
        continue
      }
      for (const value of current) this.take(step, value, { isDefinite, isLast, isDeep, into: next })
      isDeep = false
      isDefinite &&=
        step.kind === 'index' ? step.indexes.length === 1 : step.kind === 'child' && step.names.length === 1
      current = next
    }
    return [...current]
  }

  spend(visits: number): void {
    this.visits += visits
    if (this.visits > MAX_VISITS) throw JsonPathErrors.TOO_COSTLY()
  }

  /** The value and all objects and lists in it, from the outside to the inside. */
  private depths(value: JsonValue): JsonValue[] {
    const found: JsonValue[] = []
    const waiting: JsonValue[] = [value]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      this.spend(1)
      if (!Array.isArray(next) && !isJsonObject(next)) continue
      found.push(next)
      const inner = Array.isArray(next) ? next : Object.values(next)
      for (let index = inner.length - 1; index >= 0; index--) {
        const child = inner[index]
        if (child !== null && typeof child === 'object') waiting.push(child)
      }
    }
    return found
  }

  private take(step: Exclude<Step, { kind: 'descend' }>, value: JsonValue, way: Way): void {
    this.spend(1)
    switch (step.kind) {
      case 'child':
        this.spend(step.names.length)
        return this.takeMembers(step.names, value, way)
      case 'index':
        this.spend(step.indexes.length)
        if (isList(value, way)) way.into.push(...step.indexes.map((index) => value.at(index) ?? null))
        return
      case 'slice':
        if (isList(value, way)) this.takeAll(sliceOf(value, step), way)
        return
      case 'wildcard':
        if (Array.isArray(value)) this.takeAll(value, way)
        else if (isJsonObject(value)) this.takeAll(Object.values(value), way)
        return
      case 'filter':
        // At every depth the objects are looked at themselves: those in lists must not be found twice.
        if (way.isDeep && Array.isArray(value)) return
        if (Array.isArray(value)) {
          this.takeAll(
            value.filter((item) => this.conditions.holds(this, step.condition, item)),
            way,
          )
        } else if (isJsonObject(value)) {
          if (this.conditions.holds(this, step.condition, value)) way.into.push(value)
        } else if (way.isDefinite) throw JsonPathErrors.NOT_FOUND({ reason: 'a filter needs a list or an object' })
    }
  }

  private takeAll(values: readonly JsonValue[], way: Way): void {
    this.spend(values.length)
    for (const value of values) way.into.push(value)
  }

  private takeMembers(names: readonly string[], value: JsonValue, way: Way): void {
    if (!isJsonObject(value)) {
      if (way.isDefinite) throw JsonPathErrors.NOT_FOUND({ reason: `${names.join(', ')}: not within an object` })
      return
    }
    if (names.length > 1 && way.isLast) {
      const members = names.flatMap((name) => member(value, name).map((found) => [name, found] as const))
      way.into.push(Object.fromEntries(members))
      return
    }
    for (const name of names) {
      const [found] = member(value, name)
      if (found !== undefined) way.into.push(found)
      else if (way.isDefinite && !way.isLast && names.length === 1) {
        throw JsonPathErrors.NOT_FOUND({ reason: `there is no ${name}` })
      }
    }
  }
}

interface Way {
  /** All steps before named one place. */
  readonly isDefinite: boolean
  readonly isLast: boolean
  /** Behind `..`. */
  readonly isDeep: boolean
  readonly into: JsonValue[]
}

function member(object: JsonObject, name: string): JsonValue[] {
  return Object.hasOwn(object, name) ? present(object[name]) : []
}

function present(value: JsonValue | undefined): JsonValue[] {
  return value === undefined ? [] : [value]
}

/** An end that counts from the end is one of a slice without a beginning, or with one like it: `[0:-1]` is empty (Jayway's way). */
function sliceOf(list: readonly JsonValue[], { from, to }: Extract<Step, { kind: 'slice' }>): readonly JsonValue[] {
  if (from !== undefined && from >= 0 && to !== undefined && to < 0) return []
  return list.slice(from, to)
}

function isList(value: JsonValue, { isDefinite }: Way): value is JsonValue[] {
  if (Array.isArray(value)) return true
  if (isDefinite) throw JsonPathErrors.NOT_FOUND({ reason: 'an index needs a list' })
  return false
}
