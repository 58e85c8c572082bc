/**
 * A background load: many devices over MQTT QoS 1 with several messages in flight hold a rate, or send as fast as they are acknowledged: one
 * value a message, or packs of them, as gateways and devices that were offline do. A value is sent once, as by any device of the campaign;
 * what has no PUBACK stays unknown, and so does a whole pack. Packets of its own: a client library would take the processor from the servers.
 * A device of which too much is acknowledged and has not run waits: a backlog that the world can not hold would take longer than the load.
 */
import { generate, parser } from 'mqtt-packet'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { bodyOf, packBodyOf, type Journal, type SentValue } from './journal.ts'
import { PATIENCE_MS, PAUSE_MS, type TransportAddress } from './steady-load.ts'

const IN_FLIGHT = 10
const TICK_MS = 10
/** What could not be sent in this time is not sent later: after an outage the rate is what it was. */
const LONGEST_DEBT_MS = 200
const TELEMETRY = 'v1/devices/me/telemetry'

/** Values a second of a device, by how many it puts in a message: small packs can not be as many values as large ones. */
export type Pace = ReadonlyMap<number, number>

export interface Rate {
  readonly valuesPerSecond: number
  readonly messagesPerSecond: number
}

/** What runs of what is acknowledged. */
export interface Progress {
  /** Runs of a device up to now. */
  ranOf(deviceId: string): number
  /** Values that a device may have sent, as far as it knows, and that have not run; by how many it puts in a message. */
  mostOpen(size: number): number
}

export interface PacedLoad {
  readonly journals: readonly Journal[]
  /** Sends nothing more; resolves when every value has its outcome. */
  end(): Promise<void>
}

/** Without a pace they send without a pause. */
export function startPacedLoad(
  journals: readonly Journal[],
  transports: readonly TransportAddress[],
  pace: Pace | undefined,
  progress: Progress = UNWATCHED,
): PacedLoad {
  const senders = journals.map((journal, index) => new Sender(journal, transports, index, pace, progress))
  let before = performance.now()
  const ticking = setInterval(() => {
    const now = performance.now()
    for (const sender of senders) sender.tick(now, Math.min(now - before, LONGEST_DEBT_MS))
    before = now
  }, TICK_MS)
  return {
    journals,
    end: async () => {
      for (const sender of senders) sender.stop()
      while (senders.some((sender) => !sender.isDone)) await delay(TICK_MS)
      clearInterval(ticking)
    },
  }
}

const UNWATCHED: Progress = { ranOf: () => 0, mostOpen: () => Infinity }

/** What devices offer together. */
export function rateOf(journals: readonly Journal[], pace: Pace): Rate {
  const sizes = journals.map(sizeOf)
  return {
    valuesPerSecond: sizes.reduce((sum, size) => sum + (pace.get(size) ?? 0), 0),
    messagesPerSecond: sizes.reduce((sum, size) => sum + (pace.get(size) ?? 0) / size, 0),
  }
}

/** Values that the device puts in a message. */
export function sizeOf({ device }: Journal): number {
  return device.packSize ?? 1
}

class Sender {
  readonly #journal: Journal
  readonly #transports: readonly TransportAddress[]
  /** By packet identifier. */
  readonly #inFlight = new Map<number, readonly SentValue[]>()
  readonly #size: number
  readonly #valuesPerMs: number
  #at: number
  #socket: Socket | undefined
  #isConnected = false
  #isStopped = false
  #mayConnectAt = 0
  readonly #progress: Progress
  /** Values that it may send now. */
  #credit = 0
  /** Values acknowledged. */
  #acknowledged = 0

  constructor(
    journal: Journal,
    transports: readonly TransportAddress[],
    place: number,
    pace: Pace | undefined,
    progress: Progress,
  ) {
    this.#journal = journal
    this.#progress = progress
    this.#size = sizeOf(journal)
    this.#valuesPerMs = pace === undefined ? Infinity : (pace.get(this.#size) ?? 0) / 1_000
    this.#transports = transports
    this.#at = place % transports.length
  }

  get isDone(): boolean {
    return this.#isStopped && this.#inFlight.size === 0
  }

  tick(now: number, elapsedMs: number): void {
    if (this.#socket === undefined) {
      if (!this.#isStopped && now >= this.#mayConnectAt) this.#connect(now)
      return
    }
    const [oldest] = this.#inFlight.values()
    const silentSince = oldest?.[0]?.sentAt ?? (this.#isConnected ? now : this.#mayConnectAt)
    if (now - silentSince > PATIENCE_MS) return this.#over(this.#socket)
    const credit = elapsedMs === 0 ? 0 : this.#valuesPerMs * elapsedMs
    this.#credit = Math.min(this.#credit + credit, Math.max(IN_FLIGHT * this.#size, credit))
    this.#fill()
  }

  stop(): void {
    this.#isStopped = true
    if (this.#inFlight.size === 0 && this.#socket !== undefined) this.#over(this.#socket)
  }

  #connect(now: number): void {
    const { mqttPort } = this.#transports[this.#at] ?? { mqttPort: 0 }
    const socket = connect({ host: '127.0.0.1', port: mqttPort, noDelay: true })
    this.#socket = socket
    this.#mayConnectAt = now
    const packets = parser({ protocolVersion: 4 })
    packets.on('packet', (packet) => {
      if (this.#socket !== socket) return
      if (packet.cmd === 'puback') this.#confirm(packet.messageId ?? 0)
      else if (packet.cmd === 'connack' && packet.returnCode === 0) this.#isConnected = true
      else socket.destroy()
    })
    packets.on('error', () => socket.destroy())
    socket.on('connect', () => {
      const { token } = this.#journal.device
      socket.write(generate({ cmd: 'connect', clientId: token, username: token, clean: true, keepalive: 0 }))
    })
    socket.on('data', (bytes: Buffer) => {
      packets.parse(bytes)
      if (this.#socket === socket) this.#fill()
    })
    socket.on('error', () => undefined) // Its close follows.
    socket.on('close', () => this.#over(socket))
  }

  /** What is in flight stays without an answer; what is sent next goes over another connection. */
  #over(socket: Socket): void {
    if (this.#socket !== socket) return
    this.#socket = undefined
    this.#isConnected = false
    this.#inFlight.clear()
    socket.destroy()
    this.#at = (this.#at + 1) % this.#transports.length
    this.#mayConnectAt = performance.now() + PAUSE_MS
    this.#journal.nextSession()
  }

  #fill(): void {
    const socket = this.#socket
    if (socket === undefined || !this.#isConnected || this.#isStopped) return
    socket.cork()
    while (this.#inFlight.size < IN_FLIGHT && this.#credit >= this.#size && this.#hasRoom()) {
      this.#credit -= this.#size
      const values = this.#journal.takePack(this.#size)
      const [first] = values
      if (first === undefined) break
      const messageId = (first.message % 65_535) + 1
      this.#inFlight.set(messageId, values)
      const { device } = this.#journal
      const payload = device.packSize === undefined ? bodyOf(device, first.value) : packBodyOf(device, values)
      socket.write(
        generate({ cmd: 'publish', topic: TELEMETRY, qos: 1, retain: false, dup: false, messageId, payload }),
      )
    }
    socket.uncork()
  }

  #hasRoom(): boolean {
    const open = this.#acknowledged + this.#inFlight.size * this.#size
    return open - this.#progress.ranOf(this.#journal.device.deviceId) < this.#progress.mostOpen(this.#size)
  }

  #confirm(messageId: number): void {
    const values = this.#inFlight.get(messageId)
    if (values === undefined) return
    this.#inFlight.delete(messageId)
    this.#acknowledged += values.length
    this.#journal.acknowledge(...values)
    if (this.#isStopped && this.#inFlight.size === 0 && this.#socket !== undefined) this.#over(this.#socket)
  }
}
