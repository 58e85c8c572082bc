/** The CoAP listener: one UDP socket, and what its parts share. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock, Random } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { DeviceGateway } from '../../engine/device/gateway.ts'
import { JsonPayloadDecoder } from '../payload/json.ts'
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from '../payload/limits.ts'
import { TenantShares } from '../tenant-shares.ts'
import { BlockAnswers, BlockUploads, blockOf } from './blocks.ts'
import { newCounts, type CoapCounts } from './counts.ts'
import { CoapDeviceApi } from './device-api.ts'
import { CoapEndpoint } from './endpoint.ts'
import { CoapErrors } from './errors.ts'
import { DEFAULT_COAP_LIMITS, type CoapLimits } from './limits.ts'
import type { CoapResponse, Peer } from './message.ts'
import { Observations, type Observer } from './observations.ts'
import type { Outcome } from './transmissions.ts'

export interface CoapTransportOptions {
  readonly gateway: DeviceGateway
  readonly bindAddress: string
  /** 0 picks a free one. */
  readonly port: number
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

/** A burst of datagrams must not be lost while a turn of the engine runs. */
const RECEIVE_BUFFER_BYTES = 4_194_304

/** Resolves once it listens. Rejects LISTEN_FAILED. */
export async function startCoapTransport(options: CoapTransportOptions): Promise<CoapTransport> {
  const transport = new CoapServer(options)
  await transport.listen(options.bindAddress, options.port)
  return transport
}

class CoapServer implements CoapTransport {
  private readonly options: CoapTransportOptions
  private readonly limits: CoapLimits
  private readonly counts = newCounts()
  private readonly socket: Socket
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
    this.observations = new Observations({ gateway, shares, notifier: this })
    const { observations, uploads, answers } = this
    const decoder = new JsonPayloadDecoder(options.payload ?? DEFAULT_PAYLOAD_LIMITS)
    const api = new CoapDeviceApi({ gateway, decoder, observations, uploads, answers, limits, counts, log })
    const send = (datagram: Buffer, { address, port }: Peer): void => {
      if (this.closing === undefined) this.socket.send(datagram, port, address, sendFailed)
    }
    this.endpoint = new CoapEndpoint({ clock, random, limits, counts, send, handle: api.handle })
    const type = isIPv6(options.bindAddress) ? 'udp6' : 'udp4'
    this.socket = createSocket({
      type,
      lookup: (address, _options, found) => found(null, address, type === 'udp6' ? 6 : 4),
    })
    this.socket.on('message', this.received)
  }

  get port(): number {
    return this.socket.address().port
  }

  figures(): CoapFigures {
    const blockTransfers = this.uploads.count + this.answers.count
    return { ...this.counts, observers: this.observations.count, blockTransfers }
  }

  listen(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => {
        this.socket.close()
        reject(CoapErrors.LISTEN_FAILED({ address, port, reason: error.message }, error))
      }
      this.socket.once('error', failed)
      this.socket.bind(port, address, () => {
        this.socket.removeListener('error', failed)
        this.socket.on('error', (error) =>
          this.options.log.error('coap: unexpected error', { error: errorText(error) }),
        )
        this.socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
        resolve()
      })
    })
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
    await new Promise<void>((resolve) => this.socket.close(() => resolve()))
  }

  private readonly received = (datagram: Buffer, { address, port }: RemoteInfo): void => {
    // Nobody can be answered there, and sending to it throws.
    if (port === 0) this.counts.malformed++
    else this.endpoint.received(datagram, { address, port, key: `${address} ${port}` })
  }
}

/** As good as lost on the way: what matters is sent again. */
function sendFailed(): void {}
