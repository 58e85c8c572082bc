/** Listens at a UDP port. Nobody can be made to wait: what comes while there is no room is lost, and counted. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIP } from 'node:net'
import { networkTest, unmapped } from '../../outbound/address-guard.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import { listenAlways, type Listening } from './listener.ts'
import type { UdpConfiguration } from './udp-configuration.ts'

type Parts = SourceParts<UdpConfiguration>

/** That the system has not taken yet; beyond it a sender hears nothing and sends again. */
const MAX_ANSWERS = 1000
const DRAIN_MS = 3000
/** The system keeps so much of what comes in a burst. */
const RECEIVED_BYTES = 1 << 20

export function openUdpSource(parts: Parts): Promise<Source> {
  return Promise.resolve(listenAlways(parts, (listens, failed) => new UdpPort(parts, listens, failed)))
}

class UdpPort implements Listening {
  private readonly parts: Parts
  private readonly socket: Socket
  private readonly maySend: (address: string) => boolean
  private readonly answer: Buffer | undefined
  private answers = 0
  /** Taken and neither stored nor failed. */
  private taken = 0
  private isClosing = false
  private isClosed = false
  private hasFailed = false
  private drained: () => void = () => undefined

  constructor(parts: Parts, listens: () => void, failed: (reason: Error) => void) {
    const { address, port, senders, answer } = parts.configuration
    this.parts = parts
    this.maySend = senders.length === 0 ? () => true : networkTest(senders)
    this.answer = (answer ?? null) === null ? undefined : Buffer.from(answer ?? '')
    this.socket = createSocket({ type: isIP(address) === 6 ? 'udp6' : 'udp4', recvBufferSize: RECEIVED_BYTES })
      .on('message', (payload, sender) => this.came(payload, sender))
      .on('error', (reason) => {
        if (this.hasFailed) return
        this.hasFailed = true
        failed(reason)
      })
    this.socket.bind({ address, port, exclusive: true }, listens)
  }

  /** Resolves when what was taken is answered, or could not be within three seconds. */
  async close(): Promise<void> {
    this.isClosing = true
    if (this.taken > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.parts.clock.after(DRAIN_MS, resolve)
        this.drained = () => {
          timer.cancel()
          resolve()
        }
      })
    }
    // What was taken may be stored yet: nobody is told of it any more.
    this.isClosed = true
    await new Promise<void>((resolve) => {
      this.socket.close(() => resolve())
    })
  }

  private came(payload: Buffer, sender: RemoteInfo): void {
    if (this.isClosing || payload.length === 0 || !this.maySend(sender.address)) return
    const { inlet } = this.parts
    const metadata = { remoteAddress: unmapped(sender.address), remotePort: String(sender.port) }
    this.taken++
    const isTaken = inlet.take(
      { payload, metadata },
      {
        done: (failure) => {
          if (failure === undefined) this.tell(sender)
          this.settled()
        },
        again: () => this.settled(),
      },
    )
    if (isTaken) return
    this.taken--
    inlet.lost(payload.length, IntegrationErrors.DROPPED())
  }

  private settled(): void {
    if (--this.taken === 0) this.drained()
  }

  private tell({ address, port }: RemoteInfo): void {
    // A sender that hears no answers may name the port 0, to which the system sends nothing.
    if (this.answer === undefined || this.isClosed || port === 0 || this.answers >= MAX_ANSWERS) return
    this.answers++
    this.socket.send(this.answer, port, address, () => this.answers--)
  }
}
