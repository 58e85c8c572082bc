/** Which messages come from one rule chain into another: of all types, or behind a type switch of some alone. */
import type { NodeConnection } from '../../model/entities.ts'
import { isSource, type NodeCatalogue } from '../../engine/rulechain/node.ts'
import type { CheckedChain } from './checked-chain.ts'
import { idOfTarget, INPUT_NODE_TYPE } from './node-types.ts'

/** Message types; `all` for messages of any. */
export type Incoming = 'all' | ReadonlySet<string>

/** What comes into the chain of that id from the others; undefined where none of them leads to it. */
export function incomingFrom(
  others: readonly CheckedChain[],
  id: string,
  catalogue: Pick<NodeCatalogue, 'find'>,
): Incoming | undefined {
  const parts = others.flatMap((other) => typesInto(id.toLowerCase(), other, catalogue) ?? [])
  return parts.length === 0 ? undefined : parts.reduce(union)
}

function typesInto(id: string, chain: CheckedChain, catalogue: Pick<NodeCatalogue, 'find'>): Incoming | undefined {
  const { nodes, connections, firstNodeIndex: first } = chain
  const entered = new Map<number, Incoming>()
  const left: number[] = []
  const enter = (index: number, types: Incoming): void => {
    const before = entered.get(index)
    const after = before === undefined ? types : union(before, types)
    if (before !== undefined && sizeOf(after) === sizeOf(before)) return
    entered.set(index, after)
    left.push(index)
  }
  if (first !== null) enter(first, 'all')
  for (const [index, { type, configuration }] of nodes.entries()) {
    const definition = catalogue.find(type)
    if (definition !== undefined && isSource(definition, configuration)) enter(index, 'all')
  }
  for (let index = left.pop(); index !== undefined; index = left.pop())
    for (const way of connections.filter(({ fromIndex }) => fromIndex === index))
      enter(way.toIndex, throughWay(chain, way, entered.get(index) ?? 'all', catalogue))
  const found = nodes.flatMap(({ type, configuration }, index) =>
    type === INPUT_NODE_TYPE && idOfTarget(configuration) === id ? (entered.get(index) ?? []) : [],
  )
  return found.length === 0 ? undefined : found.reduce(union)
}

function throughWay(
  { nodes }: CheckedChain,
  { fromIndex, type: label }: NodeConnection,
  types: Incoming,
  catalogue: Pick<NodeCatalogue, 'find'>,
): Incoming {
  const node = nodes[fromIndex]
  const passed = node && catalogue.find(node.type)?.passes?.(label, node.configuration)
  if (passed === undefined) return types
  return types === 'all' ? new Set(passed) : new Set(passed.filter((type) => types.has(type)))
}

export function union(one: Incoming, other: Incoming): Incoming {
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other])
}

function sizeOf(types: Incoming): number {
  return types === 'all' ? Infinity : types.size
}
