/** Changes a message by a script, or makes several of it (`rule-nodes.md` 30, `rule-engine.md` 6.1). */
import type { MessageFields, Message } from '../../model/message.ts'
import type { TransformedMessage } from '../../engine/script/script.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { partId } from '../part-id.ts'
import { scriptConfiguration, scriptDefaults, scriptInstance } from '../script-configuration.ts'

const SUCCESS = ['Success'] as const

export const scriptTransformation = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbTransformMsgNode',
  name: 'script',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description: 'Changes data, metadata or type by a script; a list makes a message of each element.',
  configuration: scriptConfiguration,
  defaults: scriptDefaults('return {msg: msg, metadata: metadata, msgType: msgType};'),
  editor: { form: 'tbTransformationNodeScriptConfig' },
  examples: [
    {
      title: 'a value is computed',
      configuration: scriptDefaults('return {msg: {celsius: msg.celsius + 1}, metadata: metadata, msgType: msgType};'),
      given: { data: '{"celsius":20.5}', metadata: { deviceName: 'A' } },
      expect: { relations: ['Success'], data: '{"celsius":21.5}', metadata: { deviceName: 'A' } },
    },
  ],
  uses: ['scripts'],
  create: (configuration, context) =>
    scriptInstance('transform', configuration, context, (message, results) => {
      const [only] = results
      if (only === undefined) throw NodeErrors.NO_RESULT()
      if (results.length === 1) return { message: changed(message, only, message.id), relations: SUCCESS }
      return results.map((result, index) => ({
        message: changed(message, result, partId(message.id, index)),
        relations: SUCCESS,
      }))
    }),
})

/** A missing member keeps the original, and so does an empty type. */
function changed(message: Message, result: TransformedMessage, id: string): Message {
  const change: { -readonly [Key in keyof MessageFields]?: MessageFields[Key] } = { id }
  if (result.data !== undefined) change.data = result.data
  if (result.metadata !== undefined) change.metadata = result.metadata
  if (result.type !== undefined && result.type !== '') change.type = result.type
  return message.with(change)
}
