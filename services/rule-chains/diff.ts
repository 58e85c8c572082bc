/** Where two rule chains differ, in the words of those who draw them: nodes by name, connections by the names of their ends. */
import type { NodeConnection } from '../../model/entities.ts'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'

/** As much of a node as a difference is told of. */
export interface ComparedNode {
  readonly type: string
  readonly name: string
  readonly configurationVersion: number
  readonly configuration: JsonObject
  readonly queueName: string | null
  readonly singletonMode: boolean
}

export interface ComparedChain {
  readonly firstNodeIndex: number | null
  readonly nodes: readonly ComparedNode[]
  readonly connections: readonly NodeConnection[]
}

export type Difference =
  | { readonly what: 'node added' | 'node removed'; readonly node: string; readonly type: string }
  | { readonly what: 'node changed'; readonly node: string; readonly fields: readonly FieldDifference[] }
  | {
      readonly what: 'connection added' | 'connection removed'
      readonly from: string
      readonly relation: string
      readonly to: string
    }
  | { readonly what: 'first node changed'; readonly before: string | null; readonly after: string | null }

export interface FieldDifference {
  /** Such as `configuration.scope`. */
  readonly path: string
  /** JSON text; undefined where it is not there. */
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * Layout is no difference. A node is the same where its name is; of several with one name the first of one is that of the other. Order of the
 * answer: nodes of the new chain, those that are gone, the first node, connections.
 */
export function diffChains(before: ComparedChain, after: ComparedChain): readonly Difference[] {
  const names = { before: distinctNames(before), after: distinctNames(after) }
  const old = new Map(before.nodes.map((node, index) => [names.before[index] ?? '', node]))
  const present = new Set(names.after)
  const differences: Difference[] = []
  for (const [index, node] of after.nodes.entries()) {
    const name = names.after[index] ?? ''
    const former = old.get(name)
    if (former === undefined) differences.push({ what: 'node added', node: name, type: node.type })
    else {
      const fields = fieldDifferences(former, node)
      if (fields.length > 0) differences.push({ what: 'node changed', node: name, fields })
    }
  }
  for (const [name, { type }] of old)
    if (!present.has(name)) differences.push({ what: 'node removed', node: name, type })
  const first = { before: firstOf(before, names.before), after: firstOf(after, names.after) }
  if (first.before !== first.after) differences.push({ what: 'first node changed', ...first })
  return [...differences, ...connectionDifferences(before, after, names)]
}

/** For a terminal: one line a difference, and two for each field of a changed node. */
export function differenceLines(difference: Difference): readonly string[] {
  switch (difference.what) {
    case 'node added':
      return [`+ node '${difference.node}' (${difference.type})`]
    case 'node removed':
      return [`- node '${difference.node}' (${difference.type})`]
    case 'node changed':
      return [`~ node '${difference.node}'`, ...difference.fields.flatMap(fieldLines)]
    case 'first node changed':
      return [`~ first node: ${difference.before ?? 'none'} → ${difference.after ?? 'none'}`]
    case 'connection added':
      return [`+ '${difference.from}' ─ ${difference.relation} → '${difference.to}'`]
    case 'connection removed':
      return [`- '${difference.from}' ─ ${difference.relation} → '${difference.to}'`]
  }
}

function fieldLines({ path, before, after }: FieldDifference): readonly string[] {
  return [
    ...(before === undefined ? [] : [`    - ${path}: ${before}`]),
    ...(after === undefined ? [] : [`    + ${path}: ${after}`]),
  ]
}

/** A second node of a name is told apart by its number. */
function distinctNames({ nodes }: ComparedChain): readonly string[] {
  const seen = new Map<string, number>()
  return nodes.map(({ name }) => {
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} #${count}`
  })
}

function firstOf({ firstNodeIndex }: ComparedChain, names: readonly string[]): string | null {
  return firstNodeIndex === null ? null : (names[firstNodeIndex] ?? null)
}

function fieldDifferences(before: ComparedNode, after: ComparedNode): readonly FieldDifference[] {
  return valueDifferences('', fieldsOf(before), fieldsOf(after))
}

function fieldsOf({ type, configurationVersion, queueName, singletonMode, configuration }: ComparedNode): JsonObject {
  return { type, configurationVersion, queueName, singletonMode, configuration }
}

function valueDifferences(
  path: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): readonly FieldDifference[] {
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...keys].flatMap((key) => valueDifferences(path === '' ? key : `${path}.${key}`, before[key], after[key]))
  }
  const texts = { before: textOf(before), after: textOf(after) }
  return texts.before === texts.after ? [] : [{ path, ...texts }]
}

function textOf(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : stringifyJson(value)
}

interface Names {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

function connectionDifferences(before: ComparedChain, after: ComparedChain, names: Names): readonly Difference[] {
  const old = connectionsOf(before, names.before)
  const now = connectionsOf(after, names.after)
  return [
    ...[...now].filter(([key]) => !old.has(key)).map(([, ends]) => ({ what: 'connection added' as const, ...ends })),
    ...[...old].filter(([key]) => !now.has(key)).map(([, ends]) => ({ what: 'connection removed' as const, ...ends })),
  ]
}

/** By what makes two of them the same: labels are compared without regard to case (`rule-engine.md` 2.1). */
function connectionsOf({ connections }: ComparedChain, names: readonly string[]) {
  return new Map(
    connections.map(({ fromIndex, toIndex, type }) => {
      const [from, to] = [names[fromIndex] ?? '', names[toIndex] ?? '']
      return [stringifyJson([from, type.toLowerCase(), to]), { from, relation: type, to }] as const
    }),
  )
}
