/**
 * Processes that are about to listen on the same port, one after the other. Whose turn it is listens under a name in the system's abstract
 * namespace, which one socket has at a time and which goes with its process; the others are connected to it, and hear of its end by that.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A turn takes milliseconds. */
const PATIENCE_MS = 10_000
/** So many others may be before it. */
const MAX_TURNS = 100

/** Rejects where the turn does not come, and with what `run` rejects. Where the system has no such names, as before Linux 2.2 or Node 20.8, nobody waits. */
export async function oneAtATime<Result>(port: number, run: () => Promise<Result>): Promise<Result> {
  const end = await turn(`\0millrace mqtt ${port}`)
  try {
    return await run()
  } finally {
    end()
  }
}

async function turn(name: string): Promise<() => void> {
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    const end = await begin(name)
    if (end !== undefined) return end
    await endOfAnother(name)
    // One that was stopped between taking the name and listening under it refuses at once.
    await pause(turns)
  }
  throw new Error('other processes are about to listen on the port')
}

/** Returns how to end it; undefined while it is another's. */
async function begin(name: string): Promise<(() => void) | undefined> {
  const waiting = new Set<Socket>()
  const server = createServer((socket) => {
    waiting.add(socket)
    socket.on('error', () => undefined)
  })
  try {
    await once(server.listen(name), 'listening')
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' ? undefined : () => undefined
  }
  return () => {
    server.close()
    for (const socket of waiting) socket.destroy()
  }
}

async function endOfAnother(name: string): Promise<void> {
  let isLate = false
  const socket = connect(name)
  socket.setTimeout(PATIENCE_MS, () => {
    isLate = true
    socket.destroy()
  })
  // Refused: it has ended already.
  socket.on('error', () => undefined)
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  if (isLate) throw new Error('another process is about to listen on the port and does not come to an end')
}
