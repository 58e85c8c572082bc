/** Where connections come in, and what takes them: whatever carries them, they are one server's sessions and share its bounds. */
import type { Socket } from 'node:net'
import type { Server } from 'node:net'
import type { Listener } from '../../define-transport.ts'
import { MqttErrors } from '../errors.ts'
import type { ByteStream, MqttCounts } from '../connection.ts'
import type { MqttLimits } from '../limits.ts'
import type { MqttSession } from '../session.ts'

/** The server as its listeners see it. */
export interface Door {
  readonly limits: MqttLimits
  readonly counts: MqttCounts
  /** Whether one more may come from the address while so many are on their way in; counted where not. */
  hasRoom(onTheWay: number, address: string | undefined): boolean
  /** Undefined where there is no room: the stream is destroyed already. */
  accept(stream: ByteStream): MqttSession | undefined
  /** A server's own trouble, once it listens. */
  unexpected(error: unknown): void
}

export type ListenAt = Pick<Listener, 'label' | 'address' | 'addressName' | 'port' | 'portName'>

export interface MqttListener {
  /** The real one. */
  readonly port: number
  /** Sessions that are not known yet; they are in no other count. */
  readonly onTheWay: number
  /** Takes in nobody more. Resolves once all its connections are closed. */
  close(): Promise<void>
}

/** Resolves with the real port, which `reusePort` shares with other sockets. Rejects LISTEN_FAILED. */
export function listen(server: Server, at: ListenAt, door: Door, reusePort = false): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(MqttErrors.LISTEN_FAILED({ ...at, reason: error.message }, error))
    server.once('error', failed)
    server.listen({ port: at.port, host: at.address, reusePort }, () => {
      server.removeListener('error', failed)
      server.on('error', (error) => door.unexpected(error))
      const bound = server.address()
      resolve(typeof bound === 'object' && bound !== null ? bound.port : at.port)
    })
  })
}

/** A socket and its session know each other without a closure. */
interface SessionSocket extends Socket {
  mqttSession?: MqttSession | undefined
}

/** Hands a socket to the server, and what it says to its session. */
export function attach(door: Door, socket: SessionSocket): MqttSession | undefined {
  const session = door.accept(socket)
  if (session === undefined) return undefined
  socket.mqttSession = session
  socket.on('data', dataReceived)
  socket.on('error', socketFailed)
  socket.on('close', socketClosed)
  return session
}

function dataReceived(this: SessionSocket, chunk: Buffer): void {
  this.mqttSession?.received(chunk)
}

/** A reset or a broken pipe: 'close' follows and does the rest. */
function socketFailed(): void {}

function socketClosed(this: SessionSocket): void {
  const session = this.mqttSession
  this.mqttSession = undefined
  session?.gone()
}
