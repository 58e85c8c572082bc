/**
 * Sockets that listen on one port together. Node accepts one connection of a listening socket in each turn of its loop. Where turns are long,
 * devices that come again after a stall were accepted more slowly than they gave up and tried anew: each was gone when its turn came, for minutes.
 * So several sockets listen on the port, and the system shares connections out to them.
 */
import type { Server } from 'node:net'
import { errorText, isMillraceError } from '../../../model/errors.ts'
import { MqttErrors } from '../errors.ts'
import { listen, type Door, type ListenAt } from './listener.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** So many connections are accepted in a turn. */
const SOCKETS = 16

export interface Sockets {
  /** The real one. */
  readonly port: number
  /** Takes in nobody more. Resolves once all their connections are closed. */
  close(): Promise<void>
}

/** Rejects LISTEN_FAILED. */
export async function openSockets(newServer: () => Server, at: ListenAt, door: Door): Promise<Sockets> {
  const { port, servers } = (await listenOnMany(newServer, at, door)) ?? (await listenOnOne(newServer, at, door))
  return { port, close: () => closeAll(servers) }
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
  if (at.port === 0) return shareOut(newServer, at, door)
  try {
    return await oneAtATime(at.port, async () => {
      // Sockets that share their port would share it with another process's too: one that does not finds out whether it is free.
      const { servers } = await listenOnOne(newServer, at, door)
      await closeAll(servers)
      return await shareOut(newServer, at, door)
    })
  } catch (error) {
    if (isMillraceError(error)) throw error
    throw MqttErrors.LISTEN_FAILED({ ...at, reason: errorText(error) }, error)
  }
}

/** Undefined where the sockets may not share it. */
async function shareOut(newServer: () => Server, at: ListenAt, door: Door): Promise<Listening | undefined> {
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
    await closeAll(servers)
    return undefined
  }
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(closed))
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()))
}
