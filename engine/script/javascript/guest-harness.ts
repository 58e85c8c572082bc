/**
 * Code that runs *inside* the isolate beside the user's function: it takes one batch as one text, calls the function for
 * each message and answers with one JSON text that is built from primitives only. It runs in a hardened realm
 * (`guest-realm.ts`), so the built-ins it uses are the true ones; like there, its source text is what is used.
 */
import type { ScriptKind } from '../script.ts'
import type { GuestError } from './protocol.ts'

export interface HarnessOptions {
  readonly kind: ScriptKind
  /** Characters of one message's result. */
  readonly resultLimit: number
  /** Characters of all results of one call; the rest of the batch waits for the next call. */
  readonly outputLimit: number
  /** The file name under which the user's code appears in stacks. */
  readonly fileName: string
}

export interface Harness {
  /** Throws a SyntaxError where the text is no function body on its own. */
  check(body: string): void
  use(script: (msg: unknown, metadata: unknown, msgType: string) => unknown): void
  /** Handles messages from `start` on; JSON text of an array with one result a message, possibly of fewer messages. */
  run(batch: string, start: number): string
  /** JSON text of what a `run` that was stopped had finished. */
  finished(): string
}

/** Makes the harness of one context. `compileFunction` is the realm's own `Function`, taken before hardening. */
export function createHarness(options: HarnessOptions, compileFunction: FunctionConstructor): Harness {
  'use strict'
  const { parse, stringify } = JSON
  const { freeze, getPrototypeOf, isExtensible, keys, setPrototypeOf } = Object
  const { ownKeys, deleteProperty } = Reflect
  const { isArray } = Array
  const text = String
  const globalPrototype: unknown = getPrototypeOf(globalThis)
  const globalCount = ownKeys(globalThis).length
  const reasonLimit = 1000
  const relationLimit = 1000
  const position = new RegExp(`${options.fileName.replace(/\./g, '\\.')}:(\\d+):(\\d+)`)
  const noMatch = /(?:)/
  let script: (msg: unknown, metadata: unknown, msgType: string) => unknown
  let results: unknown[] = []

  function wrong(actual: string, expected: string): GuestError {
    return { error: 'result-type', actual, expected }
  }

  function kindOf(value: unknown): string {
    return value === null ? 'null' : isArray(value) ? 'array' : typeof value
  }

  /** Whatever was thrown, as text; user code may run in here (getters, `toString`) and may throw again. */
  function thrown(value: unknown): GuestError {
    let reason = 'exception without a text'
    let line = 0
    let column = 0
    try {
      if (typeof value === 'object' && value !== null) {
        const { name, message, stack } = value as { name?: unknown; message?: unknown; stack?: unknown }
        if (typeof message === 'string') reason = typeof name === 'string' ? `${name}: ${message}` : message
        else reason = stringify(value) ?? reason
        const match = typeof stack === 'string' ? position.exec(stack) : null
        if (match !== null) {
          line = Number(match[1])
          column = Number(match[2])
        }
      } else reason = text(value)
    } catch {
      // The exception itself refuses to be read: the author learns that there was one.
    }
    return { error: 'runtime', reason: text(reason).slice(0, reasonLimit), line, column }
  }

  function relations(value: unknown): unknown {
    if (typeof value === 'string') return [value]
    if (!isArray(value)) return wrong(kindOf(value), 'string or array of strings')
    const labels: string[] = []
    const count = value.length
    if (count > relationLimit) return wrong(`array of ${count} items`, `at most ${relationLimit} relations`)
    for (let index = 0; index < count; index++) {
      const label: unknown = value[index]
      if (typeof label !== 'string') return wrong(`array with ${kindOf(label)}`, 'string or array of strings')
      if (labels.indexOf(label) < 0) labels.push(label)
    }
    return labels
  }

  function scalarText(value: unknown): string | undefined {
    return typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean' ||
      typeof value === 'bigint'
      ? text(value)
      : undefined
  }

  function metadataOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || isArray(value)) return undefined
    const entries: { [key: string]: string | null } = { __proto__: null }
    for (const key of ownKeys(value)) {
      if (typeof key !== 'string') continue
      const member = (value as { [key: string]: unknown })[key]
      if (member === null || member === undefined) continue
      const scalar = scalarText(member)
      if (scalar === undefined) return undefined
      entries[key] = scalar
    }
    return entries
  }

  function transformed(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || isArray(value)) return wrong(kindOf(value), 'object')
    const { msg, metadata, msgType } = value as { msg?: unknown; metadata?: unknown; msgType?: unknown }
    const data = msg === undefined ? null : (stringify(msg) ?? null)
    let entries: unknown = null
    if (metadata !== undefined && metadata !== null) {
      entries = metadataOf(metadata)
      if (entries === undefined) return wrong('metadata that is no object of scalars', 'object of scalars')
    }
    let type: string | null = null
    if (msgType === null) type = 'null'
    else if (msgType !== undefined && msgType !== '') {
      type = scalarText(msgType) ?? null
      if (type === null) return wrong(`msgType of type ${kindOf(msgType)}`, 'string')
    }
    return [data, entries, type]
  }

  function transformedList(value: unknown): unknown {
    if (!isArray(value)) {
      if (typeof value !== 'object' || value === null) return wrong(kindOf(value), 'object or array of objects')
      const only = transformed(value)
      return isArray(only) ? [only] : only
    }
    const count = value.length
    if (count === 0) return wrong('empty array', 'object or array of objects')
    const list: unknown[] = []
    let size = 0
    for (let index = 0; index < count; index++) {
      const each: unknown = value[index]
      // Existing chains rely on it: an item that is no object stands for the message as it came.
      const isObject = typeof each === 'object' && each !== null && !isArray(each)
      const item = isObject ? transformed(each) : [null, null, null]
      if (!isArray(item)) return item
      size += 1 + text(item[0]).length
      if (size > options.resultLimit) return { error: 'result-size', size }
      list.push(item)
    }
    return list
  }

  function checked(value: unknown): unknown {
    switch (options.kind) {
      case 'filter':
        return typeof value === 'boolean' ? value : wrong(kindOf(value), 'boolean')
      case 'switch':
        return relations(value)
      case 'transform':
        return transformedList(value)
      case 'generate':
        return transformed(value)
      case 'json':
        return stringify(value) ?? 'null'
      case 'log':
        return typeof value === 'string' ? value : wrong(kindOf(value), 'string')
    }
  }

  /** The outcome of one message as JSON text. */
  function outcome(data: string, metadata: string, msgType: string): string {
    let msg: unknown
    try {
      msg = parse(data)
    } catch (error) {
      return stringify({ error: 'data', reason: text((error as Error).message).slice(0, reasonLimit) })
    }
    let result: unknown
    try {
      result = checked(script(msg, parse(metadata), msgType))
    } catch (error) {
      result = thrown(error)
    }
    const json = result === true ? 'true' : result === false ? 'false' : stringify(result)
    return json.length > options.resultLimit ? stringify({ error: 'result-size', size: json.length }) : json
  }

  /** Takes back what a call left behind by an assignment to a name that it did not declare. */
  function tidy(): void {
    noMatch.test('')
    const left = keys(globalThis)
    for (let index = 0; index < left.length; index++) deleteProperty(globalThis, left[index] as string)
    if (getPrototypeOf(globalThis) !== globalPrototype) setPrototypeOf(globalThis, globalPrototype as object)
  }

  /** What hides from `tidy`, looked for once a batch; throws where it cannot be undone, and the context goes. */
  function tidyHidden(): void {
    const left = ownKeys(globalThis)
    for (let index = globalCount; index < left.length; index++) deleteProperty(globalThis, left[index] as string)
    if (ownKeys(globalThis).length !== globalCount || !isExtensible(globalThis))
      throw new Error('the global object was changed')
  }

  function run(batch: string, start: number): string {
    results = []
    const headEnd = batch.indexOf('\n')
    const lengths = parse(batch.slice(0, headEnd)) as number[]
    let offset = headEnd + 1
    for (let index = 0; index < start * 3; index++) offset += lengths[index] as number
    let size = 0
    for (let index = start * 3; index < lengths.length && size < options.outputLimit; index += 3) {
      const metadataAt = offset + (lengths[index] as number)
      const typeAt = metadataAt + (lengths[index + 1] as number)
      const end = typeAt + (lengths[index + 2] as number)
      const json = outcome(batch.slice(offset, metadataAt), batch.slice(metadataAt, typeAt), batch.slice(typeAt, end))
      offset = end
      size += json.length
      results.push(json)
      tidy()
    }
    tidyHidden()
    return finished()
  }

  function finished(): string {
    const done = `[${results.join(',')}]`
    results = []
    return done
  }

  return {
    check(body) {
      compileFunction('msg', 'metadata', 'msgType', body)
    },
    use(compiled) {
      script = freeze(compiled)
      const { prototype } = compiled as { prototype?: object }
      if (prototype !== undefined) freeze(prototype)
    },
    run,
    finished,
  }
}
