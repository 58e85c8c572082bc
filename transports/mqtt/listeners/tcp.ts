/**
 * MQTT over TCP. Node accepts one connection of a listening socket in each turn of its loop. Where turns are long, devices that come again after a
 * stall were accepted more slowly than they gave up and tried anew: each was gone when its turn came, for minutes. So several sockets listen on
 * the port, and the system shares connections out to them.
 */
import { createServer, type Server } from 'node:net'
import { attach, listen, type Door, type ListenAt, type MqttListener } from './listener.ts'

/** So many connections are accepted in a turn. */
const SOCKETS = 16

/** Rejects LISTEN_FAILED. */
export async function listenOnTcp(at: ListenAt, door: Door): Promise<MqttListener> {
  const newServer = (): Server => createServer({ noDelay: true }, (socket) => void attach(door, socket))
  const { port, servers } = (await listenOnMany(newServer, at, door)) ?? (await listenOnOne(newServer, at, door))
  return {
    port,
    onTheWay: 0,
    close: async () => {
      await Promise.all(servers.map(closed))
    },
  }
}

interface Listening {
  readonly port: number
  readonly servers: readonly Server[]
}

async function listenOnOne(newServer: () => Server, at: ListenAt, door: Door): Promise<Listening> {
  const server = newServer()
  return { port: await listen(server, at, door), servers: [server] }
}

/** Undefined where the system lets no sockets share a port. Rejects where another process has it. */
async function listenOnMany(newServer: () => Server, at: ListenAt, door: Door): Promise<Listening | undefined> {
  if (process.platform !== 'linux') return undefined
  if (at.port !== 0) {
    // Sockets that share their port would share it with another process's too: one that does not finds out whether it is free.
    const { servers } = await listenOnOne(newServer, at, door)
    await Promise.all(servers.map(closed))
  }
  const servers: Server[] = []
  let { port } = at
  try {
    while (servers.length < SOCKETS) {
      const server = newServer()
      port = await listen(server, { ...at, port }, door, true)
      servers.push(server)
    }
    return { port, servers }
  } catch {
    await Promise.all(servers.map(closed))
    return undefined
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()))
}
