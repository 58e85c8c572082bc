/** What devices send to be claimed, and to get credentials. Source: `device-api.md` 3.5 and 9.1. */
import { isUtf8 } from 'node:buffer'
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  WholeDouble,
  type JsonObject,
  type JsonValue,
} from '../../model/json.ts'
import {
  PROVISIONED_CREDENTIALS,
  type ClaimOffer,
  type ProvisionAnswer,
  type ProvisionRequest,
} from '../../engine/device/gateway.ts'
import { PayloadErrors } from './errors.ts'
import { parseLenientJson } from '../../model/lenient-json.ts'

const SHOWN_CHARACTERS = 200

/** Both members may be left out, and the body too. Throws `invalid`. */
export function claimOfferOf(body: Buffer): ClaimOffer {
  const text = textOf(body)
  if (text.trim() === '') return { secretKey: '', durationMs: 0 }
  return claimOfferFrom(objectOf(text))
}

/** Of what was parsed. Throws `invalid`. */
export function claimOfferFrom(members: JsonObject): ClaimOffer {
  return { secretKey: memberText(members, 'secretKey') ?? '', durationMs: milliseconds(members['durationMs'] ?? null) }
}

/** Throws `invalid`. */
export function provisionRequestOf(body: Buffer): ProvisionRequest {
  const text = textOf(body)
  if (text.trim() === '') throw PayloadErrors.EMPTY()
  const members = objectOf(text)
  const credentialsType = memberText(members, 'credentialsType') ?? 'ACCESS_TOKEN'
  const known = PROVISIONED_CREDENTIALS.find((type) => type === credentialsType)
  if (known === undefined) throw PayloadErrors.CREDENTIALS_TYPE({ type: shown(credentialsType) })
  return {
    deviceName: memberText(members, 'deviceName'),
    key: required(members, 'provisionDeviceKey', text),
    secret: required(members, 'provisionDeviceSecret', text),
    credentialsType: known,
    token: memberText(members, 'token'),
    clientId: memberText(members, 'clientId'),
    userName: memberText(members, 'username'),
    password: memberText(members, 'password'),
    certificate: memberText(members, 'hash'),
    isGateway: members['gateway'] === true,
  }
}

const FAILED = { errorMsg: 'Failed to provision device!', status: 'FAILURE' }
const NOT_FOUND = { errorMsg: 'Provision data was not found!', status: 'NOT_FOUND' }

export function provisionAnswerJson(answer: ProvisionAnswer): string {
  if (answer.status !== 'SUCCESS') return JSON.stringify(answer.status === 'FAILURE' ? FAILED : NOT_FOUND)
  const { credentialsType, credentialsValue: text, status } = answer
  const credentialsValue = credentialsType === 'MQTT_BASIC' ? parseJson(text) : text
  return stringifyJson({ credentialsValue, credentialsType, status })
}

function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw PayloadErrors.NOT_TEXT()
  return body.toString('utf8')
}

function objectOf(text: string): JsonObject {
  const value = parseLenientJson(text)
  if (!isJsonObject(value)) throw PayloadErrors.WRONG_SHAPE({ value: shown(text) })
  return value
}

function required(members: JsonObject, name: string, body: string): string {
  const text = memberText(members, name)
  if (text === undefined) throw PayloadErrors.FIELD_MISSING({ name, body: shown(body) })
  return text
}

/** Numbers for texts are taken; null is as good as left out. */
function memberText(members: JsonObject, name: string): string | undefined {
  const value = members[name] ?? null
  if (value === null) return undefined
  if (typeof value === 'string') return value
  if (typeof value === 'object' && !(value instanceof WholeDouble))
    throw PayloadErrors.WRONG_SHAPE({ value: shown(stringifyJson(value)) })
  return stringifyJson(value)
}

function milliseconds(value: JsonValue): number {
  if (value === null) return 0
  const isNumber = typeof value !== 'boolean' && (typeof value !== 'object' || value instanceof WholeDouble)
  const number = isNumber ? Number(value) : NaN
  if (!Number.isFinite(number)) throw PayloadErrors.WRONG_SHAPE({ value: shown(stringifyJson(value)) })
  return number
}

function shown(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}
