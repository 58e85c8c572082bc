/** One device behind a gateway: a device session of its own, whose pushes go out on the gateway's connection. */
import type { MillraceError } from '../../../model/errors.ts'
import type {
  CallRequest,
  DeviceSession,
  DeviceSessionListener,
  SessionEnd,
  SharedAttributesUpdate,
} from '../../../engine/device/gateway.ts'
import type { Timed } from '../keep-alive-wheel.ts'

/** What a child sees of those that it is one of. */
export interface ChildHost {
  readonly idleTicks: number
  readonly tick: number
  pushAttributes(child: GatewayChild, update: SharedAttributesUpdate): void
  pushCall(child: GatewayChild, request: CallRequest): void
  /** Its session ended, by itself or by the platform. */
  ended(child: GatewayChild): void
}

/** What waits for the device to be connected. */
export interface Waiting {
  /** Of the publish, about: what waits is bounded by them. */
  readonly bytes: number
  connected(session: DeviceSession): void
  refused(error: MillraceError): void
}

export class GatewayChild implements DeviceSessionListener, Timed {
  slot = 0
  readonly name: string
  /** Of a device that is made for it. */
  readonly type: string
  /** Undefined while it is being connected. */
  session: DeviceSession | undefined
  waiting: Waiting[] | undefined = []
  private readonly host: ChildHost
  private heardTick: number

  constructor(host: ChildHost, name: string, type: string) {
    this.host = host
    this.name = name
    this.type = type
    this.heardTick = host.tick
  }

  heard(): void {
    this.heardTick = this.host.tick
  }

  dueTick(): number {
    return this.heardTick + this.host.idleTicks
  }

  /** Silent for too long. */
  expired(): void {
    this.session?.close()
    this.host.ended(this)
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    this.host.pushAttributes(this, update)
  }

  called(request: CallRequest): void {
    this.host.pushCall(this, request)
  }

  /** Silently: it may have connected by itself. The next message for it makes a session anew. */
  closed(_reason: SessionEnd): void {
    this.host.ended(this)
  }
}
