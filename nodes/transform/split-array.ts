/** Makes a message of each element of an array (`rule-nodes.md` 29). */
import { stringifyJson } from '../../model/json.ts'
import { EMPTY_DEFAULTS, defineNode, emptyConfiguration } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { partId } from '../part-id.ts'

const SUCCESS = ['Success'] as const

export const splitArray = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbSplitArrayMsgNode',
  name: 'split array msg',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'Makes a message of each element of the array in the body, with the same metadata. An empty array ends the message; a body that is no array takes Failure.',
  configuration: emptyConfiguration,
  defaults: EMPTY_DEFAULTS,
  examples: [
    {
      title: 'two elements are two messages',
      configuration: {},
      given: { data: '[{"a":1.0},{"a":2}]', metadata: { k: 'v' } },
      expect: { relations: ['Success', 'Success'], data: '{"a":1.0}', metadata: { k: 'v' } },
    },
    {
      title: 'an empty array ends the message',
      configuration: { version: 0 },
      given: { data: '[]' },
      expect: { relations: [] },
    },
    {
      title: 'an object is no array',
      configuration: {},
      given: { data: '{"a":[1]}' },
      expect: { relations: ['Failure'] },
    },
  ],
  create: () => ({
    handle: (message) => {
      const elements = message.json()
      if (!Array.isArray(elements)) throw NodeErrors.BODY_NOT_ARRAY()
      return elements.map((json, index) => {
        const id = elements.length === 1 ? message.id : partId(message.id, index)
        return { message: message.with({ id, data: stringifyJson(json) }, { json }), relations: SUCCESS }
      })
    },
  }),
})
