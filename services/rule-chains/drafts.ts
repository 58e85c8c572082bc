/** What a save of a rule chain's graph says. */
import type { NodeConnection, RuleNode } from '../../model/entities.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'

export interface NodeDraft {
  readonly id?: string | undefined
  readonly type: string
  readonly name: string
  readonly debugSettings?: JsonValue
  readonly singletonMode?: boolean
  readonly queueName?: string | null
  readonly configurationVersion?: number
  readonly configuration: JsonObject
  readonly additionalInfo?: JsonValue
  /** Of a node that is made anew or restored: the one whose secrets its masks stand for. */
  readonly madeOf?: RuleNode | undefined
}

export interface GraphDraft {
  readonly ruleChainId: string
  readonly version?: number | undefined
  readonly firstNodeIndex: number | null
  readonly nodes: readonly NodeDraft[]
  readonly connections: readonly NodeConnection[] | null
  readonly ruleChainConnections?: readonly JsonObject[] | null
  readonly notes?: JsonValue
}
