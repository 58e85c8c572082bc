/** Posts a text to a Slack conversation (`rule-nodes.md` 70). */
import { z } from 'zod'
import { isJsonObject, parseJson, stringifyJson } from '../../model/json.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { bytesOf, callingNode, success } from './outcome.ts'
import { SECRET } from '../secrets.ts'

const NAME = 'send to slack'
const POST_MESSAGE = 'https://slack.com/api/chat.postMessage'
const MAX_ANSWER_BYTES = 64 * 1024

const messageTemplate = z.string().min(1, 'must not be empty').meta({
  title: 'Message',
  description: 'May hold ${metadata} and $[data].',
})
const conversation = z.looseObject({ id: z.string().min(1, 'must not be empty') })

export const sendToSlack = defineNode({
  type: 'org.thingsboard.rule.engine.notification.TbSlackNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Posts a text as the bot of the given token. The token of the tenant’s notification settings is not served.',
  configuration: z.looseObject({
    botToken: z
      .string()
      .nullish()
      .meta({ ...SECRET, title: 'Bot token', description: 'Of the Slack application.' }),
    useSystemSettings: orZero(z.boolean(), false).meta({
      title: 'System settings',
      description: 'Not served: a node with it does not start.',
    }),
    messageTemplate,
    conversationType: orZero(z.enum(['PUBLIC_CHANNEL', 'PRIVATE_CHANNEL', 'DIRECT']), 'PUBLIC_CHANNEL'),
    conversation: conversation.nullish().meta({ title: 'Conversation', description: 'Its id, as Slack has it.' }),
  }),
  constraints: z.looseObject({ messageTemplate, conversation }),
  defaults: {
    botToken: 'xoxb-',
    useSystemSettings: true,
    messageTemplate: 'Device ${deviceId}: temperature is $[temperature]',
    conversationType: 'PUBLIC_CHANNEL',
    conversation: null,
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: ({ botToken, useSystemSettings, messageTemplate: template, conversation: place }, { services }) => {
    const { outbound } = services
    const refused = (field: string, reason: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
    if (useSystemSettings) throw refused('useSystemSettings', 'is not served: give the node a token of its own')
    if (!botToken) throw refused('botToken', 'is missing')
    if (!place) throw refused('conversation', 'is missing')
    const textOf = pattern(template)
    const client = outbound.open('http', { maxAnswerBytes: MAX_ANSWER_BYTES, secret: botToken })
    const headers = { Authorization: `Bearer ${botToken}`, 'Content-Type': 'application/json; charset=utf-8' }
    return callingNode(outbound, client, async (message) => {
      const body = stringifyJson({ channel: place.id, text: textOf(message) })
      const answer = await client.call({ method: 'POST', url: POST_MESSAGE, headers, body }, bytesOf(body))
      const said = answer.status === 200 ? parseJson(answer.body) : null
      if (isJsonObject(said) && said['ok'] === true) return success(message)
      const reason = isJsonObject(said) && typeof said['error'] === 'string' ? said['error'] : `status ${answer.status}`
      throw new Error(`Slack: ${reason}`)
    })
  },
})
