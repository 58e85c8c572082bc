/** The JSON of the gateway API. Source: `device-api.md` 4.1, 4.3, 4.4. */
import { isMillraceError } from '../../../model/errors.ts'
import { isJsonObject, stringifyJson, WholeDouble, type JsonObject, type JsonValue } from '../../../model/json.ts'
import type { Entry } from '../../../model/value.ts'
import type { ClaimOffer, NamedChild } from '../../../engine/device/gateway.ts'
import { parseBody, type JsonPayloadDecoder } from '../../payload/json.ts'
import { claimOfferFrom } from '../../payload/onboarding.ts'
import { GatewayErrors } from './errors.ts'
import {
  DEFAULT_TYPE,
  type ChildAttributeRequest,
  type ChildCallAnswer,
  type GatewayDecoder,
  type GatewayTelemetry,
  type Latency,
  type Part,
} from './payloads.ts'

export class JsonGatewayDecoder implements GatewayDecoder {
  private readonly decoder: JsonPayloadDecoder

  constructor(decoder: JsonPayloadDecoder) {
    this.decoder = decoder
  }

  connect(body: Buffer): NamedChild {
    const members = objectOf(body)
    const type = textOf(members['type'] ?? '') ?? ''
    return { name: deviceOf(members), type: type === '' ? DEFAULT_TYPE : type }
  }

  disconnect(body: Buffer): string {
    return deviceOf(objectOf(body))
  }

  telemetry(body: Buffer): GatewayTelemetry {
    const fast = this.decoder.namedTelemetry(body)
    if (fast !== undefined) return { parts: [{ device: fast.name, content: fast.groups }], latencies: undefined }
    const latencies: Latency[] = []
    const parts = this.parts(objectOf(body), isList, (elements) => {
      const own: Latency[] = []
      const groups = this.decoder.telemetryOf(elements.map((element) => withoutLatency(element, own)))
      latencies.push(...own)
      return groups
    })
    return { parts, latencies: latencies.length === 0 ? undefined : latencies }
  }

  attributes(body: Buffer): readonly Part<readonly Entry[]>[] {
    return this.parts(objectOf(body), isJsonObject, (members) => this.decoder.attributesOf(members))
  }

  attributeRequest(body: Buffer): ChildAttributeRequest {
    const members = objectOf(body)
    const isClient = isTrue(members['client'])
    if (isClient === undefined) throw wrong('client is missing')
    return { id: idOf(members), device: deviceOf(members), isClient, keys: keysOf(members) }
  }

  callAnswer(body: Buffer): ChildCallAnswer {
    const members = objectOf(body)
    const { data } = members
    if (data === undefined) throw wrong('data is missing')
    return { device: deviceOf(members), id: idOf(members), body: stringifyJson(data) }
  }

  claim(body: Buffer): readonly Part<ClaimOffer>[] {
    return this.parts(objectOf(body), isJsonObject, claimOfferFrom)
  }

  /** Entries of another shape are passed over; none of the wanted shape is no publish. */
  private parts<Shape extends JsonValue, Content>(
    members: JsonObject,
    isShape: (value: JsonValue) => value is Shape,
    decode: (value: Shape) => Content,
  ): readonly Part<Content>[] {
    const parts: Part<Content>[] = []
    for (const [device, value] of Object.entries(members)) {
      if (value === undefined || !isShape(value) || device.trim() === '') continue
      parts.push(partOf(device, value, decode))
    }
    if (parts.length === 0) throw wrong('it names no device with such data')
    return parts
  }
}

function partOf<Shape, Content>(device: string, value: Shape, decode: (value: Shape) => Content): Part<Content> {
  try {
    return { device, content: decode(value) }
  } catch (error) {
    if (!isMillraceError(error) || error.kind !== 'invalid') throw error
    return { device, content: undefined, error }
  }
}

/** Takes `metadata` out of an element where it says when its values came and went. Throws `invalid` where it says only a part of that. */
function withoutLatency(element: JsonValue, latencies: Latency[]): JsonValue {
  if (!isJsonObject(element)) return element
  const { metadata, ...others } = element
  if (metadata === undefined || !isJsonObject(metadata)) return element
  const connector = metadata['connector']
  const receivedTs = timeOf(metadata['receivedTs'])
  const publishedTs = timeOf(metadata['publishedTs'])
  if (typeof connector === 'string' && receivedTs !== undefined && publishedTs !== undefined) {
    latencies.push({ connector, receivedTs, publishedTs })
    return others
  }
  // Among flat values it is a key as any other.
  if (!('ts' in element && 'values' in element)) return element
  throw wrong('metadata needs connector, receivedTs and publishedTs')
}

function isList(value: JsonValue): value is JsonValue[] {
  return Array.isArray(value)
}

function timeOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'number' || value instanceof WholeDouble ? Number(value) : NaN
  return Number.isFinite(number) ? number : undefined
}

function objectOf(body: Buffer): JsonObject {
  const value = parseBody(body)
  if (!isJsonObject(value)) throw wrong('an object is expected')
  return value
}

/** The reference takes numbers for texts, and texts for numbers: gateways that print by hand live by it. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  const isScalar = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  return isScalar || value instanceof WholeDouble ? stringifyJson(value) : undefined
}

function isTrue(value: JsonValue | undefined): boolean | undefined {
  const text = textOf(value)?.toLowerCase()
  return text === 'true' ? true : text === 'false' ? false : undefined
}

function deviceOf(members: JsonObject): string {
  const device = textOf(members['device']) ?? ''
  if (device.trim() === '') throw wrong('device is missing')
  return device
}

function idOf(members: JsonObject): number {
  const id = Number((textOf(members['id']) ?? '') || NaN)
  if (!Number.isSafeInteger(id)) throw wrong('id is missing')
  return id
}

function keysOf({ key, keys }: JsonObject): readonly string[] {
  const only = textOf(key)
  if (only !== undefined) return [only]
  if (!Array.isArray(keys) || keys.length === 0) throw wrong('key or keys are missing')
  const texts = keys.map((each) => {
    const text = textOf(each)
    if (text === undefined) throw wrong('a key is no text')
    return text
  })
  // One that is named twice is one, and answered as such.
  return [...new Set(texts)]
}

function wrong(reason: string): Error {
  return GatewayErrors.WRONG_STRUCTURE({ reason })
}
