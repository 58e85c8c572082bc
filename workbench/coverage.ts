/** Which nodes and connections of a chain the messages of its cases took. */
import type { DrawnChain } from './chain-file.ts'
import type { Visit } from './rehearsal.ts'

export class Coverage {
  private readonly chain: DrawnChain
  private readonly nodes = new Set<number>()
  private readonly connections = new Set<number>()

  constructor(chain: DrawnChain) {
    this.chain = chain
  }

  add(visits: readonly Visit[]): void {
    for (const { nodeIndex, direction, relation } of visits) {
      // What goes out of a source never went in.
      this.nodes.add(nodeIndex)
      if (direction === 'OUT') this.take(nodeIndex, relation ?? '')
    }
  }

  /** 0 to 100, of nodes and connections together. */
  get percent(): number {
    const all = this.chain.nodes.length + this.chain.connections.length
    return all === 0 ? 100 : Math.floor((100 * (this.nodes.size + this.connections.size)) / all)
  }

  /** The figures, and a line for each that no message took. */
  lines(): readonly string[] {
    const { nodes, connections } = this.chain
    const name = (index: number): string => `'${nodes[index]?.name ?? ''}'`
    return [
      `nodes ${this.nodes.size} of ${nodes.length}, connections ${this.connections.size} of ${connections.length} (${this.percent} %)`,
      ...[...nodes.keys()].filter((index) => !this.nodes.has(index)).map((index) => `  never entered: ${name(index)}`),
      ...connections
        .filter((_, index) => !this.connections.has(index))
        .map(({ fromIndex, type, toIndex }) => `  never taken: ${name(fromIndex)} ─ ${type} → ${name(toIndex)}`),
    ]
  }

  private take(nodeIndex: number, relation: string): void {
    for (const [index, { fromIndex, type }] of this.chain.connections.entries()) {
      if (fromIndex === nodeIndex && type.toLowerCase() === relation.toLowerCase()) this.connections.add(index)
    }
  }
}
