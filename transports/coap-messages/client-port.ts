/** Where clients are heard and asked: a plain port, and the proxies that end DTLS in front of it. */
import type { Clock, Random } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import type { PreSharedKey } from '../../engine/device/gateway.ts'
import type { MessageCounts } from './counts.ts'
import { CoapEndpoint, type EndpointOptions } from './endpoint.ts'
import type { MessageLimits } from './limits.ts'
import type { Peer } from './message.ts'
import { listenWithProxies, proxyListener, type ProxyListener } from './proxy/listener.ts'
import { CoapRequests } from './requests.ts'
import { MessageSocket } from './socket.ts'

export interface ClientPortOptions {
  readonly label: string
  readonly address: string
  /** 0 picks a free one. */
  readonly port: number
  /** Path of the socket at which a proxy brings its clients; undefined or empty: none. */
  readonly proxySocket: string | undefined
  /** The settings that name these: for refusals. */
  readonly settings: Readonly<Record<'address' | 'port' | 'proxySocket', string>>
  readonly limits: MessageLimits & { readonly answerTimeoutMs: number }
  readonly counts: MessageCounts
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** With which a client that names this identity proves who it is; undefined where nobody has it. */
  readonly findKey: (identity: string) => Promise<PreSharedKey | undefined>
  readonly handle: EndpointOptions['handle']
}

export class ClientPort {
  readonly requests: CoapRequests
  private readonly socket: MessageSocket
  private readonly proxies: ProxyListener | undefined
  private readonly endpoint: CoapEndpoint

  constructor(options: ClientPortOptions) {
    const { label, address, settings, limits, counts, clock, random, log, findKey, handle } = options
    const received = (datagram: Buffer, peer: Peer): void => this.endpoint.received(datagram, peer)
    this.socket = new MessageSocket({
      ...{ label, log, address, port: options.port, received },
      ...{ addressName: settings.address, portName: settings.port },
      unanswerable: () => counts.malformed++,
    })
    this.requests = new CoapRequests({
      ...{ clock, endpoint: () => this.endpoint, blockBytes: limits.blockBytes },
      ...{ maxAnswerBytes: limits.maxPayloadBytes, answerTimeoutMs: limits.answerTimeoutMs },
    })
    const { proxySocket: setting } = settings
    this.proxies = proxyListener(options.proxySocket, { label, setting, log, received, findKey })
    const { send } = this.socket
    this.endpoint = new CoapEndpoint({
      ...{ clock, random, limits, counts, send, handle, answered: this.requests.answered },
    })
  }

  /** The real one. */
  get port(): number {
    return this.socket.port
  }

  /** Rejects LISTEN_FAILED. */
  listen(): Promise<void> {
    return listenWithProxies(this.socket, this.proxies)
  }

  /** Who waits for an answer is told. Once. */
  async close(): Promise<void> {
    this.requests.close()
    this.endpoint.close()
    await this.proxies?.close()
    await this.socket.close()
  }
}
