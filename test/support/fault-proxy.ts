/**
 * A TCP proxy that makes a network bad on purpose, in front of any server: slow, narrow, cut, silent or refusing, each
 * direction by itself and while connections are open. What is random in it comes from the seed.
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { CLEAR, FaultyFlow, type Weather } from './fault-flow.ts'
import { seededRandom } from './seeded-random.ts'
import { freePorts } from './servers/ports.ts'

export type Direction = 'toServer' | 'toClient'

export interface FaultProxyOptions {
  /** What it stands before: a URL or `host:port`. */
  readonly target: string
  readonly seed?: number
}

export interface FaultProxy {
  readonly port: number
  /** Connections open through it now. */
  readonly connections: number
  /** Bytes that came out of it since the start. */
  readonly carried: Readonly<Record<Direction, number>>
  /** The target's address with the proxy in the server's place, user, password and path kept. */
  readonly url: string
  /** Changes only what is named; open connections and new ones get it alike. */
  change(weather: Partial<Weather>, direction?: Direction): void
  /** Good weather again, new connections taken. Connections that swallowed bytes are reset: their stream has a hole. */
  heal(): Promise<void>
  /** Ends every open connection: RST (`reset`) or FIN with what is under way delivered (`finish`). */
  cut(kind: 'reset' | 'finish'): void
  /** Resets the connection over which the n-th byte from now goes in this direction, in the middle of what it carries. */
  cutAfter(bytes: number, direction: Direction): void
  /** New connections are refused; open ones stay. */
  refuse(): void
  close(): Promise<void>
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  for (let tries = 1; ; tries++) {
    const [port = 0] = await freePorts(1)
    const proxy = new TcpFaultProxy(options, port)
    try {
      await proxy.open()
      return proxy
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === 5) throw error // Somebody was faster.
    }
  }
}

interface Connection {
  readonly client: Socket
  readonly upstream: Socket
  readonly flows: Readonly<Record<Direction, FaultyFlow>>
  readonly over: Promise<void>
}

class TcpFaultProxy implements FaultProxy {
  readonly #target: URL
  readonly #scheme: boolean
  readonly #seed: number
  readonly #weather: Record<Direction, Weather> = { toServer: CLEAR, toClient: CLEAR }
  readonly #cutAt: Record<Direction, number> = { toServer: Infinity, toClient: Infinity }
  readonly #open = new Set<Connection>()
  readonly carried: Record<Direction, number> = { toServer: 0, toClient: 0 }
  readonly port: number
  #server: Server | undefined
  #flows = 0

  constructor({ target, seed = 1 }: FaultProxyOptions, port: number) {
    this.port = port
    this.#scheme = target.includes('://')
    this.#target = new URL(this.#scheme ? target : `tcp://${target}`)
    if (this.#target.port === '') throw new Error(`the target ${target} names no port`)
    this.#seed = seed
  }

  get connections(): number {
    return this.#open.size
  }

  get url(): string {
    if (!this.#scheme) return `127.0.0.1:${this.port}`
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String(this.port)
    return url.pathname === '/' ? url.href.replace(/\/$/, '') : url.href
  }

  async open(): Promise<void> {
    if (this.#server !== undefined) return
    const server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client))
    server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
  }

  change(weather: Partial<Weather>, direction?: Direction): void {
    for (const one of direction === undefined ? DIRECTIONS : [direction]) {
      this.#weather[one] = { ...this.#weather[one], ...weather }
    }
    for (const { flows } of this.#open) for (const one of DIRECTIONS) flows[one].weatherChanged()
  }

  async heal(): Promise<void> {
    for (const connection of this.#open) {
      if (DIRECTIONS.some((direction) => connection.flows[direction].hasHole)) reset(connection)
    }
    for (const direction of DIRECTIONS) this.#cutAt[direction] = Infinity
    this.change(CLEAR)
    await this.open()
  }

  cut(kind: 'reset' | 'finish'): void {
    for (const connection of this.#open) {
      if (kind === 'reset') reset(connection)
      else for (const direction of DIRECTIONS) connection.flows[direction].finish()
    }
  }

  cutAfter(bytes: number, direction: Direction): void {
    this.#cutAt[direction] = this.carried[direction] + bytes
  }

  refuse(): void {
    this.#server?.close()
    this.#server = undefined
  }

  async close(): Promise<void> {
    const ended = [...this.#open].map((connection) => connection.over)
    for (const connection of this.#open) reset(connection)
    const server = this.#server
    this.#server = undefined
    if (server !== undefined) {
      server.close()
      await once(server, 'close')
    }
    await Promise.all(ended)
  }

  #accept(client: Socket): void {
    const upstream = connect({ host: this.#target.hostname, port: Number(this.#target.port), allowHalfOpen: true })
    const flows = {
      toServer: this.#flow('toServer', client, upstream),
      toClient: this.#flow('toClient', upstream, client),
    }
    const over = Promise.all([client, upstream].map(closed)).then(() => {
      this.#open.delete(connection)
    })
    const connection: Connection = { client, upstream, flows, over }
    this.#open.add(connection)
    for (const [socket, other, flow, direction] of [
      [client, upstream, flows.toServer, 'toServer'],
      [upstream, client, flows.toClient, 'toClient'],
    ] as const) {
      socket.setNoDelay(true)
      socket.on('error', () => {
        const { stalled, swallowing } = this.#weather[direction]
        if (stalled || swallowing) flow.lost()
        else abort(other) // What one side meets, the other shall see.
      })
    }
  }

  #flow(direction: Direction, from: Socket, to: Socket): FaultyFlow {
    // Chance of its own for each flow: what one carries when must not change the pieces of another.
    const random = seededRandom(this.#seed * 65_536 + this.#flows++)
    return new FaultyFlow(from, to, {
      weather: () => this.#weather[direction],
      random: () => random.next(),
      allowed: (bytes) => {
        const left = this.#cutAt[direction] - this.carried[direction]
        const now = Math.min(bytes, left)
        this.carried[direction] += now
        return now
      },
      cut: () => {
        this.#cutAt[direction] = Infinity
        abort(from)
        abort(to)
      },
    })
  }
}

const DIRECTIONS = ['toServer', 'toClient'] as const

function reset({ client, upstream }: Connection): void {
  abort(client)
  abort(upstream)
}

/** RST where there is a connection to reset: none yet while it connects, none any more behind a FIN. */
function abort(socket: Socket): void {
  if (socket.connecting || socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
  })
}
