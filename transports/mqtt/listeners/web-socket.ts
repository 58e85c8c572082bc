/**
 * MQTT over WebSocket (MQTT 5, 6; the same in 3.1.1), for browsers: binary messages at `/mqtt` under the subprotocol `mqtt`, cut anywhere. On a
 * port of its own: the HTTP server's WebSockets can not be paused, and a session that waits for room must slow its client down.
 *
 * The origin is not looked at: a page has nothing here without a device's credentials, and browsers send none of themselves.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { malformed } from '../codec.ts'
import type { ByteStream } from '../connection.ts'
import type { MqttSession } from '../session.ts'
import { Handshakes } from './handshakes.ts'
import type { Door, ListenAt, MqttListener } from './listener.ts'
import { openSockets, type Sockets } from './sockets.ts'

const PATH = '/mqtt'
const SUBPROTOCOL = 'mqtt'
/** A message may carry several packets: clients write what has gathered in one. */
const PACKETS_PER_MESSAGE = 4
/** Pieces of one message: each costs more than its bytes. */
const MAX_FRAGMENTS = 1024
/** Reads of the socket for one message: `ws` keeps each as a buffer until the message is whole, a byte of it as some hundred. */
const MAX_READS = 4096
const MAX_HEADER_BYTES = 8192
const UNSUPPORTED_DATA = 1003
const LOOK_MS = 1000

/** Rejects LISTEN_FAILED. */
export async function listenOnWebSocket(at: ListenAt, door: Door): Promise<MqttListener> {
  const listener = new WebSocketListener(door)
  await listener.open(at)
  return listener
}

class WebSocketListener implements MqttListener {
  private readonly door: Door
  private readonly webSockets: WebSocketServer
  private readonly handshakes: Handshakes
  private sockets: Sockets | undefined

  constructor(door: Door) {
    const { maxPacketBytes } = door.limits
    this.door = door
    this.handshakes = new Handshakes(door)
    this.webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxPacketBytes * PACKETS_PER_MESSAGE,
      maxFragments: MAX_FRAGMENTS,
      // Answered below, within bounds.
      autoPong: false,
      handleProtocols: () => SUBPROTOCOL,
    })
  }

  get port(): number {
    return this.sockets?.port ?? 0
  }

  get onTheWay(): number {
    return this.handshakes.size
  }

  async open(at: ListenAt): Promise<void> {
    this.sockets = await openSockets(() => this.newServer(), at, this.door)
  }

  async close(): Promise<void> {
    const closed = this.sockets?.close()
    this.handshakes.close()
    await closed
  }

  private newServer(): Server {
    const { handshakeTimeoutMs } = this.door.limits
    const server = createServer(
      {
        headersTimeout: handshakeTimeoutMs,
        requestTimeout: handshakeTimeoutMs,
        connectionsCheckingInterval: Math.min(LOOK_MS, handshakeTimeoutMs),
        maxHeaderSize: MAX_HEADER_BYTES,
        noDelay: true,
      },
      (_request, response) => {
        response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end()
      },
    )
    server.on('connection', (socket) => void this.handshakes.begin(socket))
    return server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head))
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const [path] = (request.url ?? '').split('?')
    if (path !== PATH) return refuse(socket, '404 Not Found')
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',')
    if (!offered.some((name) => name.trim() === SUBPROTOCOL)) return refuse(socket, '400 Bad Request')
    // Its own refusals (version, key) close the socket, which counts as all failed handshakes do.
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (this.handshakes.complete(request.socket) === undefined) webSocket.terminate()
      else attachWebSocket(this.door, webSocket, request.socket)
    })
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.on('error', () => undefined)
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

function attachWebSocket(door: Door, webSocket: WebSocket, socket: Socket): void {
  const stream = new WebSocketStream(webSocket, socket)
  const session = door.accept(stream)
  if (session === undefined) return
  let reads = 0
  socket.on('data', () => {
    if (++reads > MAX_READS) webSocket.terminate()
  })
  webSocket.on('message', (data, isBinary) => {
    reads = 0
    if (isBinary && Buffer.isBuffer(data)) stream.gather(session, data)
    else stream.violated(session, UNSUPPORTED_DATA)
  })
  webSocket.on('ping', (data) => {
    if (stream.writableLength > door.limits.maxPendingBytes) stream.destroy()
    else webSocket.pong(data)
  })
  // A frame that is none, or too large: `ws` has said so already.
  webSocket.on('error', () => stream.violated(session, undefined))
  webSocket.on('close', () => session.gone())
}

class WebSocketStream implements ByteStream {
  private readonly webSocket: WebSocket
  private readonly socket: Socket
  private gathered: Buffer[] | undefined
  private closeCode: number | undefined

  constructor(webSocket: WebSocket, socket: Socket) {
    this.webSocket = webSocket
    this.socket = socket
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress
  }

  get writableLength(): number {
    return this.webSocket.bufferedAmount
  }

  /** All messages of one read are handed over at once: a packet in many small ones is not copied with each of them. */
  gather(session: MqttSession, data: Buffer): void {
    if (this.gathered !== undefined) {
      this.gathered.push(data)
      return
    }
    const gathered = [data]
    this.gathered = gathered
    process.nextTick(() => {
      this.gathered = undefined
      session.received(gathered.length === 1 ? data : Buffer.concat(gathered))
    })
  }

  /** `code` of the closing frame; undefined where it was sent. */
  violated(session: MqttSession, code: number | undefined): void {
    this.closeCode = code
    session.violated(malformed('not a binary message'))
  }

  write(bytes: Buffer, written?: () => void): void {
    this.webSocket.send(bytes, () => written?.())
  }

  end(): void {
    this.webSocket.close(this.closeCode)
  }

  destroy(): void {
    this.webSocket.terminate()
  }

  pause(): void {
    this.webSocket.pause()
  }

  resume(): void {
    this.webSocket.resume()
  }
}
