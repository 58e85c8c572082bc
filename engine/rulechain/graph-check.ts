/** What a graph must be before it is stored or run: indices that exist and no way back to where it came from (`rule-engine.md` 3.5). */
import type { NodeConnection } from '../../model/entities.ts'
import { RuleChainErrors } from './errors.ts'

export interface GraphShape {
  readonly firstNodeIndex: number | null
  readonly nodes: readonly { readonly name: string }[]
  readonly connections: readonly NodeConnection[] | null
}

/** Throws `NODE_INDEX`, `SELF_CONNECTION`, `CYCLE`. */
export function checkGraph(graph: GraphShape): void {
  const count = graph.nodes.length
  if (graph.firstNodeIndex !== null) checkIndex('firstNodeIndex', graph.firstNodeIndex, count)
  const next: number[][] = graph.nodes.map(() => [])
  for (const connection of graph.connections ?? []) {
    checkIndex('fromIndex', connection.fromIndex, count)
    checkIndex('toIndex', connection.toIndex, count)
    if (connection.fromIndex === connection.toIndex) {
      throw RuleChainErrors.SELF_CONNECTION({ node: nameOf(graph, connection.fromIndex) })
    }
    next[connection.fromIndex]?.push(connection.toIndex)
  }
  const cycle = findCycle(next)
  if (cycle !== undefined) {
    throw RuleChainErrors.CYCLE({ path: cycle.map((index) => `'${nameOf(graph, index)}'`).join(' → ') })
  }
}

function checkIndex(field: string, index: number, count: number): void {
  if (!Number.isInteger(index) || index < 0 || index >= count) throw RuleChainErrors.NODE_INDEX({ field, index, count })
}

function nameOf(graph: GraphShape, index: number): string {
  return graph.nodes[index]?.name ?? String(index)
}

/** Depth first with a stack of its own, so that a long chain can not exhaust the call stack. */
function findCycle(next: readonly (readonly number[])[]): number[] | undefined {
  const state = new Uint8Array(next.length)
  const onPath = 1
  const done = 2
  for (let start = 0; start < next.length; start++) {
    if (state[start] !== 0) continue
    const path: { node: number; edge: number }[] = [{ node: start, edge: 0 }]
    state[start] = onPath
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const target = next[top.node]?.[top.edge++]
      if (target === undefined) {
        state[top.node] = done
        path.pop()
      } else if (state[target] === onPath) {
        const nodes = path.map((step) => step.node)
        return [...nodes.slice(nodes.indexOf(target)), target]
      } else if (state[target] === 0) {
        state[target] = onPath
        path.push({ node: target, edge: 0 })
      }
    }
  }
  return undefined
}
