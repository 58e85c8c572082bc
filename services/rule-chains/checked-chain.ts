/** A rule chain as it is checked: one of a file, or one that is stored. */
import type { NodeConnection } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'

/** As much of a node as is looked at. */
export interface CheckedNode {
  readonly type: string
  readonly name: string
  readonly configurationVersion: number
  readonly configuration: JsonObject
  /** Where it stands in the editor; undefined where nobody says. */
  readonly place?: { readonly x: number; readonly y: number } | undefined
}

export interface CheckedChain<Node extends CheckedNode = CheckedNode> {
  readonly firstNodeIndex: number | null
  readonly nodes: readonly Node[]
  readonly connections: readonly NodeConnection[]
}

/** Makes a node in a world of its own; resolves with what it does not start for. */
export type TryNode = (node: CheckedNode) => Promise<Error | undefined>
