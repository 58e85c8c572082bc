/**
 * What gateways send, whatever its format: each part with the device that it is of. Every function throws `invalid`: `WRONG_STRUCTURE`
 * for what the topic does not take, others for what can not be read. A part that can not be decoded carries its error, beside good ones.
 * Source: `device-api.md` 4.1.
 */
import type { MillraceError } from '../../../model/errors.ts'
import type { Entry } from '../../../model/value.ts'
import type { ClaimOffer, NamedChild, UploadGroup } from '../../../engine/device/gateway.ts'

/** Of a device that is named before it was connected, and where none is said. */
export const DEFAULT_TYPE = 'default'

/** One device's part of a publish. */
export interface Part<Content> {
  readonly device: string
  readonly content: Content | undefined
  /** Set where there is no content. */
  readonly error?: MillraceError
}

/** When a connector of the gateway got a value, and when the gateway sent it: Unix ms. */
export interface Latency {
  readonly connector: string
  readonly receivedTs: number
  readonly publishedTs: number
}

export interface GatewayTelemetry {
  readonly parts: readonly Part<readonly UploadGroup[]>[]
  /** Of the elements that say it. */
  readonly latencies: readonly Latency[] | undefined
}

export interface ChildAttributeRequest {
  readonly id: number
  readonly device: string
  readonly isClient: boolean
  readonly keys: readonly string[]
}

export interface ChildCallAnswer {
  readonly device: string
  readonly id: number
  /** JSON text. */
  readonly body: string
}

export interface GatewayDecoder {
  connect(body: Buffer): NamedChild
  /** The device's name. */
  disconnect(body: Buffer): string
  telemetry(body: Buffer): GatewayTelemetry
  attributes(body: Buffer): readonly Part<readonly Entry[]>[]
  attributeRequest(body: Buffer): ChildAttributeRequest
  callAnswer(body: Buffer): ChildCallAnswer
  claim(body: Buffer): readonly Part<ClaimOffer>[]
}
