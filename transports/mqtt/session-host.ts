/** What a session needs of its server. */
import type { DeviceGateway } from '../../engine/device/gateway.ts'
import type { JsonPayloadDecoder } from '../payload/json.ts'
import type { KeepAliveWheel } from './keep-alive-wheel.ts'
import type { MqttLimits } from './limits.ts'
import type { MqttSession } from './session.ts'

/** Figures since the start; each only grows. */
export interface MqttCounts {
  accepted: number
  received: number
  acknowledged: number
  storedUnacknowledged: number
  refused: number
  undecodable: number
  unknownTopics: number
  malformed: number
  unauthenticated: number
  pushed: number
  pushesDropped: number
  slowConsumers: number
  overConnectionLimit: number
}

export interface SessionHost {
  readonly gateway: DeviceGateway
  readonly limits: MqttLimits
  readonly decoder: JsonPayloadDecoder
  readonly wheel: KeepAliveWheel
  readonly counts: MqttCounts
  /** Writes what sessions have to say, once, when the present turn is over. */
  flushSoon(session: MqttSession): void
  /** Calls the session's `resume` when the gateway is writable again. */
  waitForRoom(session: MqttSession): void
  /** A programming error reached a session: logged with its stack, the session is closed. */
  unexpected(error: unknown): void
}
