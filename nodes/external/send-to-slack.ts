/** Posts a text to a Slack conversation (`rule-nodes.md` 70). */
import { z } from 'zod'
import type { HttpAnswer, HttpCall, OutboundClient } from '../../engine/rulechain/capabilities/outbound.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { bytesOf, callingNode, success } from './outcome.ts'
import { SECRET } from '../secrets.ts'

const NAME = 'send to slack'
const POST_MESSAGE = 'https://slack.com/api/chat.postMessage'
const MAX_ANSWER_BYTES = 64 * 1024

type Poster = OutboundClient<HttpCall, HttpAnswer>

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
    'Posts a text to a conversation of Slack, as the bot of the given token or of the tenant’s notification settings.',
  triedWith: 'a fake of its documented interface',
  configuration: z.looseObject({
    botToken: z
      .string()
      .nullish()
      .meta({ ...SECRET, title: 'Bot token', description: 'Of the Slack application.' }),
    useSystemSettings: orZero(z.boolean(), false).meta({
      title: 'System settings',
      description: 'The token of the tenant’s notification settings; without one messages take Failure.',
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
  uses: ['notifications', 'outbound'],
  effects: true,
  create: ({ botToken, useSystemSettings, messageTemplate: template, conversation: place }, { services }) => {
    const { notifications, outbound } = services
    const refused = (field: string, reason: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
    if (!useSystemSettings && !botToken) throw refused('botToken', 'is missing')
    if (!place) throw refused('conversation', 'is missing')
    const textOf = pattern(template)
    // Each hides its token in what goes wrong. Settings change seldom: the client of a former token stays until the node closes.
    const clients = new Map<string, Poster>()
    let isClosed = false
    const clientOf = (token: string): Poster => {
      const known = clients.get(token)
      if (known !== undefined) return known
      // Its token was on the way meanwhile: nobody would close it.
      if (isClosed) throw new Error('the node is closed')
      const client = outbound.open('http', { maxAnswerBytes: MAX_ANSWER_BYTES, secret: token })
      clients.set(token, client)
      return client
    }
    const close = async () => {
      isClosed = true
      await Promise.all([...clients.values()].map((client) => client.close()))
    }
    if (!useSystemSettings && botToken) clientOf(botToken)
    return callingNode(outbound, { close }, async (message) => {
      const token = useSystemSettings ? await notifications.slackToken() : botToken
      if (!token) throw new Error('the notification settings of the tenant have no token for Slack')
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json; charset=utf-8' }
      const body = stringifyJson({ channel: place.id, text: textOf(message) })
      const call = { method: 'POST', url: POST_MESSAGE, headers, body }
      const answer = await clientOf(token).call(call, bytesOf(body))
      const said = wordsOf(answer)
      if (said?.['ok'] === true) return success(message)
      if (typeof said?.['error'] === 'string') throw new Error(`Slack: ${said['error']}`)
      throw new Error(`Slack answered ${answer.status}`)
    })
  },
})

/** Undefined where what stands before Slack answers a page. */
function wordsOf({ status, body }: HttpAnswer): JsonObject | undefined {
  if (status !== 200) return undefined
  try {
    const said = parseJson(body)
    return isJsonObject(said) ? said : undefined
  } catch {
    return undefined
  }
}
