/** Every rule node there is. To add one: its file, its test, a line here. */
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { RuleNodeDefinition } from './define-node.ts'
import { log } from './action/log.ts'
import { restCallReply } from './action/rest-call-reply.ts'
import { rpcCallReply } from './action/rpc-call-reply.ts'
import { rpcCallRequest } from './action/rpc-call-request.ts'
import { saveAttributes } from './action/save-attributes.ts'
import { saveTimeSeries } from './action/save-time-series.ts'
import { messageTypeFilter } from './filter/message-type-filter.ts'
import { messageTypeSwitch } from './filter/message-type-switch.ts'
import { scriptFilter } from './filter/script-filter.ts'
import { scriptSwitch } from './filter/script-switch.ts'
import { acknowledge } from './flow/acknowledge.ts'
import { checkpoint } from './flow/checkpoint.ts'
import { ruleChainInput } from './flow/rule-chain-input.ts'
import { ruleChainOutput } from './flow/rule-chain-output.ts'
import { scriptTransformation } from './transform/script-transformation.ts'

export const ruleNodes: readonly RuleNodeDefinition[] = [
  messageTypeFilter,
  messageTypeSwitch,
  scriptFilter,
  scriptSwitch,
  scriptTransformation,
  log,
  restCallReply,
  rpcCallReply,
  rpcCallRequest,
  saveAttributes,
  saveTimeSeries,
  acknowledge,
  checkpoint,
  ruleChainInput,
  ruleChainOutput,
]

const byType = new Map(ruleNodes.map((definition) => [definition.type, definition]))

export const catalogue: NodeCatalogue = {
  find: (type) => byType.get(type),
  all: () => ruleNodes,
}
