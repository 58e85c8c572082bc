/** The devices behind one gateway connection, as the connection and the handlers of its packets see them. */
import type { CallRequest, DeviceSession, NamedChild, SharedAttributesUpdate } from '../../../engine/device/gateway.ts'
import type { Waiting } from './child.ts'
import type { Latency } from './payloads.ts'

export interface ChildRegistry {
  /** Devices that are connected, or about to be. */
  readonly size: number
  /** Too much waits for devices to be connected: the gateway is not read. */
  readonly isFull: boolean
  readonly latencies: {
    /** `at`: when the publish came, Unix ms. */
    add(latency: Latency, at: number): void
  }
  /** The session of a device that is connected; it counts as heard. */
  connected(name: string): DeviceSession | undefined
  /** Hands on what waits once the device is connected, behind what waits for it already. */
  connect(named: NamedChild, waiting: Waiting): void
  disconnect(name: string): void
  /** Of all that are connected. */
  sessions(): readonly DeviceSession[]
  /** Ends the sessions of all. */
  close(): void
}

/** What the protocol of the gateway makes of what its devices are told. */
export interface ChildVoice {
  /** Devices that say nothing stay connected as long as the gateway is heard. */
  readonly keepsSilent: boolean
  attributesChanged(name: string, update: SharedAttributesUpdate): void
  called(name: string, of: DeviceSession, request: CallRequest): void
  /** Its session is about to be closed, and not because the gateway said so. */
  leaving(session: DeviceSession): void
}
