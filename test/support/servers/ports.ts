/** Free loopback ports for servers that cannot be told "any port" because they must come back on the same one. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the range that the system gives to outgoing connections (32768 and up on Linux): nothing takes such a port by
 * chance while its server is down.
 */
const LOWEST = 20_000
const HIGHEST = 32_000

/** Ports nobody listened on a moment ago; another process may still be faster, so starting on them is tried again. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 1_000) throw new Error(`no ${count} free ports between ${LOWEST} and ${HIGHEST}`)
    const port = randomInt(LOWEST, HIGHEST)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

/** Whether nobody listens on this loopback port now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true })
    await once(server, 'listening')
  } catch {
    return false // In use, or not ours to bind: either way another one is taken.
  }
  server.close()
  await once(server, 'close')
  return true
}
