/** Rule nodes that lead from chain to chain: a graph names other chains by their configuration. */
import type { JsonObject } from '../../model/json.ts'

export const INPUT_NODE_TYPE = 'org.thingsboard.rule.engine.flow.TbRuleChainInputNode'
export const OUTPUT_NODE_TYPE = 'org.thingsboard.rule.engine.flow.TbRuleChainOutputNode'

/** The chain that an input node hands messages to. */
export function idOfTarget({ ruleChainId }: JsonObject): string | undefined {
  return typeof ruleChainId === 'string' ? ruleChainId.toLowerCase() : undefined
}
