/** The Protobuf of the gateway API, the same in every profile; no JSON beside it. Source: `device-api.md` 5.3, 5.4. */
import { isMillraceError } from '../../../model/errors.ts'
import { LAST_TS, type Entry } from '../../../model/value.ts'
import type {
  AttributeAnswer,
  CallRequest,
  ClaimOffer,
  NamedChild,
  SharedAttributesUpdate,
  UploadGroup,
} from '../../../engine/device/gateway.ts'
import { PayloadErrors } from '../../payload/errors.ts'
import type { PayloadLimits } from '../../payload/limits.ts'
import { decodeMessage, encodeMessage } from '../../payload/protobuf/codec.ts'
import {
  isMessage,
  listOf,
  listType,
  messageType,
  numberOf,
  textOf,
  type Message,
} from '../../payload/protobuf/message-type.ts'
import {
  CLAIM,
  claimOf,
  encodeAttributeAnswer,
  encodeAttributesUpdate,
} from '../../payload/protobuf/platform-messages.ts'
import { entryOf, VALUE } from '../../payload/protobuf/values.ts'
import { tagBytes, varintBytes, WireType } from '../../payload/protobuf/wire.ts'
import { GatewayErrors } from './errors.ts'
import {
  DEFAULT_TYPE,
  type ChildAttributeRequest,
  type ChildCallAnswer,
  type GatewayDecoder,
  type GatewayTelemetry,
  type Part,
} from './payloads.ts'

const CONNECT = messageType({ 1: ['deviceName', 'string'], 2: ['deviceType', 'string'] })
const DISCONNECT = messageType({ 1: ['deviceName', 'string'] })
const GROUP = messageType({ 1: ['ts', 'int64'], 2: ['kv', listType(VALUE)] })
const POST_TELEMETRY = messageType({ 1: ['groups', listType(GROUP)] })
const TELEMETRY = partsOf({ 1: ['deviceName', 'string'], 3: ['content', POST_TELEMETRY] })
const POST_ATTRIBUTES = messageType({ 1: ['kv', listType(VALUE)] })
const ATTRIBUTES = partsOf({ 1: ['deviceName', 'string'], 2: ['content', POST_ATTRIBUTES] })
const CLAIMS = partsOf({ 1: ['deviceName', 'string'], 2: ['content', CLAIM] })
const CALL_ANSWER = messageType({ 1: ['deviceName', 'string'], 2: ['id', 'int32'], 3: ['data', 'string'] })
const ATTRIBUTE_REQUEST = messageType({
  ...{ 1: ['id', 'int32'], 2: ['deviceName', 'string'], 3: ['client', 'bool'] },
  4: ['keys', listType('string')],
})
const CALL = messageType({ 1: ['requestId', 'int32'], 2: ['methodName', 'string'], 3: ['params', 'string'] })

export class ProtobufGatewayDecoder implements GatewayDecoder {
  private readonly limits: PayloadLimits

  constructor(limits: PayloadLimits) {
    this.limits = limits
  }

  connect(body: Buffer): NamedChild {
    const message = decodeMessage(CONNECT, body)
    const type = textOf(message, 'deviceType')
    return { name: deviceOf(message), type: type === '' ? DEFAULT_TYPE : type }
  }

  disconnect(body: Buffer): string {
    return deviceOf(decodeMessage(DISCONNECT, body))
  }

  telemetry(body: Buffer): GatewayTelemetry {
    const parts = this.parts(TELEMETRY, body, (content): readonly UploadGroup[] => {
      const budget = { left: this.limits.maxEntries }
      return filled(listOf(content, 'groups')).map((group) => {
        const ts = numberOf(group, 'ts')
        if (Math.abs(ts) > LAST_TS) throw PayloadErrors.BAD_TIME({ value: ts })
        return { ts: ts === 0 ? undefined : ts, entries: this.entries(group, budget) }
      })
    })
    return { parts, latencies: undefined }
  }

  attributes(body: Buffer): readonly Part<readonly Entry[]>[] {
    return this.parts(ATTRIBUTES, body, (content) => this.entries(content, { left: this.limits.maxEntries }))
  }

  attributeRequest(body: Buffer): ChildAttributeRequest {
    const message = decodeMessage(ATTRIBUTE_REQUEST, body)
    const keys = message.get('keys')
    const texts = Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
    if (texts.length === 0) throw wrong('keys are missing')
    const isClient = message.get('client') === true
    return { id: numberOf(message, 'id'), device: deviceOf(message), isClient, keys: texts }
  }

  callAnswer(body: Buffer): ChildCallAnswer {
    const message = decodeMessage(CALL_ANSWER, body)
    return { device: deviceOf(message), id: numberOf(message, 'id'), body: textOf(message, 'data') }
  }

  claim(body: Buffer): readonly Part<ClaimOffer>[] {
    return this.parts(CLAIMS, body, claimOf)
  }

  /** Parts without a name are passed over; none with a name is no publish. */
  private parts<Content>(
    type: typeof TELEMETRY,
    body: Buffer,
    decode: (content: Message) => Content,
  ): readonly Part<Content>[] {
    const named = listOf(decodeMessage(type, body), 'msg').filter((part) => textOf(part, 'deviceName').trim() !== '')
    if (named.length === 0) throw wrong('it names no device')
    return named.map((part) => partOf(part, decode))
  }

  private entries(message: Message, budget: { left: number }): readonly Entry[] {
    const values = filled(listOf(message, 'kv'))
    budget.left -= values.length
    if (budget.left < 0) throw PayloadErrors.TOO_MANY_ENTRIES({ limit: this.limits.maxEntries })
    return values.map((value) => this.bounded(entryOf(value)))
  }

  private bounded(entry: Entry): Entry {
    const { maxKeyLength, maxStringLength } = this.limits
    const { key } = entry
    if (key.length > maxKeyLength) throw PayloadErrors.KEY_TOO_LONG({ length: key.length, limit: maxKeyLength })
    if (maxStringLength > 0 && entry.type === 'STRING' && entry.value.length > maxStringLength)
      throw PayloadErrors.STRING_TOO_LONG({ key, length: entry.value.length, limit: maxStringLength })
    return entry
  }
}

/** A change of the shared attributes of the device `name`; what has no known time has `now` (Unix ms). */
export function encodeChildUpdate(name: string, update: SharedAttributesUpdate, now: number): Buffer {
  return about(name, encodeAttributesUpdate(update, now))
}

export function encodeChildCall(name: string, { id, method, params }: CallRequest): Buffer {
  return about(
    name,
    encodeMessage(
      CALL,
      new Map<string, string | number>([
        ['requestId', id],
        ['methodName', method],
        ['params', params],
      ]),
    ),
  )
}

export function encodeChildAnswer(
  { id, device, isClient, keys }: ChildAttributeRequest,
  answer: AttributeAnswer,
  now: number,
): Buffer {
  const asked = { clientKeys: isClient ? keys : undefined, sharedKeys: isClient ? undefined : keys }
  return about(device, encodeAttributeAnswer(id, asked, answer, now))
}

function about(name: string, message: Buffer): Buffer {
  return Buffer.concat([
    encodeMessage(DISCONNECT, new Map([['deviceName', name]])),
    tagBytes(2, WireType.BYTES),
    varintBytes(BigInt(message.length)),
    message,
  ])
}

function partsOf(fields: Parameters<typeof messageType>[0]): ReturnType<typeof messageType> {
  return messageType({ 1: ['msg', listType(messageType(fields))] })
}

function partOf<Content>(part: Message, decode: (content: Message) => Content): Part<Content> {
  const device = textOf(part, 'deviceName')
  const content = part.get('content')
  try {
    return { device, content: decode(isMessage(content) ? content : new Map()) }
  } catch (error) {
    if (!isMillraceError(error) || error.kind !== 'invalid') throw error
    return { device, content: undefined, error }
  }
}

function filled<Value>(list: readonly Value[]): readonly Value[] {
  if (list.length === 0) throw PayloadErrors.NOT_PROTOBUF({ reason: 'a list is empty' })
  return list
}

function deviceOf(message: Message): string {
  const name = textOf(message, 'deviceName')
  if (name.trim() === '') throw wrong('deviceName is missing')
  return name
}

function wrong(reason: string): Error {
  return GatewayErrors.WRONG_STRUCTURE({ reason })
}
