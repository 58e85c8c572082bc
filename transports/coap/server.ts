/** The CoAP listener: one UDP socket, and what its parts share. */
import type { Clock, Random } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import type { DeviceGateway } from '../../engine/device/gateway.ts'
import { JsonPayloadDecoder } from '../payload/json.ts'
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from '../payload/limits.ts'
import { TenantShares } from '../tenant-shares.ts'
import { BlockAnswers, BlockUploads, blockOf } from '../coap-messages/blocks.ts'
import { newCounts, type CoapCounts } from './counts.ts'
import { CoapDeviceApi } from './device-api.ts'
import { CoapEndpoint } from '../coap-messages/endpoint.ts'
import { listenWithProxies, proxyListener, type ProxyListener } from '../coap-messages/proxy/listener.ts'
import { MessageSocket } from '../coap-messages/socket.ts'
import { DEFAULT_COAP_LIMITS, type CoapLimits } from './limits.ts'
import type { CoapResponse } from '../coap-messages/message.ts'
import { COAP_SETTINGS } from './settings.ts'
import { Observations, type Observer } from './observations.ts'
import type { Outcome } from '../coap-messages/transmissions.ts'

export interface CoapTransportOptions {
  readonly gateway: DeviceGateway
  readonly bindAddress: string
  /** 0 picks a free one. */
  readonly port: number
  /** Of the socket at which a proxy that ends DTLS brings its clients; empty: none. */
  readonly dtlsProxySocket?: string
  readonly limits?: Partial<CoapLimits>
  readonly payload?: PayloadLimits
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface CoapFigures extends Readonly<CoapCounts> {
  readonly observers: number
  readonly blockTransfers: number
}

export interface CoapTransport {
  readonly port: number
  figures(): CoapFigures
  /** Tells observers, closes. Idempotent. */
  close(): Promise<void>
}

/** Resolves once it listens. Rejects LISTEN_FAILED. */
export async function startCoapTransport(options: CoapTransportOptions): Promise<CoapTransport> {
  const transport = new CoapServer(options)
  await transport.listen()
  return transport
}

class CoapServer implements CoapTransport {
  private readonly options: CoapTransportOptions
  private readonly limits: CoapLimits
  private readonly counts = newCounts()
  private readonly socket: MessageSocket
  private readonly proxies: ProxyListener | undefined
  private readonly endpoint: CoapEndpoint
  private readonly uploads: BlockUploads
  private readonly answers: BlockAnswers
  private readonly observations: Observations
  private closing: Promise<void> | undefined

  constructor(options: CoapTransportOptions) {
    this.options = options
    const { gateway, clock, random, log } = options
    const limits = { ...DEFAULT_COAP_LIMITS, ...options.limits }
    const { counts } = this
    this.limits = limits
    const blockShares = new TenantShares(limits.maxBlockTransfers, limits.maxBlockTransfersPerTenant)
    this.uploads = new BlockUploads(limits, clock, blockShares)
    this.answers = new BlockAnswers(limits, clock, blockShares)
    const shares = new TenantShares(limits.maxObservers, limits.maxObserversPerTenant)
    this.observations = new Observations({ gateway, shares, clock, notifier: this })
    const { observations, uploads, answers } = this
    const decoder = new JsonPayloadDecoder(options.payload ?? DEFAULT_PAYLOAD_LIMITS)
    const api = new CoapDeviceApi({ gateway, decoder, observations, uploads, answers, limits, counts, clock, log })
    const label = 'CoAP'
    this.socket = new MessageSocket({
      ...{ label, log, address: options.bindAddress, port: options.port },
      addressName: COAP_SETTINGS.coapBindAddress.name,
      portName: COAP_SETTINGS.coapBindPort.name,
      received: (datagram, peer) => this.endpoint.received(datagram, peer),
      unanswerable: () => counts.malformed++,
    })
    this.proxies = proxyListener(options.dtlsProxySocket, {
      ...{ label: 'CoAP', setting: COAP_SETTINGS.coapDtlsProxySocket.name, log },
      received: (datagram, peer) => this.endpoint.received(datagram, peer),
      findKey: (identity) => gateway.findPreSharedKey(identity),
    })
    const { send } = this.socket
    this.endpoint = new CoapEndpoint({ clock, random, limits, counts, send, handle: api.handle })
  }

  get port(): number {
    return this.socket.port
  }

  figures(): CoapFigures {
    const blockTransfers = this.uploads.count + this.answers.count
    return { ...this.counts, observers: this.observations.count, blockTransfers }
  }

  listen(): Promise<void> {
    return listenWithProxies(this.socket, this.proxies)
  }

  /** The first block of what is too large; the rest is fetched (RFC 7959, 2.6). */
  notify(observer: Observer, response: CoapResponse, tenantId: string, settled: (outcome: Outcome) => void): boolean {
    const { peer, token, isConfirmable, resource } = observer
    const block = blockOf(response, undefined, this.limits.blockBytes)
    if (block.block2?.isMore === true) this.answers.keep(resource, { tenantId, response })
    return this.endpoint.notify(peer, token, block, isConfirmable, settled)
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private async closeAll(): Promise<void> {
    this.observations.close()
    this.endpoint.close()
    this.uploads.close()
    this.answers.close()
    await this.proxies?.close()
    await this.socket.close()
  }
}
