/** MQTT over TCP. */
import { createServer, type Server } from 'node:net'
import { attach, type Door, type ListenAt, type MqttListener } from './listener.ts'
import { readShared } from './shared-reads.ts'
import { openSockets } from './sockets.ts'

/** Rejects LISTEN_FAILED. */
export async function listenOnTcp(at: ListenAt, door: Door): Promise<MqttListener> {
  const newServer = (): Server =>
    createServer({ noDelay: true }, (socket) => {
      readShared(socket)
      attach(door, socket)
    })
  return { ...(await openSockets(newServer, at, door)), onTheWay: 0 }
}
