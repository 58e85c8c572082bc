/** The devices behind one gateway connection, as the connection and the handlers of its packets see them. */
import type { DeviceSession } from '../../../engine/device/gateway.ts'
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
  connect(name: string, type: string, waiting: Waiting): void
  disconnect(name: string): void
  /** To the gateway, whether it subscribed or not (`device-api.md` 4.2). */
  push(topic: string, payload: string | Buffer, call?: { readonly of: DeviceSession; readonly id: number }): void
  /** Ends the sessions of all. */
  close(): void
}
