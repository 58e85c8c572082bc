/**
 * A device over MQTT QoS 1 that sends numbered values, several in flight, and after each reconnect sends what has no PUBACK again, with
 * DUP, in its old order. It knows how often it sent each value. Its own few packets: the client library resends without DUP.
 */
import { generate, parser } from 'mqtt-packet'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const IN_FLIGHT = 8
const TELEMETRY = 'v1/devices/me/telemetry'
/**
 * Between two values of a device, so that a kill meets what is under way, and a lane keeps up though it pauses for seconds at each failed
 * value: lanes that do not are parked, and come back a few messages at a time.
 */
const PACE_MS = 100
const BEFORE_RECONNECT_MS = 50

export interface ResendingDeviceOptions {
  readonly deviceId: string
  readonly token: string
  readonly port: number
  readonly bodyOf: (value: number) => string
}

export class ResendingDevice {
  readonly deviceId: string
  readonly acknowledged = new Set<number>()
  /** PUBLISH packets with DUP. */
  resends = 0
  readonly #options: ResendingDeviceOptions
  readonly #timesSent = new Map<number, number>()
  /** In the order of sending. */
  readonly #inFlight = new Set<number>()
  #socket: Socket | undefined
  #isConnected = false
  #isSending = true
  #isClosed = false
  #next = 1

  constructor(options: ResendingDeviceOptions) {
    this.#options = options
    this.deviceId = options.deviceId
    this.#connect()
  }

  timesSent(value: number): number {
    return this.#timesSent.get(value) ?? 0
  }

  /** Takes the connection away under what is in flight. */
  cut(): void {
    this.#socket?.destroy()
  }

  /** Sends nothing new; resolves when everything is acknowledged. */
  async settle(): Promise<void> {
    this.#isSending = false
    while (this.#inFlight.size > 0) await delay(10)
  }

  /** One value more; resolves when it is acknowledged. */
  async sendOne(): Promise<void> {
    while (!this.#isConnected) await delay(10)
    this.#send(this.#next++)
    await this.settle()
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.destroy()
  }

  #connect(): void {
    const socket = connect({ host: '127.0.0.1', port: this.#options.port })
    this.#socket = socket
    const packets = parser({ protocolVersion: 4 })
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connack') this.#begin()
      else if (packet.cmd === 'puback') this.#confirm(packet.messageId ?? 0)
    })
    socket.on('connect', () => {
      const { token } = this.#options
      socket.write(generate({ cmd: 'connect', clientId: token, username: token, clean: true, keepalive: 0 }))
    })
    socket.on('data', (bytes: Buffer) => packets.parse(bytes))
    socket.on('error', () => undefined) // Its close follows.
    socket.on('close', () => {
      this.#isConnected = false
      if (!this.#isClosed) setTimeout(() => this.#connect(), BEFORE_RECONNECT_MS).unref()
    })
  }

  #begin(): void {
    this.#isConnected = true
    for (const value of this.#inFlight) this.#write(value)
    this.#fill()
  }

  #fill(): void {
    while (this.#isSending && this.#isConnected && this.#inFlight.size < IN_FLIGHT) this.#send(this.#next++)
  }

  #send(value: number): void {
    this.#inFlight.add(value)
    this.#write(value)
  }

  #write(value: number): void {
    const times = this.timesSent(value)
    this.#timesSent.set(value, times + 1)
    if (times > 0) this.resends++
    const payload = this.#options.bodyOf(value)
    const messageId = messageIdOf(value)
    const dup = times > 0
    this.#socket?.write(generate({ cmd: 'publish', topic: TELEMETRY, qos: 1, retain: false, dup, messageId, payload }))
  }

  #confirm(messageId: number): void {
    for (const value of this.#inFlight) {
      if (messageIdOf(value) !== messageId) continue
      this.#inFlight.delete(value)
      this.acknowledged.add(value)
    }
    setTimeout(() => this.#fill(), PACE_MS).unref()
  }
}

function messageIdOf(value: number): number {
  return (value % 65_535) + 1
}
