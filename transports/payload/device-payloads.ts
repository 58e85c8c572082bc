/** What a device sends and is sent, as JSON or Protobuf by the place it is sent to and its profile. Source: `device-api.md` 5.3. */
import { isMillraceError } from '../../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import type { CallRequest, DeviceIdentity, PayloadSchema, UploadGroup } from '../../engine/device/gateway.ts'
import { PayloadErrors } from './errors.ts'
import { decodePayload } from './protobuf/dynamic-decode.ts'
import { encodePayload } from './protobuf/dynamic-encode.ts'
import { readFlat } from './protobuf/flat-decode.ts'
import type { JsonPayloadDecoder } from './json.ts'

/** Of a topic: fixed, or what the profile has. */
export type PayloadForm = 'PROFILE' | 'JSON' | 'PROTOBUF'

/** Decodes with the one of the two that the profile and the place call for. Throws what they throw, `invalid`. */
export function decodeBy<T>({ payloads }: DeviceIdentity, form: PayloadForm, json: () => T, protobuf: () => T): T {
  if (form === 'JSON' || (form === 'PROFILE' && payloads === undefined)) return json()
  if (form === 'PROTOBUF' || payloads?.readsJson !== true) return protobuf()
  try {
    return protobuf()
  } catch (error) {
    if (!isMillraceError(error) || error.kind !== 'invalid') throw error
    return json()
  }
}

/** `isDefault`: the topic is of version 1. */
export function isProtobufDown({ payloads }: DeviceIdentity, form: PayloadForm, isDefault: boolean): boolean {
  if (form !== 'PROFILE') return form === 'PROTOBUF'
  return payloads !== undefined && !(isDefault && payloads.writesJsonByDefault)
}

/** Of an upload or a reply. Throws NO_SCHEMA, and what `decodePayload` throws. */
export function decodeOwn(schema: PayloadSchema | undefined, bytes: Buffer): JsonObject {
  if (schema === undefined) throw PayloadErrors.NO_SCHEMA()
  return decodePayload(schema, bytes)
}

/** The same of telemetry, as the decoder of JSON takes it. */
export function decodeOwnTelemetry(
  decoder: JsonPayloadDecoder,
  schema: PayloadSchema | undefined,
  bytes: Buffer,
): readonly UploadGroup[] {
  const { fastRoad, limits } = decoder
  const flat = fastRoad && schema !== undefined ? readFlat(schema, bytes, limits.castStrings) : undefined
  if (flat !== undefined && flat.entries.length <= limits.maxEntries) return [flat]
  return decoder.telemetryOf(decodeOwn(schema, bytes))
}

export function decodeReply({ payloads }: DeviceIdentity, bytes: Buffer): string {
  return stringifyJson(decodeOwn(payloads?.callAnswer, bytes))
}

/** Throws NO_SCHEMA and UNFIT: the device can not be told it. */
export function encodeCall({ payloads }: DeviceIdentity, { id, method, params }: CallRequest): Buffer {
  if (payloads?.call === undefined) throw PayloadErrors.NO_SCHEMA()
  return encodePayload(payloads.call, { method, requestId: id, params: parseJson(params) })
}

/** What the caller gets in place of an answer. */
export function unfitCallAnswer(error: unknown): string {
  if (!isMillraceError(error)) throw error
  return JSON.stringify({ result: 'INVALID_ARGUMENTS', error: error.message })
}
