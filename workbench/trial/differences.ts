/** Where two versions of a chain differ on the same messages. What is kept is bounded: counts for each node, the first examples. */
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import {
  DIFFERENCE_KINDS,
  type DifferenceExample,
  type DifferenceKind,
  type NodeDifference,
} from '../../model/chain-trial.ts'
import type { Message } from '../../model/message.ts'

/** What a node did, or would have done. */
export interface NotedEffect {
  readonly node: string
  readonly effect: string
  readonly [member: string]: JsonValue
}

/** What one version made of one message, by node. */
export interface Outcome {
  readonly entered: readonly string[]
  readonly left: readonly { readonly node: string; readonly relation: string; readonly message: Message }[]
  readonly effects: readonly NotedEffect[]
  readonly failures: readonly string[]
}

const MAX_EXAMPLES = 3
const MAX_NODES = 500
/** Characters of one shown value. */
const MAX_SHOWN = 2_000

interface Kept {
  messages: number
  readonly examples: DifferenceExample[]
}

export class Differences {
  differing = 0
  untoldNodes = 0
  private readonly kept = new Map<string, { readonly node: string; readonly what: DifferenceKind; readonly of: Kept }>()

  add(message: Message, live: Outcome, tried: Outcome): void {
    let differs = false
    for (const what of DIFFERENCE_KINDS) {
      const sides = [SAID[what](live), SAID[what](tried)] as const
      for (const node of new Set([...sides[0].keys(), ...sides[1].keys()])) {
        const [before, after] = [sides[0].get(node) ?? [], sides[1].get(node) ?? []]
        if (isSame(before, after)) continue
        differs = true
        this.note(node, what, message, before, after)
      }
    }
    if (differs) this.differing++
  }

  told(): readonly NodeDifference[] {
    return [...this.kept.values()].map(({ node, what, of }) => ({ node, what, ...of, examples: [...of.examples] }))
  }

  private note(
    node: string,
    what: DifferenceKind,
    { id, type, originator }: Message,
    live: readonly JsonValue[],
    tried: readonly JsonValue[],
  ): void {
    const key = `${what} ${node}`
    let found = this.kept.get(key)
    if (found === undefined) {
      if (this.kept.size >= MAX_NODES) {
        this.untoldNodes++
        return
      }
      found = { node, what, of: { messages: 0, examples: [] } }
      this.kept.set(key, found)
    }
    found.of.messages++
    if (found.of.examples.length >= MAX_EXAMPLES) return
    found.of.examples.push({
      ...{ messageId: id, messageType: type, originator: { ...originator } },
      ...{ live: live.map(shown), tried: tried.map(shown) },
    })
  }
}

type Said = ReadonlyMap<string, readonly JsonValue[]>

/** Bodies are compared where both went the same way; where they did not, the relations tell. */
const SAID: Readonly<Record<DifferenceKind, (outcome: Outcome) => Said>> = {
  relations: ({ left }) => grouped(left.map(({ node, relation }) => [node, relation])),
  messages: ({ left }) =>
    grouped(
      left.map(({ node, relation, message: { type, data, metadata } }) => [
        node,
        { relation, type, data, metadata: { ...metadata } },
      ]),
    ),
  effects: ({ effects }) => grouped(effects.map(({ node, ...effect }) => [node, effect])),
}

function grouped(pairs: readonly (readonly [node: string, value: JsonValue])[]): Said {
  const said = new Map<string, JsonValue[]>()
  for (const [node, value] of pairs) {
    const of = said.get(node)
    if (of === undefined) said.set(node, [value])
    else of.push(value)
  }
  return said
}

/** In whichever order: branches of one message run side by side. */
function isSame(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  if (a.length !== b.length) return false
  const texts = [a, b].map((values) => values.map((value) => stringifyJson(sorted(value))).sort())
  return (texts[0] ?? []).every((text, index) => text === texts[1]?.[index])
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as JsonObject)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, held]) => [key, sorted(held)]))
}

function shown(value: JsonValue): JsonValue {
  const text = stringifyJson(value)
  return text.length <= MAX_SHOWN ? value : `${text.slice(0, MAX_SHOWN)}…`
}
