/** What the owner of a device has of its calls: who listens, and what waits. */
import type { TimerHandle } from '../../../model/clock.ts'
import type { DeviceCall, Listening } from './call.ts'

/** Of one device. Over it a call is refused as if the device were away; persistent ones wait in the store. */
export const MAX_PENDING = 1000

export interface Listener {
  readonly member: string
  readonly session: number
  readonly take: Listening
  until: number
}

export interface Pending {
  readonly id: number
  readonly call: DeviceCall
  /** `member session` of those it went to. */
  readonly sentTo: Set<string>
  isDelivered: boolean
  failures: number
  expiry: TimerHandle
  delivery: TimerHandle | undefined
}

export class OwnedCallsOfDevice {
  readonly deviceId: string
  nextId = 0
  usedAt = 0
  readonly listeners = new Map<string, Listener>()
  readonly pending = new Map<number, Pending>()
  /** A look into the store that has not begun, and finds what whoever listens until then waits for. */
  isLookDue = false
  /** Changes of the store, one after the other. */
  stored: Promise<void> = Promise.resolve()
  /** Ids of calls that are over here, of tenants that the device left: what a look into the store that is under way says of theirs is old. */
  readonly leaving = new Set<string>()

  constructor(deviceId: string) {
    this.deviceId = deviceId
  }

  has(callId: string): boolean {
    for (const { call } of this.pending.values()) if (call.id === callId) return true
    return false
  }

  /** Whether a call that the store has is to be sent. */
  lacks({ id, tenantId }: DeviceCall): boolean {
    if (this.leaving.has(id) || this.leaving.has(tenantId)) return false
    return this.pending.size < MAX_PENDING && !this.has(id)
  }
}

export function remove(device: OwnedCallsOfDevice | undefined, pending: Pending): void {
  stopTimers(pending)
  device?.pending.delete(pending.id)
}

export function stopTimers(pending: Pending): void {
  pending.expiry.cancel()
  pending.delivery?.cancel()
}
