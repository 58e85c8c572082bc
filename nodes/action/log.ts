/** Writes a text made by a script to the system log (`rule-nodes.md` 41). The message goes on as it came. */
import { stringifyJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { defineNode } from '../define-node.ts'
import type { NodeContext, NodeInstance } from '../../engine/rulechain/node.ts'
import { scriptBody, scriptConfiguration, scriptDefaults, scriptInstance } from '../script-configuration.ts'
import type { ScriptConfiguration } from '../script-configuration.ts'

const DEFAULT_SCRIPT =
  "return '\\nIncoming message:\\n' + JSON.stringify(msg) + '\\nIncoming metadata:\\n' + JSON.stringify(metadata);"

export const log = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbLogNode',
  name: 'log',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Writes what the script returns to the system log.',
  configuration: scriptConfiguration,
  defaults: scriptDefaults(DEFAULT_SCRIPT),
  editor: { form: 'tbActionNodeLogConfig', icon: 'menu' },
  examples: [
    {
      title: 'the message goes on unchanged',
      configuration: scriptDefaults(DEFAULT_SCRIPT),
      given: { data: '{"temperature":81}', metadata: { deviceName: 'A' } },
      expect: { relations: ['Success'], data: '{"temperature":81}', metadata: { deviceName: 'A' } },
    },
  ],
  uses: ['scripts'],
  create: async (configuration, context) => {
    const instance = await lineWriter(configuration, context)
    // A script that does not compile is told all the same; one whose line nobody would see is not run.
    return context.settings.logsInfo ? instance : { handle: () => 'Success', close: () => instance.close?.() }
  },
})

function lineWriter(
  configuration: ScriptConfiguration,
  context: NodeContext<'scripts'>,
): NodeInstance | Promise<NodeInstance> {
  const write = (message: Message, text: string): 'Success' => {
    context.log('info', text, fieldsOf(message))
    return 'Success'
  }
  // The default script needs no script engine: the text is the same (`rule-nodes.md` 41).
  if (scriptBody(configuration).trim() === DEFAULT_SCRIPT) {
    return { handle: (message) => write(message, defaultText(message)) }
  }
  return scriptInstance('log', configuration, context, write)
}

function defaultText(message: Message): string {
  return `\nIncoming message:\n${message.data}\nIncoming metadata:\n${stringifyJson({ ...message.metadata })}`
}

function fieldsOf(message: Message): Readonly<Record<string, unknown>> {
  return { msgId: message.id, msgType: message.type, originator: message.originator.id }
}
