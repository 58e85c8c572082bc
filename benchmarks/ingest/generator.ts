/**
 * Closed-loop load from a process of its own, over raw sockets: 3-key payloads with explicit times that never repeat on a device.
 * Arguments as JSON in argv[2]; prints one line of JSON. The least a client can do, since it shares the server's cores.
 */
import { createHistogram } from 'node:perf_hooks'
import { connect, type Socket } from 'node:net'
import { jsonOf, protobufOf } from './payload.ts'

export interface GeneratorOptions {
  readonly protocol: 'http' | 'mqtt'
  readonly port: number
  readonly tokens: readonly string[]
  /** Requests that one device has under way at a time (HTTP: 1). */
  readonly window: number
  /** Each connection is a gateway that names one of these in each publish, in turn. Absent: a device for itself. */
  readonly children?: readonly string[]
  /** In the schema of `payload.ts`; absent: JSON. */
  readonly encoding?: 'protobuf'
  readonly seconds: number
  /** The time of each device's first message, Unix ms; each further one is 1 ms later. Absent: a day ago. */
  readonly firstTime?: number
}

export interface GeneratorResult {
  /** All of them, and of each device in the order of the tokens. */
  readonly acknowledged: number
  readonly acknowledgedOf: readonly number[]
  /** When the first message was sent, Unix ms of this machine's clock. */
  readonly beganAt: number
  readonly failed: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const histogram = createHistogram()
let acknowledged = 0
let failed = 0

/** One device on one connection: sends what its window allows, counts what is acknowledged. */
abstract class Device {
  protected readonly socket: Socket
  private readonly sentAt: number[] = []
  private readonly window: number
  private readonly encoding: GeneratorOptions['encoding']
  private time: number
  stopped = false
  /** What was answered well. */
  good = 0
  done: () => void = () => undefined

  constructor({ port, window, firstTime, encoding }: GeneratorOptions) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.window = window
    this.encoding = encoding
    this.time = firstTime ?? Date.now() - 86_400_000
  }

  /** Resolves once requests may be sent. */
  abstract ready(): Promise<void>
  protected abstract request(body: string): Buffer

  send(count: number): void {
    const requests: Buffer[] = []
    for (let index = 0; index < count; index++) {
      const time = this.time++
      requests.push(this.request(this.encoding === 'protobuf' ? protobufOf(time) : this.bodyOf(jsonOf(time))))
      this.sentAt.push(performance.now())
    }
    this.socket.write(requests.length === 1 && requests[0] !== undefined ? requests[0] : Buffer.concat(requests))
  }

  protected bodyOf(point: string): string {
    return point
  }

  start(): void {
    this.send(this.window)
  }

  protected answered(good: number, bad: number): void {
    const now = performance.now()
    for (let index = 0; index < good + bad; index++) {
      const sent = this.sentAt.shift()
      if (sent !== undefined) histogram.record(Math.max(1, Math.round((now - sent) * 1e6)))
    }
    acknowledged += good
    this.good += good
    failed += bad
    if (!this.stopped) this.send(good + bad)
    else if (this.sentAt.length === 0) this.done()
  }

  close(): void {
    this.socket.destroy()
  }
}

class HttpDevice extends Device {
  private readonly head: string

  constructor(options: GeneratorOptions, token: string) {
    super({ ...options, window: 1 })
    this.head = `POST /api/v1/${token}/telemetry HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: `
  }

  async ready(): Promise<void> {
    await new Promise((resolve) => this.socket.once('connect', resolve))
    this.socket.on('data', (data) => {
      const good = data.includes(' 200 ')
      this.answered(good ? 1 : 0, good ? 0 : 1)
    })
  }

  protected request(body: string): Buffer {
    return Buffer.from(`${this.head}${body.length}\r\n\r\n${body}`, 'latin1')
  }
}

class MqttDevice extends Device {
  private readonly token: string
  private readonly children: readonly string[] | undefined
  private readonly topic: Buffer
  private packetId = 0
  private turn = 0

  constructor(options: GeneratorOptions, token: string) {
    super(options)
    this.token = token
    this.children = options.children
    this.topic = options.children === undefined ? TOPIC : GATEWAY_TOPIC
  }

  protected override bodyOf(point: string): string {
    const { children } = this
    return children === undefined ? point : `{"${children[this.turn++ % children.length]}":[${point}]}`
  }

  async ready(): Promise<void> {
    await new Promise((resolve) => this.socket.once('connect', resolve))
    const clientId = mqttText(`bench-${this.token}`)
    const user = mqttText(this.token)
    const variable = Buffer.concat([Buffer.from([0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 0x82, 0, 120]), clientId, user])
    this.socket.write(Buffer.concat([Buffer.from([0x10, variable.length]), variable]))
    const answer = await new Promise<Buffer>((resolve) => this.socket.once('data', resolve))
    if (answer[3] !== 0) throw new Error(`CONNACK ${answer[3]}`)
    let rest = 0
    this.socket.on('data', (data) => {
      // A PUBACK of MQTT 3.1.1 is four bytes, and nothing else comes.
      const bytes = data.length + rest
      rest = bytes % 4
      if (bytes >= 4) this.answered((bytes - rest) / 4, 0)
    })
  }

  protected request(body: string): Buffer {
    this.packetId = (this.packetId % 65_535) + 1
    const length = this.topic.length + 2 + body.length
    const packet = Buffer.allocUnsafe(1 + (length < 128 ? 1 : 2) + length)
    let offset = 0
    packet[offset++] = 0x32
    if (length < 128) packet[offset++] = length
    else {
      packet[offset++] = (length & 127) | 128
      packet[offset++] = length >> 7
    }
    offset += this.topic.copy(packet, offset)
    offset = packet.writeUInt16BE(this.packetId, offset)
    packet.write(body, offset, 'latin1')
    return packet
  }
}

const TOPIC = mqttText('v1/devices/me/telemetry')
const GATEWAY_TOPIC = mqttText('v1/gateway/telemetry')

function mqttText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

async function run(options: GeneratorOptions): Promise<GeneratorResult> {
  const devices = options.tokens.map((token) =>
    options.protocol === 'http' ? new HttpDevice(options, token) : new MqttDevice(options, token),
  )
  await Promise.all(devices.map((device) => device.ready()))
  const ended = devices.map((device) => new Promise<void>((resolve) => (device.done = resolve)))
  const began = performance.now()
  const beganAt = Date.now()
  for (const device of devices) device.start()
  setTimeout(() => {
    for (const device of devices) device.stopped = true
  }, options.seconds * 1000)
  await Promise.all(ended)
  const seconds = (performance.now() - began) / 1000
  for (const device of devices) device.close()
  return {
    acknowledged,
    acknowledgedOf: devices.map(({ good }) => good),
    beganAt,
    failed,
    seconds,
    p50Ms: histogram.percentile(50) / 1e6,
    p99Ms: histogram.percentile(99) / 1e6,
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}') as GeneratorOptions))}\n`)
process.exit(0)
