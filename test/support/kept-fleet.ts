/**
 * Devices with kept sessions that are cut off and come back without end, from a thread of their own: half of MQTT 5 with a session expiry, half of
 * 3.1.1 without a clean session; every second one leaves in order. Each subscribes anew, as most clients do, and acknowledges what it hears.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import mqttPacket from 'mqtt-packet'
import type { Packet } from 'mqtt-packet'
import { z } from 'zod'

const Orders = z.object({ ports: z.array(z.number()), devices: z.number(), reconnectsPerSecond: z.number() })
const { ports, devices, reconnectsPerSecond } = Orders.parse(workerData)
const TICK_MS = 20
/** A visit that takes longer is counted, and goes on. */
const LATE_MS = 10_000
const EXPIRY_SECONDS = 3600
const FILTERS = ['v1/devices/me/attributes', 'v1/devices/me/rpc/request/+']

const counts = { visits: 0, begun: 0, absent: 0, subscribed: 0, heard: 0, late: 0, broken: 0 }

class Device {
  readonly number: number
  readonly version: 4 | 5
  isVisiting = false
  /** The newest that it heard. */
  target = 0
  private visits = 0

  constructor(number: number) {
    this.number = number
    this.version = number % 2 === 0 ? 5 : 4
  }

  /** Comes, is told what it missed, and goes. Resolves once it is gone. */
  async visit(untilTarget = 0): Promise<void> {
    this.isVisiting = true
    const isFirst = this.visits++ === 0
    const began = performance.now()
    const socket = connect({ port: ports[this.visits % ports.length] ?? 0, host: '127.0.0.1', noDelay: true })
    await new Promise<void>((resolve) => {
      socket.on('close', resolve)
      socket.on('error', () => counts.broken++)
      const parser = mqttPacket.parser({ protocolVersion: this.version })
      parser.on('packet', (packet) => this.hear(socket, packet, isFirst, untilTarget))
      socket.on('data', (bytes: Buffer) => parser.parse(bytes))
      this.say(socket, {
        ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: this.version, clean: false, keepalive: 60 },
        ...{ clientId: `kept ${this.number}`, username: `KEPT_${this.number}` },
        ...(this.version === 5 ? { properties: { sessionExpiryInterval: EXPIRY_SECONDS } } : {}),
      })
    })
    if (performance.now() - began > LATE_MS) counts.late++
    counts.visits++
    this.isVisiting = false
  }

  private hear(socket: Socket, packet: Packet, isFirst: boolean, untilTarget: number): void {
    if (packet.cmd === 'connack') {
      if (isFirst) counts.begun++
      else if (!packet.sessionPresent) counts.absent++
      const subscriptions = FILTERS.map((topic) => ({ topic, qos: 1 as const }))
      this.say(socket, { cmd: 'subscribe', messageId: 1, subscriptions })
    } else if (packet.cmd === 'suback') {
      counts.subscribed++
      if (this.target >= untilTarget) this.leave(socket)
    } else if (packet.cmd === 'publish') {
      counts.heard++
      const target = /"target":(\d+)/.exec(packet.payload.toString())?.[1]
      this.target = Math.max(this.target, Number(target ?? 0))
      this.say(socket, { cmd: 'puback', messageId: packet.messageId ?? 0 })
      if (untilTarget > 0 && this.target >= untilTarget) this.leave(socket)
    }
  }

  private leave(socket: Socket): void {
    if (this.visits % 2 === 0) socket.destroy()
    else {
      this.say(socket, { cmd: 'disconnect' })
      socket.end()
    }
  }

  private say(socket: Socket, packet: Packet): void {
    if (socket.writable) socket.write(mqttPacket.generate(packet, { protocolVersion: this.version }))
  }
}

const fleet = Array.from({ length: devices }, (_, number) => new Device(number))
let isOver = false
let next = 0

async function storm(): Promise<void> {
  const began = performance.now()
  let asked = 0
  while (!isOver) {
    const due = ((performance.now() - began) / 1000) * reconnectsPerSecond
    // One that is still there is not there twice.
    for (let tries = 0; asked < due && tries < devices; tries++) {
      const device = fleet[next++ % devices]
      if (device === undefined || device.isVisiting) continue
      asked++
      void device.visit()
    }
    await delay(TICK_MS)
  }
}

/** Each once more, until it has heard that. */
async function last(target: number): Promise<void> {
  for (const device of fleet) {
    while (device.isVisiting) await delay(TICK_MS)
    await device.visit(target)
  }
}

parentPort?.on('message', (order: 'begin' | 'end' | number) => {
  if (order === 'begin') void storm()
  else if (order === 'end') {
    isOver = true
    parentPort?.postMessage({ ...counts })
  } else
    void last(order).then(() => {
      parentPort?.postMessage({ ...counts, targets: fleet.map(({ target }) => target) })
    })
})
