/** Puts in the body's place what a JSON path selects of it (`rule-nodes.md` 27). */
import { z } from 'zod'
import { withBody } from '../body.ts'
import { defineNode, ofField } from '../define-node.ts'
import { compileJsonPath } from '../json-path/json-path.ts'

const ROOT = '$'

export const jsonPath = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbJsonPathNode',
  name: 'json path',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'The body becomes what the path selects: a value, or a list where the path may meet several. A path that leads nowhere takes Failure.',
  configuration: z.looseObject({
    jsonPath: z.string().min(1).meta({
      title: 'JSON path',
      description:
        "As $.a['b'], $.list[0], $.list[-2:], $.list[*].name, $..name, $.list[?(@.price > 10 && @.name =~ /a.*/)], $.list.length().",
    }),
  }),
  defaults: { jsonPath: ROOT },
  examples: [
    {
      title: 'one value',
      configuration: { jsonPath: '$.values.temperature' },
      given: { data: '{"values":{"temperature":21.0}}' },
      expect: { relations: ['Success'], data: '21.0' },
    },
    {
      title: 'a filter gives a list',
      configuration: { jsonPath: '$.items[?(@.price > 10)].name' },
      given: { data: '{"items":[{"name":"a","price":5},{"name":"b","price":15}]}' },
      expect: { relations: ['Success'], data: '["b"]' },
    },
    {
      title: 'nothing is there',
      configuration: { jsonPath: '$.b' },
      given: { data: '{"a":1}' },
      expect: { relations: ['Failure'] },
    },
  ],
  create: async (configuration) => {
    if (configuration.jsonPath === ROOT) return { handle: () => 'Success' }
    const select = await ofField('jsonPath', () => compileJsonPath(configuration.jsonPath))
    return {
      handle: (message) => ({ message: withBody(message, select(message.json())), relations: ['Success'] }),
    }
  },
})
