/** What a version did in all, by node. */
import type { TriedNode } from '../../model/chain-trial.ts'
import type { Outcome } from './differences.ts'

/** Nodes, and relations or effects of one. */
const MAX_NAMES = 1_000

interface Counts {
  entered: number
  readonly relations: Map<string, number>
  readonly effects: Map<string, number>
}

export class Tally {
  private readonly counts = new Map<string, Counts>()

  add({ entered, left, effects }: Outcome): void {
    for (const node of entered) {
      const counts = this.of(node)
      if (counts !== undefined) counts.entered++
    }
    for (const { node, relation } of left) count(this.of(node)?.relations, relation)
    for (const { node, effect } of effects) count(this.of(node)?.effects, effect)
  }

  nodes(): readonly TriedNode[] {
    return [...this.counts].map(([node, { entered, relations, effects }]) => ({
      ...{ node, entered },
      ...{ relations: Object.fromEntries(relations), effects: Object.fromEntries(effects) },
    }))
  }

  private of(node: string): Counts | undefined {
    let found = this.counts.get(node)
    if (found === undefined && this.counts.size < MAX_NAMES) {
      found = { entered: 0, relations: new Map(), effects: new Map() }
      this.counts.set(node, found)
    }
    return found
  }
}

function count(counts: Map<string, number> | undefined, name: string): void {
  if (counts !== undefined && (counts.has(name) || counts.size < MAX_NAMES))
    counts.set(name, (counts.get(name) ?? 0) + 1)
}
