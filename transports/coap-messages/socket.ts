/** A UDP socket that listens: what comes is told with its sender, what is sent may be lost. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { errorText } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import { MessageErrors } from './errors.ts'
import type { Peer } from './message.ts'

export interface MessageSocketOptions {
  readonly address: string
  /** 0 picks a free one. */
  readonly port: number
  /** For refusals: the protocol, and the settings that name address and port. */
  readonly label: string
  readonly addressName: string
  readonly portName: string
  readonly log: Log
  readonly received: (datagram: Buffer, peer: Peer) => void
  /** From where nobody can be answered. */
  readonly unanswerable: () => void
}

/** A burst of datagrams must not be lost while a turn of the engine runs. */
const RECEIVE_BUFFER_BYTES = 4_194_304

export class MessageSocket {
  private readonly options: MessageSocketOptions
  private readonly socket: Socket
  private isClosed = false

  constructor(options: MessageSocketOptions) {
    this.options = options
    const type = isIPv6(options.address) ? 'udp6' : 'udp4'
    this.socket = createSocket({
      type,
      lookup: (address, _options, found) => found(null, address, type === 'udp6' ? 6 : 4),
    })
    this.socket.on('message', this.received)
  }

  get port(): number {
    return this.socket.address().port
  }

  /** Rejects LISTEN_FAILED. */
  listen(): Promise<void> {
    const { address, port, label, addressName, portName, log } = this.options
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => {
        this.socket.close()
        const reason = error.message
        reject(MessageErrors.LISTEN_FAILED({ label, address, port, addressName, portName, reason }, error))
      }
      this.socket.once('error', failed)
      this.socket.bind(port, address, () => {
        this.socket.removeListener('error', failed)
        this.socket.on('error', (error) => log.error(`${label}: unexpected error`, { error: errorText(error) }))
        this.socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
        resolve()
      })
    })
  }

  /** To a client of a proxy it goes by the proxy. */
  readonly send = (datagram: Buffer, { address, port, reply }: Peer): void => {
    if (this.isClosed) return
    if (reply === undefined) this.socket.send(datagram, port, address, sendFailed)
    else reply(datagram)
  }

  async close(): Promise<void> {
    this.isClosed = true
    await new Promise<void>((resolve) => this.socket.close(() => resolve()))
  }

  private readonly received = (datagram: Buffer, { address, port }: RemoteInfo): void => {
    // Nobody can be answered there, and sending to it throws.
    if (port === 0) this.options.unanswerable()
    else this.options.received(datagram, { address, port, key: `${address} ${port}` })
  }
}

/** As good as lost on the way: what matters is sent again. */
function sendFailed(): void {}
