/** Providers of text messages as a node and the system's settings describe them, and what sends by them (schemas `…SmsProviderConfiguration`). */
import { z } from 'zod'
import { SECRET } from '../../../model/secret-members.ts'
import {
  SMPP_BINDS,
  type AwsAccount,
  type NodeOutbound,
  type ShortMessageCentre,
  type TwilioAccount,
} from './outbound.ts'

/** ITU-T E.164. */
export const PHONE_NUMBER = /^\+[1-9]\d{1,14}$/
/** Twilio's ids of a phone number and of a messaging service. */
const TWILIO_ID = /^(PN|MG)/

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

const octet = z.int().min(0).max(255).nullish()

export const smsProviderSchema = z.looseObject({
  type: z.string(),
  ...{ accessKeyId: text, secretAccessKey: text.meta(SECRET), region: text },
  ...{ accountSid: text, accountToken: text.meta(SECRET), numberFrom: text, password: text.meta(SECRET) },
  ...{ protocolVersion: text, host: text, port: z.int().nullish(), systemId: text, systemType: text, bindType: text },
  ...{ serviceType: text, sourceAddress: text, addressRange: text, codingScheme: octet },
  ...{ sourceTon: octet, sourceNpi: octet, destinationTon: octet, destinationNpi: octet },
})

export type SmsProvider = z.output<typeof smsProviderSchema>

export interface SmsSender {
  send(number: string, text: string): Promise<void>
  close(): Promise<void>
}

/** Makes the error of a member that is wrong. */
export type RefuseMember = (member: string, reason: string) => Error

export type SmsTarget =
  | { readonly kind: 'sns'; readonly settings: AwsAccount }
  | { readonly kind: 'smpp'; readonly settings: ShortMessageCentre }
  | { readonly kind: 'twilio'; readonly settings: TwilioAccount }

/** Throws what `refuse` makes where something is missing or wrong. */
export function smsTargetOf(provider: SmsProvider, refuse: RefuseMember): SmsTarget {
  const { type, accessKeyId, secretAccessKey, region, accountSid, accountToken, numberFrom } = provider
  switch (type) {
    case 'AWS_SNS':
      requireMembers({ accessKeyId, secretAccessKey }, refuse)
      return { kind: 'sns', settings: { region, accessKeyId, secretAccessKey } }
    case 'SMPP':
      return { kind: 'smpp', settings: centreOf(provider, refuse) }
    case 'TWILIO':
      requireMembers({ accountSid, accountToken }, refuse)
      if (!PHONE_NUMBER.test(numberFrom) && !TWILIO_ID.test(numberFrom))
        throw refuse('numberFrom', `'${numberFrom}' is no phone number in the international form`)
      return { kind: 'twilio', settings: { accountSid, accountToken, numberFrom } }
    default:
      throw refuse('type', `'${type}' is none of AWS_SNS, TWILIO, SMPP`)
  }
}

/** Nothing connects before the first text. */
export function openSms(target: SmsTarget, outbound: Pick<NodeOutbound, 'open'>): SmsSender {
  if (target.kind === 'sns') {
    const client = outbound.open('sns', target.settings)
    return {
      send: async (phoneNumber, message) => void (await client.call({ phoneNumber, message }, bytesOf(message))),
      close: () => client.close(),
    }
  }
  const client =
    target.kind === 'smpp' ? outbound.open('smpp', target.settings) : outbound.open('twilio', target.settings)
  return {
    send: (numberTo, body) => client.call({ numberTo, text: body }, bytesOf(body)),
    close: () => client.close(),
  }
}

/** A number of the sender that is none is a name (type 5); the phones are written in the international form (type and plan 1). */
function centreOf(provider: SmsProvider, refuse: RefuseMember): ShortMessageCentre {
  const { host, port, systemId, password, systemType, serviceType, sourceAddress, addressRange } = provider
  requireMembers({ host, systemId, password }, refuse)
  if (typeof port !== 'number' || port < 1 || port > 65_535) throw refuse('port', 'is no port of TCP')
  const { sourceTon, sourceNpi, destinationTon, destinationNpi } = provider
  const one = <Value>(member: string, value: unknown, allowed: readonly Value[]): Value => {
    const found = allowed.find((each) => each === value)
    if (found === undefined) throw refuse(member, `is none of ${allowed.join(', ')}`)
    return found
  }
  return {
    ...{ host, port, systemId, password, systemType, serviceType, sourceAddress, addressRange },
    protocolVersion: one('protocolVersion', provider.protocolVersion, ['3.3', '3.4'] as const),
    bindType: one('bindType', provider.bindType || 'TX', SMPP_BINDS),
    codingScheme: one('codingScheme', provider.codingScheme ?? 0, [0, 1, 3, 8] as const),
    ...{ sourceTon: sourceTon ?? 5, sourceNpi: sourceNpi ?? 0 },
    ...{ destinationTon: destinationTon ?? 1, destinationNpi: destinationNpi ?? 1 },
  }
}

function requireMembers(members: Readonly<Record<string, string>>, refuse: RefuseMember): void {
  for (const [member, value] of Object.entries(members)) if (value === '') throw refuse(member, 'is missing')
}

function bytesOf(body: string): number {
  return Buffer.byteLength(body)
}
