/** Sends a text message to phones (`rule-nodes.md` 73). */
import { z } from 'zod'
import type { NodeOutbound } from '../../engine/rulechain/capabilities/outbound.ts'
import {
  openSms,
  PHONE_NUMBER,
  smsProviderSchema,
  smsTargetOf,
  type SmsProvider,
  type SmsSender,
} from '../../engine/rulechain/capabilities/sms-provider.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { callingNode, success } from './outcome.ts'

const NAME = 'send sms'
const provider = smsProviderSchema.nullish().meta({
  title: 'Provider',
  description:
    'AWS_SNS (accessKeyId, secretAccessKey, region), TWILIO (accountSid, accountToken, numberFrom) or SMPP (protocolVersion 3.3 or 3.4, host, port, systemId, password; bindType, systemType, serviceType, sourceAddress, addressRange, types of numbers, codingScheme 0, 1, 3 or 8).',
})

export const sendSms = defineNode({
  type: 'org.thingsboard.rule.engine.sms.TbSendSmsNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Sends a text to phone numbers, one after another; a number that fails ends it. A redelivered message is sent again.',
  triedWith: 'fakes of the documented protocols of AWS and Twilio, and the SMPP server of its library',
  configuration: z.looseObject({
    numbersToTemplate: z.string().min(1).meta({
      title: 'Numbers',
      description: 'In the international form, joined by commas. May hold ${metadata} and $[data].',
    }),
    smsMessageTemplate: z.string().min(1).meta({ title: 'Text', description: 'May hold ${metadata} and $[data].' }),
    useSystemSmsSettings: orZero(z.boolean(), false).meta({
      title: 'System provider',
      description: 'The one that the system administrator set; otherwise that of the field below.',
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
  uses: ['sms', 'outbound'],
  effects: true,
  create: (config, { services: { sms, outbound } }) => {
    const sender = config.useSystemSmsSettings
      ? { send: (number: string, text: string) => sms.send(number, text), close: async () => undefined }
      : senderOf(config.smsProviderConfiguration, outbound)
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

function senderOf(provider: SmsProvider | null | undefined, outbound: NodeOutbound): SmsSender {
  if (!provider) throw refused('smsProviderConfiguration', 'is missing')
  const refuse = (member: string, reason: string) => refused(`smsProviderConfiguration.${member}`, reason)
  return openSms(smsTargetOf(provider, refuse), outbound)
}

function refused(field: string, reason: string): Error {
  return NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
}
