/** How a version of a chain came up, as whoever loaded it reports it. */
import { isMillraceError } from '../../model/errors.ts'
import type { ChainVersion } from './chain-actor.ts'

/** How a node came up. */
export interface NodeStart {
  readonly ruleNodeId: string
  readonly name: string
  readonly error: Error | undefined
  /** It goes on as it was in the version before. */
  readonly isKept: boolean
}

export interface ChainStart {
  /** Why the chain can not run at all. */
  readonly error: Error | undefined
  readonly nodes: readonly NodeStart[]
}

/** A chain that is not drawn yet is no failure. */
export function startOf(version: ChainVersion): ChainStart {
  const nodes = version.program?.nodes ?? []
  const { failure } = version
  const isNew = isMillraceError(failure) && failure.code === 'rulechain.CHAIN_NOT_DRAWN'
  return {
    error: isNew ? undefined : failure,
    nodes: nodes.map(({ record, failure, isKept }) => ({
      ...{ ruleNodeId: record.id, name: record.name, error: failure, isKept },
    })),
  }
}
