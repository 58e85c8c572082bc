/**
 * Hands the message to another chain of the tenant and goes on where an output node there returns it (`rule-nodes.md` 76,
 * `rule-engine.md` 4.8). The message stays one branch of its work all the way, so a failure inside is retried from the start.
 */
import { z } from 'zod'
import type { FlowStep } from '../../engine/rulechain/node.ts'
import { entityId, isUuid } from '../../model/entity-id.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const NAME = 'rule chain'

export const ruleChainInput = defineNode({
  type: 'org.thingsboard.rule.engine.flow.TbRuleChainInputNode',
  name: NAME,
  category: 'FLOW',
  relations: 'custom',
  description: 'Hands the message to another chain; its output nodes name the relations.',
  configurationVersion: 1,
  configuration: z.looseObject({
    ruleChainId: z.string().nullish().meta({ title: 'Rule chain', description: 'A chain of the same tenant.' }),
    forwardMsgToDefaultRuleChain: orZero(z.boolean(), false).meta({
      title: "Originator's default chain",
      description: "Use the default chain of the originator's profile, if any.",
    }),
  }),
  constraints: z.looseObject({ ruleChainId: z.string().refine(isUuid, 'must be the id of a rule chain').nullish() }),
  editor: { isChain: true, form: 'tbFlowNodeRuleChainInputConfig' },
  defaults: { ruleChainId: null, forwardMsgToDefaultRuleChain: false },
  examples: [],
  upgrade: (configuration) => ({ forwardMsgToDefaultRuleChain: false, ...configuration }),
  uses: ['routes', 'entities'],
  create: async ({ ruleChainId, forwardMsgToDefaultRuleChain }, { services }) => {
    const target = ruleChainId?.toLowerCase()
    const refused = (reason: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field: 'ruleChainId', reason })
    if (target === undefined || !isUuid(target)) throw refused('must be the id of a rule chain')
    if ((await services.entities.find(entityId('RULE_CHAIN', target))) === undefined)
      throw refused(`the tenant has no rule chain ${target}`)
    const step = { flow: 'enter', ruleChainId: target } as const
    if (!forwardMsgToDefaultRuleChain) return { handle: () => step }
    const enter = (chain: string | undefined): FlowStep =>
      chain === undefined ? step : { flow: 'enter', ruleChainId: chain }
    // A message carries the default chain of the profile of the originator it came with: whoever published it put it there.
    return {
      handle: (message) =>
        message.hasOwnOriginator
          ? enter(message.ruleChainId)
          : services.routes.of(message.originator).then((route) => enter(route?.ruleChainId)),
    }
  },
})
