/** WebSocket connections over uWebSockets.js. */
import type { WebSocketConnection, WebSocketHandler, WebSocketOptions } from './http-server.ts'
import type { UwsBehavior, UwsWebSocket } from './uws-binding.ts'

const DROPPED = 2

/** uWebSockets copies the members of its user data onto the socket: an object of a class must stand behind a member. */
interface SocketData {
  readonly connection: UwsConnection
}

class UwsConnection implements WebSocketConnection {
  readonly path: string
  readonly query: string
  private socket: UwsWebSocket<SocketData> | undefined

  constructor(path: string, query: string) {
    this.path = path
    this.query = query
  }

  get open(): boolean {
    return this.socket !== undefined
  }

  get pendingBytes(): number {
    return this.socket?.getBufferedAmount() ?? 0
  }

  send(text: string): boolean {
    return this.socket !== undefined && this.socket.send(text, false) !== DROPPED
  }

  ping(): void {
    this.socket?.ping()
  }

  close(code: number, reason: string): void {
    // A close frame carries at most 123 bytes of reason (RFC 6455 section 5.5).
    this.socket?.end(
      code,
      Buffer.from(reason)
        .subarray(0, 123)
        .toString('utf8')
        .replace(/\uFFFD$/, ''),
    )
  }

  attach(socket: UwsWebSocket<SocketData>): void {
    this.socket = socket
  }

  detach(): void {
    this.socket = undefined
  }
}

export function webSocketBehavior(handler: WebSocketHandler, options: WebSocketOptions): UwsBehavior<SocketData> {
  return {
    // uWebSockets cuts the connection without a close code when its own limit is passed: leave room to say 1009 first.
    maxPayloadLength: options.maxMessageBytes * 4,
    maxBackpressure: options.maxPendingBytes,
    // The session pings and gives up by its own clock.
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade(response, request, context) {
      response.upgrade(
        { connection: new UwsConnection(request.getUrl(), request.getQuery() ?? '') },
        request.getHeader('sec-websocket-key'),
        request.getHeader('sec-websocket-protocol'),
        request.getHeader('sec-websocket-extensions'),
        context,
      )
    },
    open(socket) {
      const { connection } = socket.getUserData()
      connection.attach(socket)
      handler.opened(connection, connection.path, connection.query)
    },
    message(socket, message, isBinary) {
      const { connection } = socket.getUserData()
      if (message.byteLength > options.maxMessageBytes) {
        connection.close(
          1009,
          `a message of ${message.byteLength} bytes, at most ${options.maxMessageBytes} are allowed`,
        )
        return
      }
      handler.message(connection, isBinary ? undefined : Buffer.from(message).toString('utf8'))
    },
    drain(socket) {
      handler.drained(socket.getUserData().connection)
    },
    close(socket, code) {
      const { connection } = socket.getUserData()
      connection.detach()
      handler.closed(connection, code)
    },
    pong(socket) {
      handler.pong(socket.getUserData().connection)
    },
  }
}
