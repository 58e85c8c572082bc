/** Sends a text message to phones (`rule-nodes.md` 73). */
import { z } from 'zod'
import { SMPP_BINDS, type NodeOutbound, type ShortMessageCentre } from '../../engine/rulechain/capabilities/outbound.ts'
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

const octet = z.int().min(0).max(255).nullish()

const provider = z
  .looseObject({
    type: z.string(),
    ...{ accessKeyId: text, secretAccessKey: text.meta(SECRET), region: text },
    ...{ accountSid: text, accountToken: text.meta(SECRET), numberFrom: text, password: text.meta(SECRET) },
    ...{ protocolVersion: text, host: text, port: z.int().nullish(), systemId: text, systemType: text, bindType: text },
    ...{ serviceType: text, sourceAddress: text, addressRange: text, codingScheme: octet },
    ...{ sourceTon: octet, sourceNpi: octet, destinationTon: octet, destinationNpi: octet },
  })
  .nullish()
  .meta({
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
  differs: 'There are no SMS settings of the system: a node that asks for them does not start.',
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
  if (type === 'SMPP') {
    const client = outbound.open('smpp', centreOf(settings))
    return {
      send: (numberTo, body) => client.call({ numberTo, text: body }, bytesOf(body)),
      close: () => client.close(),
    }
  }
  if (type !== 'TWILIO') throw refused('smsProviderConfiguration.type', `'${type}' is none of AWS_SNS, TWILIO, SMPP`)
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

/** A number of the sender that is none is a name (type 5); the phones are written in the international form (type and plan 1). */
function centreOf(settings: NonNullable<z.output<typeof provider>>): ShortMessageCentre {
  const { host, port, systemId, password, systemType, serviceType, sourceAddress, addressRange } = settings
  for (const [field, value] of Object.entries({ host, systemId, password }))
    if (value === '') throw refused(`smsProviderConfiguration.${field}`, 'is missing')
  if (typeof port !== 'number' || port < 1 || port > 65_535)
    throw refused('smsProviderConfiguration.port', 'is no port of TCP')
  const { sourceTon, sourceNpi, destinationTon, destinationNpi } = settings
  const one = <Value>(field: string, value: unknown, allowed: readonly Value[]): Value => {
    const found = allowed.find((each) => each === value)
    if (found === undefined) throw refused(`smsProviderConfiguration.${field}`, `is none of ${allowed.join(', ')}`)
    return found
  }
  return {
    ...{ host, port, systemId, password, systemType, serviceType, sourceAddress, addressRange },
    protocolVersion: one('protocolVersion', settings.protocolVersion, ['3.3', '3.4'] as const),
    bindType: one('bindType', settings.bindType || 'TX', SMPP_BINDS),
    codingScheme: one('codingScheme', settings.codingScheme ?? 0, [0, 1, 3, 8] as const),
    ...{ sourceTon: sourceTon ?? 5, sourceNpi: sourceNpi ?? 0 },
    ...{ destinationTon: destinationTon ?? 1, destinationNpi: destinationNpi ?? 1 },
  }
}

function refused(field: string, reason: string): Error {
  return NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
}
