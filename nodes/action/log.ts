/** Writes a text made by a script to the system log (`rule-nodes.md` 41). The message goes on as it came. */
import { stringifyJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { defineNode } from '../define-node.ts'
import { scriptBody, scriptConfiguration, scriptDefaults, scriptInstance } from '../script-configuration.ts'

const DEFAULT_SCRIPT =
  "return '\\nIncoming message:\\n' + JSON.stringify(msg) + '\\nIncoming metadata:\\n' + JSON.stringify(metadata);"

export const log = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbLogNode',
  name: 'log',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Writes the text that the script returns to the system log.',
  configuration: scriptConfiguration,
  defaults: scriptDefaults(DEFAULT_SCRIPT),
  examples: [
    {
      title: 'the message goes on unchanged',
      configuration: scriptDefaults(DEFAULT_SCRIPT),
      given: { data: '{"temperature":81}', metadata: { deviceName: 'A' } },
      expect: { relations: ['Success'], data: '{"temperature":81}', metadata: { deviceName: 'A' } },
    },
  ],
  create: (configuration, context) => {
    if (scriptBody(configuration).trim() === DEFAULT_SCRIPT) {
      // The default script needs no script engine: the text is the same (`rule-nodes.md` 41).
      return {
        handle: (message) => {
          context.log('info', defaultText(message), fieldsOf(message))
          return 'Success'
        },
      }
    }
    return scriptInstance('log', configuration, context, (message, text) => {
      context.log('info', text, fieldsOf(message))
      return 'Success'
    })
  },
})

function defaultText(message: Message): string {
  return `\nIncoming message:\n${message.data}\nIncoming metadata:\n${stringifyJson({ ...message.metadata })}`
}

function fieldsOf(message: Message): Readonly<Record<string, unknown>> {
  return { msgId: message.id, msgType: message.type, originator: message.originator.id }
}
