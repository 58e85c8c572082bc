/** Settles the message now and lets it go on: later failures no longer cause a retry (`rule-nodes.md` 74). */
import { EMPTY_DEFAULTS, defineNode, emptyConfiguration } from '../define-node.ts'

const ACKNOWLEDGE = { flow: 'acknowledge' } as const

export const acknowledge = defineNode({
  type: 'org.thingsboard.rule.engine.flow.TbAckNode',
  name: 'acknowledge',
  category: 'FLOW',
  relations: ['Success'],
  description: 'Settles the message in its queue; what fails behind it is not retried.',
  configuration: emptyConfiguration,
  defaults: EMPTY_DEFAULTS,
  editor: { form: 'tbNodeEmptyConfig' },
  examples: [
    {
      title: 'the message goes on',
      configuration: {},
      given: { data: '{}' },
      expect: { relations: ['Success'] },
    },
  ],
  create: () => ({ handle: () => ACKNOWLEDGE }),
})
