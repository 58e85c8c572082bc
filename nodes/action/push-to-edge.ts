/**
 * Nodes of edge installations (`rule-nodes.md` 46, 47). There are no edges here, so no entity is related to one: as in the reference, the
 * message ends then, settled.
 */
import { z } from 'zod'
import { ATTRIBUTE_SCOPES } from '../../model/value.ts'
import { defineNode, orZero } from '../define-node.ts'
import type { RuleNodeDefinition } from '../define-node.ts'

function ending(name: string, type: string): RuleNodeDefinition {
  return defineNode({
    type: `org.thingsboard.rule.engine.edge.${type}`,
    name,
    category: 'ACTION',
    relations: ['Success'],
    description: 'Ends the message: there are no edges here to push it to.',
    configuration: z.looseObject({
      scope: orZero(z.enum(ATTRIBUTE_SCOPES), 'SERVER_SCOPE').meta({
        title: 'Scope',
        description: 'Of attributes that would be pushed.',
      }),
    }),
    defaults: { scope: 'SERVER_SCOPE' },
    examples: [
      {
        title: 'the message ends',
        configuration: { scope: 'SERVER_SCOPE' },
        given: { data: '{"a":1}' },
        expect: { relations: [] },
      },
    ],
    create: () => ({ handle: () => undefined }),
  })
}

export const pushToEdge = ending('push to edge', 'TbMsgPushToEdgeNode')
export const pushToCloud = ending('push to cloud', 'TbMsgPushToCloudNode')
