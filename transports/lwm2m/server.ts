/** The LwM2M listener: one UDP socket, and what its parts share. */
import type { Clock, Random } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import type { DeviceGateway } from '../../engine/device/gateway.ts'
import { BlockUploads } from '../coap-messages/blocks.ts'
import { ClientPort } from '../coap-messages/client-port.ts'
import { TenantShares } from '../tenant-shares.ts'
import { AwakeClients } from './awake-clients.ts'
import { BootstrapServer, type BootstrapPlace } from './bootstrap/server.ts'
import { Lwm2mClient } from './client.ts'
import { newCounts, type Lwm2mCounts } from './counts.ts'
import { DEFAULT_LWM2M_LIMITS, type Lwm2mLimits } from './limits.ts'
import { RegistrationApi } from './registration-api.ts'
import { Registrations } from './registrations.ts'
import { RenewalTurns } from './renewal-turns.ts'
import { LWM2M_SETTINGS } from './settings.ts'
import { OfferedPackages } from './updates/offered-packages.ts'

export interface Lwm2mTransportOptions {
  readonly gateway: DeviceGateway
  readonly bindAddress: string
  /** 0 picks a free one. */
  readonly port: number
  /** Of the socket at which a proxy that ends DTLS brings its clients; empty: none. */
  readonly dtlsProxySocket?: string
  /** Of the bootstrap server; absent: there is none. */
  readonly bootstrap?: BootstrapPlace
  readonly limits?: Partial<Lwm2mLimits>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface Lwm2mFigures extends Readonly<Lwm2mCounts> {
  readonly clients: number
  readonly observations: number
  /** Clients that are to be observed anew and whose turn has not come. */
  readonly renewalsWaiting: number
  readonly bootstrapping: number
}

export interface Lwm2mTransport {
  readonly port: number
  /** Undefined where there is no bootstrap server. */
  readonly bootstrapPort: number | undefined
  figures(): Lwm2mFigures
  /** Ends all registrations, closes. Idempotent. */
  close(): Promise<void>
}

/** Resolves once it listens. Rejects LISTEN_FAILED. */
export async function startLwm2mTransport(options: Lwm2mTransportOptions): Promise<Lwm2mTransport> {
  const server = new Lwm2mServer(options)
  await server.listen()
  return server
}

class Lwm2mServer implements Lwm2mTransport {
  private readonly counts = newCounts()
  private readonly clientPort: ClientPort
  private readonly bootstrap: BootstrapServer | undefined
  private readonly uploads: BlockUploads
  private readonly offered: OfferedPackages
  private readonly registrations: Registrations
  private readonly clients = new Map<string, Lwm2mClient>()
  private readonly awake: AwakeClients
  private readonly renewalTurns: RenewalTurns
  private closing: Promise<void> | undefined

  constructor(options: Lwm2mTransportOptions) {
    const { gateway, clock, random, log } = options
    const limits = { ...DEFAULT_LWM2M_LIMITS, ...options.limits }
    const { counts } = this
    this.renewalTurns = new RenewalTurns(new TenantShares(limits.maxRenewals, limits.maxRenewalsPerTenant))
    const blockShares = new TenantShares(limits.maxBlockTransfers, limits.maxBlockTransfersPerTenant)
    this.uploads = new BlockUploads(limits, clock, blockShares)
    this.clientPort = new ClientPort({
      ...{ label: 'LwM2M', address: options.bindAddress, port: options.port, proxySocket: options.dtlsProxySocket },
      settings: {
        address: LWM2M_SETTINGS.lwm2mBindAddress.name,
        port: LWM2M_SETTINGS.lwm2mBindPort.name,
        proxySocket: LWM2M_SETTINGS.lwm2mDtlsProxySocket.name,
      },
      ...{ limits, counts, clock, random, log },
      findKey: (identity) => gateway.findPreSharedKey(identity),
      handle: (request, respond) => api.handle(request, respond),
    })
    const { bootstrap: place } = options
    this.bootstrap =
      place === undefined ? undefined : new BootstrapServer({ place, gateway, limits, counts, clock, random, log })
    this.awake = new AwakeClients(clock)
    this.offered = new OfferedPackages({
      ...{ gateway, clock, idleMs: limits.packageIdleMs, blockBytes: limits.blockBytes },
      shares: new TenantShares(limits.maxOfferedPackages, limits.maxOfferedPackagesPerTenant),
    })
    const { requests } = this.clientPort
    const { offered } = this
    const parts = {
      ...{ requests, clock, log, counts, limits, gateway, offered },
      renewalTurns: this.renewalTurns,
      heard: (client: Lwm2mClient) => this.awake.heard(client),
      isWritable: () => gateway.writable,
    }
    this.registrations = new Registrations({
      ...{ gateway, clock, shares: new TenantShares(limits.maxClients, limits.maxClientsPerTenant) },
      attach: (registration) => this.attach(new Lwm2mClient(parts, registration)),
    })
    const { registrations, uploads } = this
    const api = new RegistrationApi({
      ...{ gateway, registrations, uploads, offered, maxPayloadBytes: limits.maxPayloadBytes, counts, log },
      clientOf: ({ id }) => this.clients.get(id),
    })
  }

  get port(): number {
    return this.clientPort.port
  }

  get bootstrapPort(): number | undefined {
    return this.bootstrap?.port
  }

  figures(): Lwm2mFigures {
    return {
      ...{ ...this.counts, clients: this.registrations.count, observations: this.clientPort.requests.watched },
      renewalsWaiting: this.renewalTurns.waiting,
      bootstrapping: this.bootstrap?.size ?? 0,
    }
  }

  async listen(): Promise<void> {
    await this.clientPort.listen()
    try {
      await this.bootstrap?.listen()
    } catch (error) {
      await this.clientPort.close()
      throw error
    }
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private attach(client: Lwm2mClient) {
    const { id } = client.registration
    this.clients.set(id, client)
    return {
      sharedAttributesChanged: client.sharedAttributesChanged.bind(client),
      called: client.called.bind(client),
      refreshed: client.refreshed.bind(client),
      updated: client.updated.bind(client),
      ended: () => {
        this.clients.delete(id)
        client.ended()
        this.awake.end(id)
      },
    }
  }

  private async closeAll(): Promise<void> {
    this.registrations.close()
    this.awake.close()
    this.uploads.close()
    this.offered.close()
    await Promise.all([this.clientPort.close(), this.bootstrap?.close()])
  }
}
