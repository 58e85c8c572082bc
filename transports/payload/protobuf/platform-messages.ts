/** The platform's own messages of devices, the same in every profile (`device-api.md` 5.4). */
import { parseJson, stringifyJson } from '../../../model/json.ts'
import type {
  AttributeAnswer,
  AttributeRequest,
  ClaimOffer,
  SharedAttributesUpdate,
  StoredEntry,
} from '../../../engine/device/gateway.ts'
import { PayloadErrors } from '../errors.ts'
import { attributeRequestOf, splitKeys } from '../json.ts'
import { decodeMessage, encodeMessage } from './codec.ts'
import { messageType, numberOf, textOf, type Message, type MessageValue } from './message-type.ts'
import { STORED_VALUE, storedValue } from './values.ts'

export const CLAIM = messageType({ 1: ['secretKey', 'string'], 2: ['durationMs', 'int64'] })
const ATTRIBUTES_REQUEST = messageType({ 1: ['clientKeys', 'string'], 2: ['sharedKeys', 'string'] })
const SERVER_CALL = messageType({ 1: ['method', 'string'], 2: ['params', 'string'] })
const SERVER_CALL_ANSWER = messageType({ 1: ['requestId', 'int32'], 2: ['payload', 'string'], 3: ['error', 'string'] })
/** Lists are written a value at a time: messages of one type behind each other are one message. */
const ATTRIBUTES_ANSWER = messageType({
  1: ['requestId', 'int32'],
  2: ['client', STORED_VALUE],
  3: ['shared', STORED_VALUE],
  4: ['isMultiple', 'bool'],
})
const ATTRIBUTES_UPDATE = messageType({ 1: ['updated', STORED_VALUE], 2: ['deleted', 'string'] })
/** What the engine says for a call that nobody answered. */
const TIMED_OUT = '{"error":"timeout"}'

/** Throws NOT_PROTOBUF, as all that decode. */
export function decodeClaim(bytes: Buffer): ClaimOffer {
  return claimOf(decodeMessage(CLAIM, bytes))
}

export function claimOf(claim: Message): ClaimOffer {
  return { secretKey: textOf(claim, 'secretKey'), durationMs: numberOf(claim, 'durationMs') }
}

export function decodeAttributeRequest(bytes: Buffer): AttributeRequest {
  const asked = decodeMessage(ATTRIBUTES_REQUEST, bytes)
  return attributeRequestOf(splitKeys(textOf(asked, 'clientKeys')), splitKeys(textOf(asked, 'sharedKeys')))
}

/** As `JsonPayloadDecoder.serverCall`; the parameters are JSON text. Throws NOT_PROTOBUF also where there is no method. */
export function decodeServerCall(bytes: Buffer): {
  readonly method: string
  readonly hasParams: boolean
  readonly data: string
} {
  const call = decodeMessage(SERVER_CALL, bytes)
  const [method, params] = [textOf(call, 'method'), textOf(call, 'params')]
  if (method === '') throw PayloadErrors.NOT_PROTOBUF({ reason: 'there is no method' })
  const data = stringifyJson({ method, params: params.trim() === '' ? null : parseJson(params) })
  return { method, hasParams: true, data }
}

/** `answer` is JSON text. */
export function encodeServerAnswer(requestId: number, answer: string): Buffer {
  const told: [string, string] = answer === TIMED_OUT ? ['error', 'timeout'] : ['payload', answer]
  return encodeMessage(SERVER_CALL_ANSWER, new Map<string, MessageValue>([['requestId', requestId], told]))
}

/** Sorted by key. What is stored without a known time has `now` (Unix ms). */
export function encodeAttributeAnswer(
  requestId: number,
  asked: AttributeRequest,
  answer: AttributeAnswer,
  now: number,
): Buffer {
  const isMultiple = countOf(asked.clientKeys) + countOf(asked.sharedKeys) > 1
  const one = (field: string, value: MessageValue) => encodeMessage(ATTRIBUTES_ANSWER, new Map([[field, value]]))
  return Buffer.concat([
    one('requestId', requestId),
    ...byKey(answer.client).map((entry) => one('client', storedValue(entry, now))),
    ...byKey(answer.shared).map((entry) => one('shared', storedValue(entry, now))),
    one('isMultiple', isMultiple),
  ])
}

export function encodeAttributesUpdate(update: SharedAttributesUpdate, now: number): Buffer {
  const one = (field: string, value: MessageValue) => encodeMessage(ATTRIBUTES_UPDATE, new Map([[field, value]]))
  return Buffer.concat(
    update.kind === 'updated'
      ? update.entries.map((entry) => one('updated', storedValue(entry, now)))
      : update.keys.map((key) => one('deleted', key)),
  )
}

/** As the reference has them, whatever the order of the request. */
function byKey(entries: readonly StoredEntry[]): readonly StoredEntry[] {
  return entries.toSorted((one, other) => (one.key < other.key ? -1 : 1))
}

function countOf(keys: readonly string[] | 'all' | undefined): number {
  return keys === undefined || keys === 'all' ? 0 : keys.length
}
