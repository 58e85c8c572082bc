/** One device behind a gateway: a device session of its own, whose pushes go out on the gateway's connection. */
import type { MillraceError } from '../../../model/errors.ts'
import type {
  CallRequest,
  DeviceSession,
  DeviceSessionListener,
  NamedChild,
  SessionEnd,
  SharedAttributesUpdate,
} from '../../../engine/device/gateway.ts'
import type { Timed } from '../keep-alive-wheel.ts'

/** What a child sees of those that it is one of. */
export interface ChildHost {
  readonly idleTicks: number
  readonly tick: number
  attributesChanged(child: GatewayChild, update: SharedAttributesUpdate): void
  called(child: GatewayChild, request: CallRequest): void
  /** It was silent for too long. */
  silent(child: GatewayChild): void
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
  readonly named: NamedChild
  /** Undefined while it is being connected. */
  session: DeviceSession | undefined
  waiting: Waiting[] | undefined = []
  private readonly host: ChildHost
  private heardTick: number

  constructor(host: ChildHost, named: NamedChild) {
    this.host = host
    this.named = named
    this.heardTick = host.tick
  }

  get name(): string {
    return this.named.name
  }

  heard(): void {
    this.heardTick = this.host.tick
  }

  dueTick(): number {
    return this.heardTick + this.host.idleTicks
  }

  expired(): void {
    this.host.silent(this)
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    this.host.attributesChanged(this, update)
  }

  called(request: CallRequest): void {
    this.host.called(this, request)
  }

  /** Silently: it may have connected by itself. The next message for it makes a session anew. */
  closed(_reason: SessionEnd): void {
    this.host.ended(this)
  }
}
