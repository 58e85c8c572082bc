/** For the tests of MQTT: a client that writes and reads raw bytes, so that a test sees what is on the wire, and when. */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { once } from 'node:events'
import mqttPacket from 'mqtt-packet'
import type { IConnectPacket, IPublishPacket, Packet } from 'mqtt-packet'
import type { KeptSessionStore } from '../../engine/device/gateway.ts'
import { FakeGateway, StandingClock, recordingLog } from '../testkit.ts'
import type { MqttLimits } from './limits.ts'
import { startMqttTransport, type MqttTransport } from './server.ts'

export class RawClient<Stream extends Duplex = Socket> {
  readonly socket: Stream
  /** What came, one array of packets a read of the socket. */
  readonly reads: Packet[][] = []
  readonly packets: Packet[] = []
  private readonly changed = new Set<() => void>()
  private readonly protocolVersion: 3 | 4 | 5
  closed = false

  private constructor(socket: Stream, protocolVersion: 3 | 4 | 5) {
    this.socket = socket
    this.protocolVersion = protocolVersion
    const parser = mqttPacket.parser({ protocolVersion })
    let read: Packet[] = []
    parser.on('packet', (packet) => read.push(packet))
    socket.on('data', (chunk: Buffer) => {
      read = []
      parser.parse(chunk)
      this.reads.push(read)
      this.packets.push(...read)
      this.tell()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.closed = true
      this.tell()
    })
  }

  static async open(port: number, protocolVersion: 3 | 4 | 5 = 4): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new RawClient(socket, protocolVersion)
  }

  /** Over a socket, or what is like one, that is connected. */
  static over<Stream extends Duplex>(socket: Stream, protocolVersion: 3 | 4 | 5 = 4): RawClient<Stream> {
    return new RawClient(socket, protocolVersion)
  }

  bytes(packet: Packet): Buffer {
    return mqttPacket.generate(packet, { protocolVersion: this.protocolVersion })
  }

  send(...packets: readonly Packet[]): void {
    this.socket.write(Buffer.concat(packets.map((packet) => this.bytes(packet))))
  }

  connectPacket(token: string | undefined, change: Partial<IConnectPacket> = {}): IConnectPacket {
    return {
      cmd: 'connect',
      protocolId: this.protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
      protocolVersion: this.protocolVersion,
      clean: true,
      clientId: 'raw',
      keepalive: 60,
      ...(token === undefined ? {} : { username: token }),
      ...change,
    }
  }

  /** Connects as a device and takes its CONNACK away. */
  async login(token: string, change: Partial<IConnectPacket> = {}): Promise<void> {
    this.send(this.connectPacket(token, change))
    await this.received(1)
    this.packets.length = 0
    this.reads.length = 0
  }

  publish(topic: string, payload: string, messageId?: number): IPublishPacket {
    return {
      cmd: 'publish',
      topic,
      payload,
      qos: messageId === undefined ? 0 : 1,
      dup: false,
      retain: false,
      ...(messageId === undefined ? {} : { messageId }),
    }
  }

  /** Resolves once so many packets have come in all; rejects when the connection closes before. */
  async received(count: number): Promise<readonly Packet[]> {
    while (this.packets.length < count) {
      if (this.closed) throw new Error(`closed after ${this.packets.length} of ${count} packets`)
      await this.change()
    }
    return this.packets
  }

  async end(): Promise<void> {
    while (!this.closed) await this.change()
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      const heard = () => {
        this.changed.delete(heard)
        resolve()
      }
      this.changed.add(heard)
    })
  }

  private tell(): void {
    for (const listener of [...this.changed]) listener()
  }
}

export const PLAIN = {
  label: 'MQTT',
  address: '127.0.0.1',
  addressName: 'MQTT_BIND_ADDRESS',
  port: 0,
  portName: 'MQTT_BIND_PORT',
}

export interface MqttBench {
  readonly gateway: FakeGateway
  readonly clock: StandingClock
  readonly transport: MqttTransport
  readonly logged: string[]
  readonly client: (version?: 3 | 4 | 5) => Promise<RawClient>
  readonly close: () => Promise<void>
}

/** An MQTT transport over a platform with the devices `one`, `two`, and `foreign` of another tenant. */
export async function openMqttBench(
  limits: Partial<MqttLimits> = {},
  keptSessions?: KeptSessionStore,
): Promise<MqttBench> {
  const gateway = new FakeGateway(['one', 'two', 'foreign', 'gateway'])
  gateway.keptSessions = keptSessions
  const clock = new StandingClock()
  const logged: string[] = []
  const transport = await startMqttTransport({
    gateway,
    plain: PLAIN,
    limits,
    clock,
    log: recordingLog(logged),
  })
  const clients: RawClient[] = []
  return {
    gateway,
    clock,
    transport,
    logged,
    async client(version = 4) {
      const client = await RawClient.open(transport.ports['mqtt'] ?? 0, version)
      clients.push(client)
      return client
    },
    async close() {
      for (const client of clients) client.socket.destroy()
      await transport.close()
    },
  }
}
