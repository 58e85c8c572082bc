/** What a client is told, and where each of the project's errors goes. Source: MQTT 5 section 2.4, `device-api.md` 3.3, 3.8, 3.9. */
import type { MillraceError } from '../../model/errors.ts'
import type { SessionEnd } from '../../engine/device/gateway.ts'

export const Reason = {
  SUCCESS: 0x00,
  NO_SUBSCRIPTION_EXISTED: 0x11,
  UNSPECIFIED_ERROR: 0x80,
  MALFORMED_PACKET: 0x81,
  PROTOCOL_ERROR: 0x82,
  IMPLEMENTATION_SPECIFIC: 0x83,
  CLIENT_ID_NOT_VALID: 0x85,
  BAD_USER_NAME_OR_PASSWORD: 0x86,
  NOT_AUTHORIZED: 0x87,
  SERVER_UNAVAILABLE: 0x88,
  SERVER_BUSY: 0x89,
  SERVER_SHUTTING_DOWN: 0x8b,
  BAD_AUTHENTICATION_METHOD: 0x8c,
  KEEP_ALIVE_TIMEOUT: 0x8d,
  SESSION_TAKEN_OVER: 0x8e,
  TOPIC_FILTER_INVALID: 0x8f,
  TOPIC_NAME_INVALID: 0x90,
  PACKET_ID_NOT_FOUND: 0x92,
  RECEIVE_MAXIMUM_EXCEEDED: 0x93,
  TOPIC_ALIAS_INVALID: 0x94,
  PACKET_TOO_LARGE: 0x95,
  QUOTA_EXCEEDED: 0x97,
  ADMINISTRATIVE_ACTION: 0x98,
  PAYLOAD_FORMAT_INVALID: 0x99,
  SHARED_SUBSCRIPTIONS_NOT_SUPPORTED: 0x9e,
  MAXIMUM_CONNECT_TIME: 0xa0,
  SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED: 0xa1,
} as const

export type ReasonCode = (typeof Reason)[keyof typeof Reason]

/** CONNACK return codes of MQTT 3.1 and 3.1.1; code 4 is never used (`device-api.md` 3.3). */
const CONNACK_V3: Readonly<Partial<Record<ReasonCode, number>>> = {
  [Reason.SUCCESS]: 0,
  [Reason.CLIENT_ID_NOT_VALID]: 2,
  [Reason.SERVER_UNAVAILABLE]: 3,
  [Reason.QUOTA_EXCEEDED]: 3,
}

export function connackV3(reason: ReasonCode): number {
  return CONNACK_V3[reason] ?? 5
}

const SESSION_ENDS: Readonly<Record<SessionEnd, ReasonCode>> = {
  DEVICE_DELETED: Reason.ADMINISTRATIVE_ACTION,
  CREDENTIALS_CHANGED: Reason.ADMINISTRATIVE_ACTION,
  TAKEN_OVER: Reason.SESSION_TAKEN_OVER,
  IDLE: Reason.MAXIMUM_CONNECT_TIME,
  SHUTDOWN: Reason.SERVER_SHUTTING_DOWN,
  FAILED: Reason.UNSPECIFIED_ERROR,
}

export function sessionEndReason(end: SessionEnd): ReasonCode {
  return SESSION_ENDS[end]
}

/**
 * What a refused publish means to its session. An `invalid` one is the sender's to change: told in the PUBACK, the connection
 * stays (v5). Everything else ends the connection without a PUBACK, so that the client sends again.
 */
export function publishRefusal(error: MillraceError): { readonly reason: ReasonCode; readonly stays: boolean } {
  switch (error.kind) {
    case 'invalid':
      return { reason: Reason.PAYLOAD_FORMAT_INVALID, stays: true }
    case 'denied':
      return { reason: Reason.NOT_AUTHORIZED, stays: true }
    case 'retryable':
    case 'terminal':
      return { reason: Reason.IMPLEMENTATION_SPECIFIC, stays: false }
  }
}
