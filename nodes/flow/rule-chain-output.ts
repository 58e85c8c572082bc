/** Goes back to the "rule chain" node that the message came through, with this node's name as relation (`rule-nodes.md` 77). */
import { EMPTY_DEFAULTS, defineNode, emptyConfiguration } from '../define-node.ts'

export const ruleChainOutput = defineNode({
  type: 'org.thingsboard.rule.engine.flow.TbRuleChainOutputNode',
  name: 'output',
  category: 'FLOW',
  relations: [],
  description: "Returns to the calling chain by the relation of this node's name; without a caller the message ends.",
  configuration: emptyConfiguration,
  defaults: EMPTY_DEFAULTS,
  editor: { form: 'tbFlowNodeRuleChainOutputConfig' },
  examples: [
    {
      title: 'without a caller the message ends',
      configuration: {},
      given: { data: '{}' },
      expect: { relations: [] },
    },
  ],
  create: (_configuration, context) => {
    const step = { flow: 'return', relation: context.ruleNodeName } as const
    return { handle: () => step }
  },
})
