/** Sends a text message to phones (`rule-nodes.md` 73). */
import { z } from 'zod'
import type { NodeOutbound } from '../../engine/rulechain/capabilities/outbound.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { SECRET } from '../secrets.ts'
import { accountOf } from './aws.ts'
import { bytesOf, callingNode, success } from './outcome.ts'

const NAME = 'send sms'
/** ITU-T E.164. */
const PHONE_NUMBER = /^\+[1-9]\d{1,14}$/
/** Twilio's ids of a phone number and of a messaging service. */
const TWILIO_ID = /^(PN|MG)/

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

const provider = z
  .looseObject({
    type: z.string(),
    ...{ accessKeyId: text, secretAccessKey: text.meta(SECRET), region: text },
    ...{ accountSid: text, accountToken: text.meta(SECRET), numberFrom: text, password: text.meta(SECRET) },
  })
  .nullish()
  .meta({
    title: 'Provider',
    description:
      'AWS_SNS (accessKeyId, secretAccessKey, region) or TWILIO (accountSid, accountToken, numberFrom). A node with SMPP does not start.',
  })

export const sendSms = defineNode({
  type: 'org.thingsboard.rule.engine.sms.TbSendSmsNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Sends a text to phone numbers, one after another; a number that fails ends it. A redelivered message is sent again. Both providers are checked against fakes of their protocols.',
  configuration: z.looseObject({
    numbersToTemplate: z.string().min(1).meta({
      title: 'Numbers',
      description: 'In the international form, joined by commas. May hold ${metadata} and $[data].',
    }),
    smsMessageTemplate: z.string().min(1).meta({ title: 'Text', description: 'May hold ${metadata} and $[data].' }),
    useSystemSmsSettings: orZero(z.boolean(), false).meta({
      title: 'System provider',
      description: 'Not served: a node with it does not start.',
    }),
    smsProviderConfiguration: provider,
  }),
  defaults: {
    numbersToTemplate: '${userPhone}',
    smsMessageTemplate: 'Device ${deviceName} has high temperature ${temp}',
    useSystemSmsSettings: true,
    smsProviderConfiguration: null,
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: (config, { services: { outbound } }) => {
    if (config.useSystemSmsSettings) throw refused('useSystemSmsSettings', 'is not served: give the node a provider')
    const sender = senderOf(config.smsProviderConfiguration, outbound)
    const numbersOf = pattern(config.numbersToTemplate)
    const textOf = pattern(config.smsMessageTemplate)
    return callingNode(outbound, sender, async (message) => {
      const numbers = numbersOf(message)
        .split(',')
        .map((number) => number.trim())
      const wrong = numbers.find((number) => !PHONE_NUMBER.test(number))
      // Before the first is sent: a retry would send that one again.
      if (wrong !== undefined) throw new Error(`'${wrong}' is no phone number in the international form`)
      const body = textOf(message)
      for (const number of numbers) await sender.send(number, body)
      return success(message)
    })
  },
})

interface Sender {
  send(number: string, text: string): Promise<void>
  close(): Promise<void>
}

function senderOf(settings: z.output<typeof provider>, outbound: NodeOutbound): Sender {
  if (!settings) throw refused('smsProviderConfiguration', 'is missing')
  const { type, accessKeyId, secretAccessKey, region, accountSid, accountToken, numberFrom } = settings
  if (type === 'AWS_SNS') {
    const client = outbound.open('sns', accountOf(NAME, { accessKeyId, secretAccessKey }, region))
    return {
      send: async (phoneNumber, message) => void (await client.call({ phoneNumber, message }, bytesOf(message))),
      close: () => client.close(),
    }
  }
  if (type !== 'TWILIO') throw refused('smsProviderConfiguration.type', `'${type}' is none of AWS_SNS, TWILIO`)
  for (const [field, value] of Object.entries({ accountSid, accountToken }))
    if (value === '') throw refused(`smsProviderConfiguration.${field}`, 'is missing')
  if (!PHONE_NUMBER.test(numberFrom) && !TWILIO_ID.test(numberFrom))
    throw refused('smsProviderConfiguration.numberFrom', `'${numberFrom}' is no phone number in the international form`)
  const client = outbound.open('twilio', { accountSid, accountToken, numberFrom })
  return {
    send: (numberTo, body) => client.call({ numberTo, text: body }, bytesOf(body)),
    close: () => client.close(),
  }
}

function refused(field: string, reason: string): Error {
  return NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
}
