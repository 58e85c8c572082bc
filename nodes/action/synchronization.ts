/**
 * Two nodes that do nothing (`rule-nodes.md` 58, 59). Once they made messages of one originator wait for each other; a queue's submit
 * strategy does that now. Existing chains hold them still.
 */
import { EMPTY_DEFAULTS, defineNode, emptyConfiguration } from '../define-node.ts'
import type { RuleNodeDefinition } from '../define-node.ts'

function passing(name: string, type: string): RuleNodeDefinition {
  return defineNode({
    type: `org.thingsboard.rule.engine.transaction.${type}`,
    name,
    category: 'ACTION',
    relations: ['Success'],
    description: 'Lets every message pass. The submit strategy of a queue is what keeps messages in order.',
    configuration: emptyConfiguration,
    defaults: EMPTY_DEFAULTS,
    examples: [
      {
        title: 'the message goes on as it came',
        configuration: {},
        given: { data: 'no JSON', metadata: { a: 'b' } },
        expect: { relations: ['Success'], data: 'no JSON', metadata: { a: 'b' } },
      },
    ],
    create: () => ({ handle: () => 'Success' }),
  })
}

export const synchronizationStart = passing('synchronization start', 'TbSynchronizationBeginNode')
export const synchronizationEnd = passing('synchronization end', 'TbSynchronizationEndNode')
