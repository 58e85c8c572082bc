/** Routes a message by its type (`rule-engine.md` 2.2, `rule-nodes.md` 9). */
import { MESSAGE_TYPE_LABELS } from '../../model/message-type.ts'
import { EMPTY_DEFAULTS, defineNode, emptyConfiguration } from '../define-node.ts'

const labels = new Map<string, string>(Object.entries(MESSAGE_TYPE_LABELS))

export const messageTypeSwitch = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbMsgTypeSwitchNode',
  name: 'message type switch',
  category: 'FILTER',
  relations: [...new Set(labels.values())],
  description: 'Routes by the message type; Other for types without a relation.',
  configuration: emptyConfiguration,
  defaults: EMPTY_DEFAULTS,
  editor: { form: 'tbNodeEmptyConfig' },
  examples: [
    {
      title: 'telemetry has a label of its own',
      configuration: {},
      given: { type: 'POST_TELEMETRY_REQUEST', data: '{}' },
      expect: { relations: ['Post telemetry'] },
    },
    {
      title: 'a type without a label goes to Other',
      configuration: { version: 0 },
      given: { type: 'MY_TYPE', data: 'no JSON at all' },
      expect: { relations: ['Other'] },
    },
  ],
  passes: (label) => {
    const types = [...labels].filter(([, own]) => own.toLowerCase() === label.toLowerCase()).map(([type]) => type)
    return label.toLowerCase() === 'other' || types.length === 0 ? undefined : types
  },
  create: () => ({ handle: (message) => labels.get(message.type) ?? 'Other' }),
})
