/**
 * Where a proxy that ends DTLS brings its clients: a Unix socket, which only the user of this process may open, so that what the proxy says of a
 * client is believed. A client is known by its channel; its answers go back the same way.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { errorText } from '../../../model/errors.ts'
import type { Log } from '../../../model/log.ts'
import type { PreSharedKey } from '../../../engine/device/gateway.ts'
import type { Peer } from '../message.ts'
import { ProxyErrors } from './errors.ts'
import { datagramFrame, FrameReader, keyFrame, type ProxyFrame } from './frames.ts'

export interface ProxyListenerOptions {
  /** Of the socket. */
  readonly path: string
  readonly label: string
  /** The setting that names the path: for refusals. */
  readonly setting: string
  readonly log: Log
  readonly received: (datagram: Buffer, peer: Peer) => void
  /** Of the device with this identity; undefined where there is none. */
  readonly findKey: (identity: string) => Promise<PreSharedKey | undefined>
}

/** Answers that wait for a slow proxy; over it they are lost, as on any way. */
const MAX_WAITING_BYTES = 8_388_608
/** Clients of one proxy; further ones are not heard. */
const MAX_CHANNELS = 1_000_000
/** Keys that are looked for at once for one proxy; strangers may name many. */
const MAX_KEY_REQUESTS = 256
/** Those that wait, as after a power cut all handshakes begin at once; over it the client must try again. */
const MAX_WAITING_KEY_BYTES = 1_048_576
/** What one that waits takes beside its letters. */
const WAITING_KEY_BYTES = 128
const OWNER_ONLY = 0o600

/** Undefined where the path is empty. */
export function proxyListener(
  path: string | undefined,
  options: Omit<ProxyListenerOptions, 'path'>,
): ProxyListener | undefined {
  return path === undefined || path === '' ? undefined : new ProxyListener({ ...options, path })
}

/** Both or none. Rejects LISTEN_FAILED. */
export async function listenWithProxies(
  socket: { listen(): Promise<void>; close(): Promise<void> },
  proxies: ProxyListener | undefined,
): Promise<void> {
  await socket.listen()
  try {
    await proxies?.listen()
  } catch (error) {
    await socket.close()
    throw error
  }
}

export class ProxyListener {
  private readonly options: ProxyListenerOptions
  private readonly server: Server
  private readonly links = new Set<Socket>()
  private opened = 0

  constructor(options: ProxyListenerOptions) {
    this.options = options
    this.server = createServer((socket) => this.serve(socket))
  }

  /** Rejects LISTEN_FAILED. */
  async listen(): Promise<void> {
    const { path, label, setting, log } = this.options
    try {
      await removeLeftOver(path)
      await new Promise<void>((resolve, reject) => {
        this.server.once('error', reject)
        this.server.listen(path, () => {
          this.server.removeListener('error', reject)
          this.server.on('error', (error) => log.error(`${label}: unexpected error`, { error: errorText(error) }))
          resolve()
        })
        chmodSync(path, OWNER_ONLY)
      })
    } catch (error) {
      this.server.close()
      throw ProxyErrors.LISTEN_FAILED({ label, path, setting, reason: errorText(error) }, error)
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    for (const socket of this.links) socket.destroy()
    if (!this.server.listening) return
    await new Promise<void>((resolve) => this.server.close(() => resolve()))
  }

  private serve(socket: Socket): void {
    const { log, label } = this.options
    const link = new ProxyLink(socket, ++this.opened, this.options)
    this.links.add(socket)
    socket.on('data', (chunk) => link.heard(chunk))
    socket.on('error', (error) => log.warn(`${label}: the DTLS proxy was lost`, { error: errorText(error) }))
    socket.on('close', () => this.links.delete(socket))
  }
}

type KeyRequest = Extract<ProxyFrame, { kind: 'key' }>

function bytesOf({ identity }: KeyRequest): number {
  return WAITING_KEY_BYTES + 2 * identity.length
}

class ProxyLink {
  private readonly socket: Socket
  private readonly number: number
  private readonly options: ProxyListenerOptions
  private readonly reader = new FrameReader()
  private readonly peers = new Map<number, Peer>()
  private keyRequests = 0
  private readonly waitingKeys: KeyRequest[] = []
  private waitingKeyBytes = 0
  /** It is told once, not of each stranger's handshake. */
  private areKeysAway = false

  constructor(socket: Socket, number: number, options: ProxyListenerOptions) {
    this.socket = socket
    this.number = number
    this.options = options
  }

  heard(chunk: Buffer): void {
    const { log, label } = this.options
    try {
      for (const frame of this.reader.read(chunk)) this.take(frame)
    } catch (error) {
      log.error(`${label}: the DTLS proxy is left`, { error: errorText(error) })
      this.socket.destroy()
    }
  }

  private take(frame: ProxyFrame): void {
    switch (frame.kind) {
      case 'open':
        return this.open(frame)
      case 'close':
        this.peers.delete(frame.channel)
        return
      case 'key':
        return this.findKey(frame)
      case 'datagram': {
        const peer = this.peers.get(frame.channel)
        if (peer !== undefined) this.options.received(Buffer.from(frame.bytes), peer)
      }
    }
  }

  private open({ channel, address, port, proven, handshake }: Extract<ProxyFrame, { kind: 'open' }>): void {
    if (this.peers.size >= MAX_CHANNELS && !this.peers.has(channel)) return
    const key = `dtls ${this.number} ${channel}`
    const reply = (datagram: Buffer): void => this.write(datagramFrame(channel, datagram))
    this.peers.set(channel, { address, port, key, proven, reply, ...(handshake === undefined ? {} : { handshake }) })
  }

  private findKey(asked: KeyRequest): void {
    if (this.keyRequests < MAX_KEY_REQUESTS) return this.lookForKey(asked)
    const bytes = bytesOf(asked)
    if (this.waitingKeyBytes + bytes > MAX_WAITING_KEY_BYTES) return
    this.waitingKeyBytes += bytes
    this.waitingKeys.push(asked)
  }

  private lookForKey({ request, identity }: KeyRequest): void {
    this.keyRequests++
    const { findKey, log, label } = this.options
    findKey(identity)
      .then(
        (found) => {
          this.areKeysAway = false
          this.write(keyFrame(request, found))
        },
        // The handshake goes on where the client tries again.
        (error: unknown) => {
          if (!this.areKeysAway) log.warn(`${label}: a key was not found`, { error: errorText(error) })
          this.areKeysAway = true
        },
      )
      .finally(() => {
        this.keyRequests--
        const next = this.socket.writable ? this.waitingKeys.shift() : undefined
        if (next === undefined) return
        this.waitingKeyBytes -= bytesOf(next)
        this.lookForKey(next)
      })
  }

  private write(frame: Buffer): void {
    if (this.socket.writable && this.socket.writableLength < MAX_WAITING_BYTES) this.socket.write(frame)
  }
}

/** A socket that a killed process left is in the way; one that answers is another server's. */
function removeLeftOver(path: string): Promise<void> {
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve()
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      // A file refuses like a socket that nobody listens at, and stays.
      if (error.code === 'ECONNREFUSED' && lstatSync(path).isSocket()) unlinkSync(path)
      resolve()
    })
  })
}
