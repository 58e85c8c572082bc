/** What is kept of a device's liveness, as server attributes. Source: `device-api.md` 8, `rule-engine.md` 2.4. */
import type { Entry } from '../../../model/value.ts'
import type { KnownMessageType } from '../../../model/message-type.ts'

export type LifecycleEvent = Extract<
  KnownMessageType,
  'CONNECT_EVENT' | 'DISCONNECT_EVENT' | 'ACTIVITY_EVENT' | 'INACTIVITY_EVENT'
>

/** Times are Unix ms, 0 where it never happened. */
export interface DeviceState {
  active: boolean
  lastConnectTime: number
  lastActivityTime: number
  lastDisconnectTime: number
  inactivityAlarmTime: number
  /** Milliseconds; the user's own value where it is positive. */
  inactivityTimeout: number
}

/** Which of the state is written by the platform; `inactivityTimeout` is the user's. */
export type SavedStateKey = Exclude<keyof DeviceState, 'inactivityTimeout'>

export const STATE_KEYS: readonly (keyof DeviceState)[] = [
  'active',
  'lastConnectTime',
  'lastActivityTime',
  'lastDisconnectTime',
  'inactivityAlarmTime',
  'inactivityTimeout',
]

export function stateFrom(entries: readonly Entry[], defaultInactivityTimeoutMs: number): DeviceState {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  const time = (key: SavedStateKey) => numberOf(byKey.get(key)) ?? 0
  const active = byKey.get('active')
  return {
    active: active?.type === 'BOOLEAN' && active.value,
    lastConnectTime: time('lastConnectTime'),
    lastActivityTime: time('lastActivityTime'),
    lastDisconnectTime: time('lastDisconnectTime'),
    inactivityAlarmTime: time('inactivityAlarmTime'),
    inactivityTimeout: inactivityTimeoutFrom(byKey.get('inactivityTimeout'), defaultInactivityTimeoutMs),
  }
}

/** Not positive or no number: the default. */
export function inactivityTimeoutFrom(entry: Entry | undefined, defaultMs: number): number {
  const value = numberOf(entry)
  return value !== undefined && value > 0 ? value : defaultMs
}

export function stateEntry(state: DeviceState, key: SavedStateKey): Entry {
  return key === 'active' ? { key, type: 'BOOLEAN', value: state.active } : { key, type: 'LONG', value: state[key] }
}

/** The body of a lifecycle event; CONNECT_EVENT has no `active`, and the alarm's time has its longer name. */
export function stateEventJson(type: LifecycleEvent, state: DeviceState): string {
  return JSON.stringify({
    ...(type === 'CONNECT_EVENT' ? {} : { active: state.active }),
    lastConnectTime: state.lastConnectTime,
    lastActivityTime: state.lastActivityTime,
    lastDisconnectTime: state.lastDisconnectTime,
    lastInactivityAlarmTime: state.inactivityAlarmTime,
    inactivityTimeout: state.inactivityTimeout,
  })
}

function numberOf(entry: Entry | undefined): number | undefined {
  if (entry === undefined || (entry.type !== 'LONG' && entry.type !== 'DOUBLE')) return undefined
  const value = Number(entry.value)
  return Number.isFinite(value) ? Math.trunc(value) : undefined
}
