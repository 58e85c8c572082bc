/**
 * Who is registered: one registration a device, each the device's lasting session (`device-api.md` 13.1, 1.5). It ends by the client's word,
 * by silence beyond its lifetime, or from the platform's side.
 */
import { randomBytes } from 'node:crypto'
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
} from '../../engine/device/gateway.ts'
import type { Peer } from '../coap-messages/message.ts'
import type { TenantShares } from '../tenant-shares.ts'
import { Lwm2mErrors } from './errors.ts'
import type { Lwm2mVersion, Offer, RegistrationRequest, UpdateRequest } from './registration-request.ts'

/** Where a client was heard last. */
export type ClientAddress = Peer

/** What is told of one registration from its begin to its end. */
export interface RegisteredClient extends Pick<DeviceSessionListener, 'sharedAttributesChanged' | 'called'> {
  /** Its profile may be another. */
  refreshed(): void
  /** It was heard, and said perhaps that it has another list of objects. */
  updated(hasNewOffer: boolean): void
  ended(): void
}

export interface Registration {
  /** Nobody guesses it: who knows it may update and end the registration. */
  readonly id: string
  readonly endpoint: string
  readonly version: Lwm2mVersion
  readonly address: ClientAddress
  readonly lifetimeS: number
  readonly isQueueMode: boolean
  readonly offer: Offer
  readonly session: DeviceSession
}

export interface RegistrationsOptions {
  readonly gateway: Pick<DeviceGateway, 'openSession'>
  readonly clock: Clock
  /** Of clients. */
  readonly shares: TenantShares
  readonly attach: (registration: Registration) => RegisteredClient
}

interface Kept extends Registration {
  client: RegisteredClient | undefined
  readonly deviceId: string
  readonly tenantId: string
  address: ClientAddress
  lifetimeS: number
  isQueueMode: boolean
  offer: Offer
  /** Of the monotonic clock, ms. */
  endsAt: number
  /** The number of the sweep in which it waits. */
  sweep: number
}

const ID_BYTES = 12
const MS = 1000
/** How often is looked who was silent for too long. */
const SWEEP_MS = 2000
const PROTOCOL = 'LWM2M'

export class Registrations {
  private readonly options: RegistrationsOptions
  private readonly byId = new Map<string, Kept>()
  private readonly byDevice = new Map<string, Kept>()
  private readonly byAddress = new Map<string, Kept>()
  /** Who may end in which sweep. One that was updated is moved when its old sweep comes: an update costs nothing here. */
  private readonly sweeps = new Map<number, Set<Kept>>()
  private lastSweep = 0
  private timer: TimerHandle | undefined

  constructor(options: RegistrationsOptions) {
    this.options = options
  }

  get count(): number {
    return this.byId.size
  }

  /** Places in which silence is waited for: as many as there are registrations. */
  get waiting(): number {
    let places = 0
    for (const waiting of this.sweeps.values()) places += waiting.size
    return places
  }

  /** In the place of what the device had before. Throws OTHER_TRANSPORT, NO_ROOM. */
  register(device: DeviceIdentity, request: RegistrationRequest, address: ClientAddress): Registration {
    const { transportType = 'DEFAULT', deviceId, tenantId } = device
    if (transportType !== PROTOCOL) throw Lwm2mErrors.OTHER_TRANSPORT({ transport: transportType })
    const { shares } = this.options
    const before = this.byDevice.get(deviceId)
    if (before !== undefined) this.end(before)
    if (!shares.take(tenantId)) throw Lwm2mErrors.NO_ROOM()
    try {
      return this.keep(device, request, address)
    } catch (error) {
      shares.give(tenantId)
      throw error
    }
  }

  private keep(device: DeviceIdentity, request: RegistrationRequest, address: ClientAddress): Kept {
    const { gateway, attach } = this.options
    const { deviceId, tenantId } = device
    const id = randomBytes(ID_BYTES).toString('base64url')
    const session = gateway.openSession(device, 'lasting', {
      sharedAttributesChanged: (update) => this.byId.get(id)?.client?.sharedAttributesChanged(update),
      refreshed: () => this.byId.get(id)?.client?.refreshed(),
      called: (call) => this.byId.get(id)?.client?.called?.(call),
      closed: () => this.forget(id),
    })
    const kept: Kept = {
      ...{ ...request, id, deviceId, tenantId, address, session, endsAt: this.endOf(request.lifetimeS) },
      ...{ sweep: 0, client: undefined },
    }
    try {
      kept.client = attach(kept)
    } catch (error) {
      session.close()
      throw error
    }
    this.byId.set(id, kept)
    this.byDevice.set(deviceId, kept)
    this.byAddress.set(address.key, kept)
    this.place(kept)
    if (this.timer === undefined) this.sweepLater()
    return kept
  }

  /** Throws UNKNOWN_REGISTRATION: the client registers anew. */
  update(id: string, request: UpdateRequest, address: ClientAddress): Registration {
    const kept = this.known(id)
    if (this.byAddress.get(kept.address.key) === kept) this.byAddress.delete(kept.address.key)
    Object.assign(kept, request, { address })
    this.byAddress.set(address.key, kept)
    kept.endsAt = this.endOf(kept.lifetimeS)
    // A shorter lifetime ends it in an earlier sweep than the one that it waits for.
    if (request.lifetimeS !== undefined) this.place(kept)
    kept.session.touch()
    kept.client?.updated(request.offer !== undefined)
    return kept
  }

  /** Throws UNKNOWN_REGISTRATION. */
  deregister(id: string): void {
    this.end(this.known(id))
  }

  find(id: string): Registration | undefined {
    return this.byId.get(id)
  }

  /** Who registered from there last. */
  findAt(address: ClientAddress): Registration | undefined {
    return this.byAddress.get(address.key)
  }

  /** Ends all. */
  close(): void {
    for (const kept of [...this.byId.values()]) this.end(kept)
  }

  private known(id: string): Kept {
    const kept = this.byId.get(id)
    if (kept === undefined) throw Lwm2mErrors.UNKNOWN_REGISTRATION()
    return kept
  }

  private endOf(lifetimeS: number): number {
    return this.options.clock.monotonic() + lifetimeS * MS
  }

  private end(kept: Kept): void {
    this.forget(kept.id)
    kept.session.close()
  }

  private forget(id: string): void {
    const kept = this.byId.get(id)
    if (kept === undefined) return
    this.byId.delete(id)
    if (this.byDevice.get(kept.deviceId) === kept) this.byDevice.delete(kept.deviceId)
    if (this.byAddress.get(kept.address.key) === kept) this.byAddress.delete(kept.address.key)
    kept.client?.ended()
    this.options.shares.give(kept.tenantId)
    this.displace(kept)
    if (this.byId.size > 0) return
    this.timer?.cancel()
    this.timer = undefined
  }

  /** It waits in one sweep alone, however often it is moved. */
  private place(kept: Kept): void {
    this.displace(kept)
    kept.sweep = Math.ceil(kept.endsAt / SWEEP_MS)
    const waiting = this.sweeps.get(kept.sweep)
    if (waiting === undefined) this.sweeps.set(kept.sweep, new Set([kept]))
    else waiting.add(kept)
  }

  private displace(kept: Kept): void {
    const waiting = this.sweeps.get(kept.sweep)
    waiting?.delete(kept)
    if (waiting?.size === 0) this.sweeps.delete(kept.sweep)
  }

  private sweepLater(): void {
    const { clock } = this.options
    const now = clock.monotonic()
    this.lastSweep = Math.floor(now / SWEEP_MS)
    this.timer = clock.after((this.lastSweep + 1) * SWEEP_MS - now, this.sweep)
  }

  private readonly sweep = (): void => {
    const now = this.options.clock.monotonic()
    this.timer = undefined
    for (let sweep = this.lastSweep + 1; sweep <= now / SWEEP_MS; sweep++) {
      for (const kept of [...(this.sweeps.get(sweep) ?? [])]) {
        if (kept.endsAt <= now) this.end(kept)
        else this.place(kept)
      }
    }
    if (this.byId.size > 0) this.sweepLater()
  }
}
