/** Provisioning as JSON or Protobuf: the answer has the form of the request. Source: `device-api.md` 5.4 and 9.2. */
import { isMillraceError } from '../../model/errors.ts'
import type { ProvisionAnswer, ProvisionedCredentialsType, ProvisionRequest } from '../../engine/device/gateway.ts'
import { PayloadErrors } from './errors.ts'
import { provisionAnswerJson, provisionRequestOf } from './onboarding.ts'
import { decodeMessage, encodeMessage } from './protobuf/codec.ts'
import { isMessage, messageType, type Message } from './protobuf/message-type.ts'

const KEYS = messageType({ 1: ['provisionDeviceKey', 'string'], 2: ['provisionDeviceSecret', 'string'] })
const CREDENTIALS = messageType({
  1: ['token', messageType({ 1: ['token', 'string'] })],
  2: ['x509', messageType({ 1: ['hash', 'string'] })],
  3: ['basic', messageType({ 1: ['clientId', 'string'], 2: ['userName', 'string'], 3: ['password', 'string'] })],
})
const REQUEST = messageType({
  1: ['deviceName', 'string'],
  2: ['credentialsType', 'enum'],
  3: ['keys', KEYS],
  4: ['credentials', CREDENTIALS],
  5: ['gateway', 'bool'],
})
const RESPONSE = messageType({
  1: ['status', 'enum'],
  2: ['credentialsType', 'enum'],
  3: ['credentialsValue', 'string'],
})
/** By their numbers on the wire. */
const CREDENTIALS_TYPES: readonly ProvisionedCredentialsType[] = [
  'ACCESS_TOKEN',
  'X509_CERTIFICATE',
  'MQTT_BASIC',
  'LWM2M_CREDENTIALS',
]
const STATUSES = { SUCCESS: 1, NOT_FOUND: 2, FAILURE: 3 } as const

export interface Provisioning {
  readonly request: ProvisionRequest
  readonly isProtobuf: boolean
}

/** JSON first. Throws `invalid`: what is neither is told as JSON that is none. */
export function provisioningOf(body: Buffer): Provisioning {
  try {
    return { request: provisionRequestOf(body), isProtobuf: false }
  } catch (error) {
    const request = isMillraceError(error) ? protobufRequestOf(body) : undefined
    if (request === undefined) throw error
    return { request, isProtobuf: true }
  }
}

export function provisionAnswerBytes(answer: ProvisionAnswer, { isProtobuf }: Provisioning): Buffer {
  if (!isProtobuf) return Buffer.from(provisionAnswerJson(answer))
  const message = new Map<string, string | number>([['status', STATUSES[answer.status]]])
  if (answer.status === 'SUCCESS') {
    message.set('credentialsType', CREDENTIALS_TYPES.indexOf(answer.credentialsType))
    message.set('credentialsValue', answer.credentialsValue)
  }
  return encodeMessage(RESPONSE, message)
}

/** Undefined where it is none, or has no key and secret: nearly any text may be read as a message of fields that nobody knows. */
function protobufRequestOf(body: Buffer): ProvisionRequest | undefined {
  let message: Message
  try {
    message = decodeMessage(REQUEST, body)
  } catch (error) {
    if (isMillraceError(error)) return undefined
    throw error
  }
  const [keys, credentials] = [partOf(message, 'keys'), partOf(message, 'credentials')]
  const [key, secret] = [textOf(keys, 'provisionDeviceKey'), textOf(keys, 'provisionDeviceSecret')]
  if (key === undefined || secret === undefined) return undefined
  const type = message.get('credentialsType') ?? 0
  const credentialsType = CREDENTIALS_TYPES.find((_name, index) => index === type)
  if (credentialsType === undefined) throw PayloadErrors.CREDENTIALS_TYPE({ type: `${Number(type)}` })
  const basic = partOf(credentials, 'basic')
  return {
    ...{ deviceName: textOf(message, 'deviceName'), key, secret, credentialsType },
    token: textOf(partOf(credentials, 'token'), 'token'),
    ...{ clientId: textOf(basic, 'clientId'), userName: textOf(basic, 'userName') },
    password: textOf(basic, 'password'),
    certificate: textOf(partOf(credentials, 'x509'), 'hash'),
    isGateway: message.get('gateway') === true,
  }
}

function partOf(message: Message | undefined, name: string): Message | undefined {
  const part = message?.get(name)
  return isMessage(part) ? part : undefined
}

/** Absent and empty are the same in proto3. */
function textOf(message: Message | undefined, name: string): string | undefined {
  const text = message?.get(name)
  return typeof text === 'string' && text !== '' ? text : undefined
}
