/** Relations that come and go, as fields see them: whose values, and whose results, take other ways then. */
import type { EntityId } from '../../../model/entity-id.ts'
import { nearEnd, type RelationKey } from '../../../model/relation.ts'
import type { Payload, RelationsNews } from './payload.ts'
import type { RelationLevel } from './related.ts'

/** A message holds no more: all relations of an entity go at once. */
const RELATIONS_A_MESSAGE = 100

/** The way from the entities of a field to others, level by level. */
export interface RelationWay {
  /** What the field is set on: an entity, or the profile of those that it is calculated for. */
  readonly owner: EntityId
  readonly levels: readonly RelationLevel[]
}

export interface ConcernedWay extends RelationWay {
  /** Where the changed step begins; `levels` lead there. */
  readonly near: EntityId
}

/** Ways that have one of the relations as a step. */
export function concernedWays(ways: Iterable<RelationWay>, { changed }: RelationsNews): readonly ConcernedWay[] {
  const found = new Map<string, ConcernedWay>()
  for (const { owner, levels } of ways)
    for (const [place, { direction, relationType }] of levels.entries())
      for (const relation of changed) {
        if (relation.type !== relationType) continue
        const near = nearEnd(relation, direction)
        found.set(JSON.stringify([owner.id, place, near.id, levels]), { owner, near, levels: levels.slice(0, place) })
      }
  return [...found.values()]
}

/** Those that any way has as a step, in messages' worth. */
export function stepsOnWays(
  ways: Iterable<RelationWay>,
  relations: readonly RelationKey[],
): readonly (readonly RelationKey[])[] {
  const types = new Set([...ways].flatMap(({ levels }) => levels.map(({ relationType }) => relationType)))
  const steps = relations.filter(({ type, typeGroup }) => typeGroup === 'COMMON' && types.has(type))
  const count = Math.ceil(steps.length / RELATIONS_A_MESSAGE)
  return Array.from({ length: count }, (_, part) =>
    steps.slice(part * RELATIONS_A_MESSAGE, (part + 1) * RELATIONS_A_MESSAGE),
  )
}

export function isRelationNews(news: Payload | undefined): boolean {
  return news?.kind === 'related' || news?.kind === 'relations'
}
