/** Lets messages of the listed types pass (`rule-nodes.md` 8). */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'

export const messageTypeFilter = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbMsgTypeFilterNode',
  name: 'message type filter',
  category: 'FILTER',
  relations: ['True', 'False'],
  description: 'True for the listed message types, custom ones too, compared exactly.',
  configuration: z.looseObject({
    messageTypes: z.array(z.string()).meta({ title: 'Message types', description: 'Types that take True.' }),
  }),
  defaults: { messageTypes: ['POST_ATTRIBUTES_REQUEST', 'POST_TELEMETRY_REQUEST', 'TO_SERVER_RPC_REQUEST'] },
  editor: { form: 'tbFilterNodeMessageTypeConfig' },
  examples: [
    {
      title: 'a listed type passes',
      configuration: { messageTypes: ['POST_TELEMETRY_REQUEST', 'MY_TYPE'] },
      given: { type: 'MY_TYPE', data: '{}' },
      expect: { relations: ['True'] },
    },
    {
      title: 'types are compared with their case',
      configuration: { messageTypes: ['MY_TYPE'] },
      given: { type: 'my_type', data: '{}' },
      expect: { relations: ['False'] },
    },
  ],
  passes: (label, { messageTypes }) => {
    if (label.toLowerCase() !== 'true' || !Array.isArray(messageTypes)) return undefined
    return messageTypes.filter((type) => typeof type === 'string')
  },
  create: ({ messageTypes }) => {
    const listed = new Set(messageTypes)
    return { handle: (message) => (listed.has(message.type) ? 'True' : 'False') }
  },
})
