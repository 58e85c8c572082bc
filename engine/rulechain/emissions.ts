/** Reading what a node emitted (`rule-engine.md` 4.7). */
import type { Message } from '../../model/message.ts'
import type { CompiledNode } from './compiled-node.ts'
import type { Emission, FlowStep } from './node.ts'

export interface Way {
  readonly target: CompiledNode
  readonly message: Message
}

export interface Ways {
  readonly ways: readonly Way[]
  /** `Failure` was emitted and nothing is connected to it: the first such emission. */
  readonly unhandled: Emission | undefined
}

export function isEmissions(output: Emission | readonly Emission[] | FlowStep): output is readonly Emission[] {
  return Array.isArray(output)
}

const FAILURE_LENGTH = 'failure'.length

export function isFailure(relation: string): boolean {
  return relation.length === FAILURE_LENGTH && relation.toLowerCase() === 'failure'
}

/** Every connection that an emission matches is a way of its own. */
export function waysOf(node: CompiledNode, emissions: readonly Emission[]): Ways {
  const ways: Way[] = []
  let unhandled: Emission | undefined
  for (const emission of emissions) {
    const { message, relations } = emission
    const before = ways.length
    for (const relation of withoutRepeats(relations)) {
      const route = node.route(relation)
      route.taken++
      for (const target of route.targets) ways.push({ target, message })
    }
    if (ways.length === before && relations.some(isFailure)) unhandled ??= emission
  }
  return { ways, unhandled }
}

/** A set of relations is emitted once each, in whatever case they are spelled. */
function withoutRepeats(relations: readonly string[]): readonly string[] {
  if (relations.length < 2) return relations
  const seen = new Set<string>()
  return relations.filter((relation) => {
    const label = relation.toLowerCase()
    if (seen.has(label)) return false
    seen.add(label)
    return true
  })
}
