/** A call to a device (RPC), and what becomes of it. Source: `device-api.md` 7.1. */

import { jsonText } from '../../../model/json.ts'

export const CALL_STATUSES = [
  'QUEUED',
  'SENT',
  'DELIVERED',
  'SUCCESSFUL',
  'TIMEOUT',
  'EXPIRED',
  'FAILED',
  'DELETED',
] as const
export type CallStatus = (typeof CALL_STATUSES)[number]

export interface DeviceCall {
  readonly id: string
  readonly tenantId: string
  readonly deviceId: string
  readonly method: string
  /** JSON text; of a chain's call also plain text. */
  readonly params: string
  readonly isOneway: boolean
  /** Kept in the store until it is over. */
  readonly isPersistent: boolean
  /** Unix ms. */
  readonly expirationTime: number
  /** Deliveries that may fail before a persistent one does; null for as many as the platform tries. */
  readonly retries: number | null
  /** JSON text, kept with a persistent one. */
  readonly additionalInfo: string | null
  /** The process that waits for the outcome. */
  readonly origin: string
  /** The process of a rule node that waits for it too. */
  readonly node?: string | undefined
}

/** What a process that waits is told; all members absent for a call that a device took and need not answer. */
export interface CallOutcome {
  /** Text as the device sent it. */
  readonly response?: string | undefined
  readonly error?: 'TIMEOUT' | 'NO_ACTIVE_CONNECTION' | undefined
  /** It is kept, and goes on by itself. */
  readonly isKept?: boolean | undefined
}

/** Under which a rule node waits for the outcome: a user may wait in the same process. */
export function waitsForNode(callId: string): string {
  return `node:${callId}`
}

/** A call on its way to a session. */
export interface CallRequest {
  /** Counts per device. */
  readonly id: number
  readonly method: string
  /** JSON text. */
  readonly params: string
}

export function requestOf(id: number, { method, params }: DeviceCall): CallRequest {
  return { id, method, params: params === '' ? 'null' : jsonText(params) }
}

/** Which calls a session wants: all that come, or the next one alone. */
export type Listening = 'all' | 'next'

/** How far the delivery to a session came. */
export type Delivery = 'SENT' | 'DELIVERED'
