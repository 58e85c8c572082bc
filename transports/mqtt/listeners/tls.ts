/**
 * MQTT over TLS. Handshakes are dear: so many may be under way (`handshakes.ts`), and each ends within its time.
 *
 * No session of TLS is resumed: a resumed one has lost the client's chain, and what a certificate is worth is to be looked at each time.
 * Renegotiation is off, in which a client could show another certificate.
 */
import { constants } from 'node:crypto'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls'
import type { Clock } from '../../../model/clock.ts'
import type { Log } from '../../../model/log.ts'
import {
  CertificateWatch,
  certificateFiles,
  pemOf,
  type CertificateSettings,
  type CheckedFiles,
  type TlsFiles,
} from '../../../server/certificate.ts'
import { shownCertificate } from './client-certificate.ts'
import { Handshakes } from './handshakes.ts'
import { attach, type Door, type ListenAt, type MqttListener } from './listener.ts'
import { openSockets, type Sockets } from './sockets.ts'

/**
 * What a client may say until its handshake is over: OpenSSL keeps every certificate that was sent for as long as the connection stands, also
 * those that vouch for nothing, at up to twenty times their size.
 */
const MAX_HANDSHAKE_BYTES = 32_768

export interface ListenOnTls extends ListenAt {
  readonly certificate: CertificateSettings
  readonly oldestVersion: 'TLSv1.2' | 'TLSv1.3'
  /** A client's certificate counts before and after its dates too. */
  readonly skipsClientDates: boolean
}

export interface TlsParts {
  readonly clock: Clock
  readonly log: Log
}

/** Rejects LISTEN_FAILED, and as `certificateFiles` throws. */
export async function listenOnTls(at: ListenOnTls, door: Door, parts: TlsParts): Promise<MqttListener> {
  const files = certificateFiles(at.certificate)
  const listener = new TlsListener(at, door, files, parts.clock)
  await listener.open()
  listener.watch(files, parts)
  return listener
}

class TlsListener implements MqttListener {
  private readonly at: ListenOnTls
  private readonly door: Door
  private readonly clock: Clock
  /** Does not listen: it is handed each socket once there is room for its handshake. */
  private readonly tls: TlsServer
  private sockets: Sockets | undefined
  private readonly handshakes: Handshakes
  private certificateWatch: CertificateWatch | undefined

  constructor(at: ListenOnTls, door: Door, files: TlsFiles, clock: Clock) {
    this.at = at
    this.clock = clock
    this.door = door
    this.handshakes = new Handshakes(door)
    this.tls = createTlsServer(
      {
        ...this.contextOf(files),
        handshakeTimeout: door.limits.handshakeTimeoutMs,
        // Whose a certificate is, the store of devices knows: the handshake takes any, as long as the client has its key, and none.
        requestCert: true,
        rejectUnauthorized: false,
      },
      (socket) => this.complete(socket),
    )
    this.tls.on('tlsClientError', (_error, socket) => void socket.destroy())
  }

  get port(): number {
    return this.sockets?.port ?? 0
  }

  get onTheWay(): number {
    return this.handshakes.size
  }

  async open(): Promise<void> {
    const newServer = () => createTcpServer({ noDelay: true }, (socket) => this.begin(socket))
    this.sockets = await openSockets(newServer, this.at, this.door)
  }

  watch(files: CheckedFiles, { clock, log }: TlsParts): void {
    const { label, certificate: settings } = this.at
    const replace = (changed: TlsFiles) => this.tls.setSecureContext(this.contextOf(changed))
    this.certificateWatch = new CertificateWatch({ label, settings, files, replace, clock, log })
  }

  async close(): Promise<void> {
    this.certificateWatch?.close()
    const closed = this.sockets?.close()
    this.handshakes.close()
    await closed
  }

  private contextOf(files: TlsFiles) {
    return {
      ...pemOf(files),
      // None: else Node keeps the public authorities in memory, which vouch for no device.
      ca: [],
      minVersion: this.at.oldestVersion,
      secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    }
  }

  private begin(socket: Socket): void {
    if (this.handshakes.begin(socket)) this.tls.emit('connection', socket)
  }

  private complete(socket: TLSSocket): void {
    const raw = this.handshakes.complete(socket)
    // It lost its place meanwhile.
    if (raw === undefined) return void socket.destroy()
    const shown = shownCertificate(socket, this.at.skipsClientDates ? undefined : this.clock.now())
    if (shown === 'too large') return this.fail(socket)
    const session = attach(this.door, socket)
    if (session === undefined) return
    session.shown = shown
    if (raw.bytesRead <= MAX_HANDSHAKE_BYTES) return
    // It may be the first packets that came along: they are told apart once this read is decrypted.
    setImmediate(() => {
      if (raw.bytesRead - socket.bytesRead > MAX_HANDSHAKE_BYTES) this.fail(socket)
    })
  }

  private fail(socket: TLSSocket): void {
    this.door.counts.failedHandshakes++
    socket.destroy()
  }
}
