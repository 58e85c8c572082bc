/** Whether a step came to what its case expects; each complaint says what was expected and what was there. */
import { parseJson, stringifyJson, isJsonObject, type JsonObject, type JsonValue } from '../model/json.ts'
import type { DrawnChain } from './chain-file.ts'
import type { Expectation } from './cases.ts'
import type { Visit } from './rehearsal.ts'
import type { Effect } from './world.ts'

export interface StepOutcome {
  readonly visits: readonly Visit[]
  readonly effects: readonly Effect[]
  readonly failures: readonly Error[]
}

/** Empty where all is as expected. */
export function complaints(chain: DrawnChain, expected: Expectation, outcome: StepOutcome): readonly string[] {
  return [
    ...ofFailures(expected, outcome),
    ...ofWay(chain, expected, outcome),
    ...ofRelations(chain, expected, outcome),
    ...ofMessages(chain, expected, outcome),
    ...ofEffects(expected, outcome),
  ]
}

/** Every member of `expected` is in `actual` and matches it; lists match place by place, numbers by value. */
export function matches(expected: JsonValue, actual: JsonValue | undefined): boolean {
  if (isJsonObject(expected)) {
    if (!isJsonObject(actual)) return false
    return Object.entries(expected).every(([key, value]) => matches(value, actual[key]))
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((value, index) => matches(value, actual[index]))
    )
  }
  if (expected === null || typeof expected === 'string' || typeof expected === 'boolean') return expected === actual
  // What is left is a number in one of its representations (`model/json.ts`).
  return (
    actual !== null &&
    !['string', 'boolean', 'undefined'].includes(typeof actual) &&
    Number(expected) === Number(actual)
  )
}

function ofFailures({ fails }: Expectation, { failures }: StepOutcome): readonly string[] {
  const texts = failures.map(({ message }) => message)
  if (fails === undefined) return texts.map((text) => `it failed: ${text}`)
  if (texts.some((text) => text.includes(fails))) return []
  return [`expected to fail with '${fails}', got ${texts.length === 0 ? 'no failure' : texts.join('; ')}`]
}

function ofWay(chain: DrawnChain, { way }: Expectation, { visits }: StepOutcome): readonly string[] {
  if (way === undefined) return []
  const entered = visits.filter(({ direction }) => direction === 'IN').map((visit) => nameOf(chain, visit))
  return sameTexts(way, entered) ? [] : [`way: expected ${way.join(' → ')}, got ${entered.join(' → ') || 'none'}`]
}

function ofRelations(chain: DrawnChain, { relations }: Expectation, { visits }: StepOutcome): readonly string[] {
  return Object.entries(relations ?? {}).flatMap(([node, expected]) => {
    const emitted = visits
      .filter((visit) => visit.direction === 'OUT' && nameOf(chain, visit) === node)
      .map(({ relation }) => relation ?? '')
    const isSame = sameTexts(expected.map(lower).sort(), emitted.map(lower).sort())
    return isSame ? [] : [`'${node}' emits: expected ${expected.join(', ')}, got ${emitted.join(', ') || 'nothing'}`]
  })
}

function ofMessages(chain: DrawnChain, { out }: Expectation, { visits }: StepOutcome): readonly string[] {
  const left = visits.filter(({ direction }) => direction === 'OUT').map((visit) => shownMessage(chain, visit))
  return (out ?? []).flatMap(({ node, relation, type, data, metadata }) => {
    const expected: JsonObject = {
      node,
      ...(relation === undefined ? {} : { relation }),
      ...(type === undefined ? {} : { type }),
      ...(data === undefined ? {} : { data: bodyOf(data) }),
      ...(metadata === undefined ? {} : { metadata }),
    }
    if (left.some((message) => matches(expected, message))) return []
    const near = left.filter((message) => message.node === node)
    return [`out: expected ${stringifyJson(expected)}, got ${listed(near.length > 0 ? near : left)}`]
  })
}

function ofEffects({ effects }: Expectation, outcome: StepOutcome): readonly string[] {
  if (effects === undefined) return []
  const open: JsonObject[] = outcome.effects.map((effect) => ({ ...effect }))
  const missing = effects.filter((expected) => {
    const index = open.findIndex((effect) => matches(expected, effect))
    if (index >= 0) open.splice(index, 1)
    return index < 0
  })
  return [
    ...missing.map((expected) => `effects: expected ${stringifyJson(expected)}, got ${listed(open)}`),
    ...(missing.length > 0 ? [] : open.map((effect) => `effects: not expected: ${stringifyJson(effect)}`)),
  ]
}

/** A text is JSON text, as in messages. */
export function bodyOf(data: JsonValue): JsonValue {
  return typeof data === 'string' ? parseJson(data) : data
}

function shownMessage(chain: DrawnChain, visit: Visit): JsonObject & { readonly node: string } {
  const { relation, message } = visit
  return {
    ...{ node: nameOf(chain, visit), relation: relation ?? '', type: message.type },
    ...{ data: message.json(), metadata: { ...message.metadata } },
  }
}

function nameOf(chain: DrawnChain, { nodeIndex }: Visit): string {
  return chain.nodes[nodeIndex]?.name ?? ''
}

function listed(values: readonly JsonObject[]): string {
  return values.length === 0 ? 'nothing' : values.map((value) => stringifyJson(value)).join(' ')
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}

function lower(text: string): string {
  return text.toLowerCase()
}
