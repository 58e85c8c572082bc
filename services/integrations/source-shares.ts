/** What integrations that are listened to may hold of this process, and how much of it one tenant may. */
import { FrameRoom } from './frame-room.ts'

export interface SourceShareSettings {
  readonly tenantPorts: number
  readonly maxConnections: number
  /** Of frames that did not come whole yet. */
  readonly maxBytes: number
  /** Of records that were fetched and not handed on. */
  readonly maxFetchedBytes: number
}

const TENANT_PART = 0.25

export class SourceShares {
  /** Connections that others opened. */
  readonly connections: FrameRoom
  /** Bytes of frames that did not come whole yet. */
  readonly unfinished: FrameRoom
  /** Bytes of records that brokers sent, or are asked for, and that were not handed on. */
  readonly fetched: FrameRoom
  readonly tenantPorts: number
  private readonly ports = new Map<string, number>()

  constructor({ tenantPorts, maxConnections, maxBytes, maxFetchedBytes }: SourceShareSettings) {
    this.tenantPorts = tenantPorts
    this.connections = new FrameRoom(maxConnections, TENANT_PART)
    this.unfinished = new FrameRoom(maxBytes, TENANT_PART)
    this.fetched = new FrameRoom(maxFetchedBytes, TENANT_PART)
  }

  /** False: the tenant listens at as many as it may. */
  enterPort(tenantId: string): boolean {
    const own = this.ports.get(tenantId) ?? 0
    if (own >= this.tenantPorts) return false
    this.ports.set(tenantId, own + 1)
    return true
  }

  leavePort(tenantId: string): void {
    const own = (this.ports.get(tenantId) ?? 0) - 1
    if (own > 0) this.ports.set(tenantId, own)
    else this.ports.delete(tenantId)
  }
}
