/** Routes a message by the boolean that a script returns (`rule-nodes.md` 6). The message goes on as it came. */
import { defineNode } from '../define-node.ts'
import { scriptConfiguration, scriptDefaults, scriptInstance } from '../script-configuration.ts'

export const scriptFilter = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbJsFilterNode',
  name: 'script',
  category: 'FILTER',
  relations: ['True', 'False'],
  description: 'Routes by the boolean that the script returns; any other result takes Failure.',
  configuration: scriptConfiguration,
  defaults: scriptDefaults('return msg.temperature > 20;'),
  editor: { form: 'tbFilterNodeScriptConfig' },
  examples: [
    {
      title: 'a warm reading passes',
      configuration: scriptDefaults('return msg.temperature > 20;'),
      given: { data: '{"temperature":20.5}' },
      expect: { relations: ['True'], data: '{"temperature":20.5}' },
    },
    {
      title: 'a cold reading does not',
      configuration: scriptDefaults('return msg.temperature > 20;'),
      given: { data: '{"temperature":20}' },
      expect: { relations: ['False'] },
    },
  ],
  uses: ['scripts'],
  create: (configuration, context) =>
    scriptInstance('filter', configuration, context, (_message, value) => (value ? 'True' : 'False')),
})
