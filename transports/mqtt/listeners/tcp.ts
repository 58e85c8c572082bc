/** MQTT over TCP. */
import { createServer } from 'node:net'
import { attach, listen, type Door, type ListenAt, type MqttListener } from './listener.ts'

/** Rejects LISTEN_FAILED. */
export async function listenOnTcp(at: ListenAt, door: Door): Promise<MqttListener> {
  const server = createServer({ noDelay: true }, (socket) => void attach(door, socket))
  const port = await listen(server, at, door)
  return {
    port,
    onTheWay: 0,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
