/** Routes a message to the relations that a script names (`rule-nodes.md` 7). The message goes on as it came. */
import { defineNode } from '../define-node.ts'
import { scriptConfiguration, scriptDefaults, scriptInstance } from '../script-configuration.ts'

const JS_DEFAULT = `function nextRelation(metadata, msg) {
    return ['one','nine'];
}
if(msgType === 'POST_TELEMETRY_REQUEST') {
    return ['two'];
}
return nextRelation(metadata, msg);`

const TBEL_DEFAULT = JS_DEFAULT.replace('===', '==')

export const scriptSwitch = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbJsSwitchNode',
  name: 'switch',
  category: 'FILTER',
  relations: 'custom',
  description: 'Routes by the relations that the script returns: a text or a list.',
  configuration: scriptConfiguration,
  defaults: scriptDefaults(JS_DEFAULT, TBEL_DEFAULT),
  editor: { form: 'tbFilterNodeSwitchConfig' },
  examples: [
    {
      title: 'several relations at once',
      configuration: scriptDefaults("return ['hot', 'dry'];"),
      given: { data: '{"temperature":40,"humidity":3}' },
      expect: { relations: ['hot', 'dry'] },
    },
  ],
  uses: ['scripts'],
  create: (configuration, context) =>
    scriptInstance('switch', configuration, context, (message, relations) => {
      const [only] = relations
      return relations.length === 1 && only !== undefined ? only : { message, relations }
    }),
})
