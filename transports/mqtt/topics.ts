/**
 * The one table of topics. Devices publish to uplink topics and subscribe to downlink filters; nothing is routed between
 * clients. Source: `device-api.md` 3.4, 3.7, 4.1.
 */

import type { PackageRequest } from '../../engine/device/gateway.ts'
import type { PayloadForm } from '../payload/device-payloads.ts'

export type Uplink =
  | { readonly kind: 'TELEMETRY'; readonly form: PayloadForm }
  | { readonly kind: 'ATTRIBUTES'; readonly form: PayloadForm }
  | { readonly kind: 'ATTRIBUTE_REQUEST'; readonly requestId: number; readonly family: ResponseFamily }
  | { readonly kind: 'CLIENT_RPC'; readonly requestId: number; readonly family: ResponseFamily }
  /** What the device answers to a call. */
  | { readonly kind: 'CALL_ANSWER'; readonly requestId: number; readonly form: PayloadForm }
  /** The device may be claimed. */
  | { readonly kind: 'CLAIM' }
  /** Who has no credentials asks for some. */
  | { readonly kind: 'PROVISION' }
  | PackageTopic
  /** The id in the topic is no 32-bit integer. */
  | { readonly kind: 'BAD_REQUEST_ID' }
  | { readonly kind: 'GATEWAY'; readonly topic: GatewayTopic }
  /** Of an edge node, whatever its topic. */
  | { readonly kind: 'SPARKPLUG'; readonly topic: string }
  | { readonly kind: 'UNKNOWN' }

/** What a gateway says of the devices behind it. */
export type GatewayTopic =
  'CONNECT' | 'DISCONNECT' | 'TELEMETRY' | 'ATTRIBUTES' | 'ATTRIBUTE_REQUEST' | 'CALL_ANSWER' | 'CLAIM' | 'UNKNOWN'

/** A part of firmware or software is asked for. */
export interface PackageTopic {
  readonly kind: 'PACKAGE'
  readonly package: PackageRequest['kind']
  readonly requestId: string
  readonly chunk: number
}

/** Where answers to a request of this family go, and the filter whose granted QoS they use. */
export interface ResponseFamily {
  readonly requestPrefix: string
  readonly responsePrefix: string
  readonly filter: number
  /** Of the request, and of what goes down. */
  readonly form: PayloadForm
}

export const TELEMETRY_TOPIC = 'v1/devices/me/telemetry'

/** Filters a client may subscribe to, as text; their index is a bit in a session's subscriptions. */
export const FILTERS: readonly string[] = [
  'v1/devices/me/attributes',
  'v2/a',
  'v2/a/j',
  'v1/devices/me/attributes/response/+',
  'v2/a/res/+',
  'v2/a/res/j/+',
  'v1/devices/me/rpc/request/+',
  'v2/r/req/+',
  'v2/r/req/j/+',
  'v1/devices/me/rpc/response/+',
  'v2/r/res/+',
  'v2/r/res/j/+',
  'v2/fw/response/+/chunk/+',
  'v2/fw/error',
  'v2/sw/response/+/chunk/+',
  'v2/sw/error',
  'v1/gateway/attributes',
  'v1/gateway/attributes/response',
  'v1/gateway/rpc',
  '/provision/response',
  'v2/a/p',
  'v2/a/res/p/+',
  'v2/r/req/p/+',
  'v2/r/res/p/+',
]
/** Of parts and of what went wrong with them. */
export const PACKAGE_FILTERS = { FIRMWARE: { response: 12, error: 13 }, SOFTWARE: { response: 14, error: 15 } } as const
/** The one that the device's profile names; its text is the connection's. */
export const CUSTOM_ATTRIBUTE_FILTER = 30
/** Only for who has no credentials. */
export const PROVISION_FILTER = 19
const ATTRIBUTE_FILTERS = 3
const FIRST_CALL_FILTER = 6
const CALL_FILTERS = 3

const PROTOBUF_FILTERS = { ATTRIBUTES: 20, ATTRIBUTE_RESPONSE: 21, CALL: 22, CALL_RESPONSE: 23 } as const
/** Of version 1 there is one for each. */
const DEFAULT_FILTERS: ReadonlySet<number> = new Set([0, 3, 6, 9, CUSTOM_ATTRIBUTE_FILTER])

const FILTER_INDEX = new Map(FILTERS.map((filter, index) => [filter, index]))

/** The filter's index, or undefined where no such subscription exists. */
export function filterIndex(filter: string): number | undefined {
  return FILTER_INDEX.get(filter)
}

/** Whether pushes of shared attributes go out on this filter (its text is then the topic). */
export function isAttributeFilter(index: number): boolean {
  return index < ATTRIBUTE_FILTERS || index === CUSTOM_ATTRIBUTE_FILTER || index === PROTOBUF_FILTERS.ATTRIBUTES
}

/** Whether calls to the device go out on this filter (its text, with the id in place of the wildcard, is the topic). */
export function isCallFilter(index: number): boolean {
  return (index >= FIRST_CALL_FILTER && index < FIRST_CALL_FILTER + CALL_FILTERS) || index === PROTOBUF_FILTERS.CALL
}

/** The form of what goes out on a filter. */
export function formOf(index: number): PayloadForm {
  if (index >= PROTOBUF_FILTERS.ATTRIBUTES && index <= PROTOBUF_FILTERS.CALL_RESPONSE) return 'PROTOBUF'
  return FILTERS[index]?.includes('/j') === true ? 'JSON' : 'PROFILE'
}

/** Whether it is of version 1; what the profile gives in place of such a one is too. */
export function isDefaultFilter(index: number): boolean {
  return DEFAULT_FILTERS.has(index)
}

/** The only family whose `getSessionLimits` the transport answers itself. */
export const V1_CALLS: ResponseFamily = {
  requestPrefix: 'v1/devices/me/rpc/request/',
  responsePrefix: 'v1/devices/me/rpc/response/',
  filter: 9,
  form: 'PROFILE',
}

/** Devices publish requests where calls to them go out, and answers where theirs come: the direction tells them apart. */
const CALL_FAMILIES: readonly ResponseFamily[] = [
  V1_CALLS,
  { requestPrefix: 'v2/r/req/j/', responsePrefix: 'v2/r/res/j/', filter: 11, form: 'JSON' },
  {
    ...{ requestPrefix: 'v2/r/req/p/', responsePrefix: 'v2/r/res/p/' },
    ...{ filter: PROTOBUF_FILTERS.CALL_RESPONSE, form: 'PROTOBUF' },
  },
  { requestPrefix: 'v2/r/req/', responsePrefix: 'v2/r/res/', filter: 10, form: 'PROFILE' },
]

const FIXED = new Map<string, Uplink>([
  [TELEMETRY_TOPIC, { kind: 'TELEMETRY', form: 'PROFILE' }],
  ['v2/t', { kind: 'TELEMETRY', form: 'PROFILE' }],
  ['v2/t/j', { kind: 'TELEMETRY', form: 'JSON' }],
  ['v2/t/p', { kind: 'TELEMETRY', form: 'PROTOBUF' }],
  ['v1/devices/me/attributes', { kind: 'ATTRIBUTES', form: 'PROFILE' }],
  ['v2/a', { kind: 'ATTRIBUTES', form: 'PROFILE' }],
  ['v2/a/j', { kind: 'ATTRIBUTES', form: 'JSON' }],
  ['v2/a/p', { kind: 'ATTRIBUTES', form: 'PROTOBUF' }],
  ['v1/devices/me/claim', { kind: 'CLAIM' }],
  ['/provision/request', { kind: 'PROVISION' }],
  ['v1/gateway/connect', { kind: 'GATEWAY', topic: 'CONNECT' }],
  ['v1/gateway/disconnect', { kind: 'GATEWAY', topic: 'DISCONNECT' }],
  ['v1/gateway/telemetry', { kind: 'GATEWAY', topic: 'TELEMETRY' }],
  ['v1/gateway/attributes', { kind: 'GATEWAY', topic: 'ATTRIBUTES' }],
  ['v1/gateway/attributes/request', { kind: 'GATEWAY', topic: 'ATTRIBUTE_REQUEST' }],
  ['v1/gateway/rpc', { kind: 'GATEWAY', topic: 'CALL_ANSWER' }],
  ['v1/gateway/claim', { kind: 'GATEWAY', topic: 'CLAIM' }],
])

const FAMILIES: readonly ResponseFamily[] = [
  {
    requestPrefix: 'v1/devices/me/attributes/request/',
    responsePrefix: 'v1/devices/me/attributes/response/',
    filter: 3,
    form: 'PROFILE',
  },
  { requestPrefix: 'v2/a/req/j/', responsePrefix: 'v2/a/res/j/', filter: 5, form: 'JSON' },
  {
    ...{ requestPrefix: 'v2/a/req/p/', responsePrefix: 'v2/a/res/p/' },
    ...{ filter: PROTOBUF_FILTERS.ATTRIBUTE_RESPONSE, form: 'PROTOBUF' },
  },
  { requestPrefix: 'v2/a/req/', responsePrefix: 'v2/a/res/', filter: 4, form: 'PROFILE' },
]

const UNKNOWN: Uplink = { kind: 'UNKNOWN' }
const REQUEST_ID = /^-?\d{1,10}$/
const PACKAGE = /^v2\/(fw|sw)\/request\/(\d{1,10})\/chunk\/(\d{1,10})$/
const INT32_MAX = 2 ** 31 - 1

export function uplinkOf(topic: string): Uplink {
  const fixed = FIXED.get(topic)
  if (fixed !== undefined) return fixed
  if (topic.startsWith('v1/gateway/')) return { kind: 'GATEWAY', topic: 'UNKNOWN' }
  for (const family of FAMILIES) {
    if (!topic.startsWith(family.requestPrefix)) continue
    const requestId = requestIdOf(topic, family.requestPrefix)
    return requestId === undefined ? { kind: 'BAD_REQUEST_ID' } : { kind: 'ATTRIBUTE_REQUEST', requestId, family }
  }
  for (const family of CALL_FAMILIES) {
    const isRequest = topic.startsWith(family.requestPrefix)
    if (!isRequest && !topic.startsWith(family.responsePrefix)) continue
    const requestId = requestIdOf(topic, isRequest ? family.requestPrefix : family.responsePrefix)
    if (requestId === undefined) return { kind: 'BAD_REQUEST_ID' }
    return isRequest ? { kind: 'CLIENT_RPC', requestId, family } : { kind: 'CALL_ANSWER', requestId, form: family.form }
  }
  return packageOf(topic) ?? UNKNOWN
}

function packageOf(topic: string): Uplink | undefined {
  const [, what, requestId = '', part = ''] = PACKAGE.exec(topic) ?? []
  if (what === undefined) return undefined
  const chunk = Number(part)
  if (chunk > INT32_MAX) return { kind: 'BAD_REQUEST_ID' }
  return { kind: 'PACKAGE', package: what === 'fw' ? 'FIRMWARE' : 'SOFTWARE', requestId, chunk }
}

function requestIdOf(topic: string, prefix: string): number | undefined {
  const text = topic.slice(prefix.length)
  const id = Number(text)
  return REQUEST_ID.test(text) && id <= INT32_MAX && id >= -INT32_MAX - 1 ? id : undefined
}
