/**
 * Closed-loop load over UDP from a process of its own, one confirmable message a device under way (RFC 7252, 4.7): posts of CoAP devices, or
 * notifications of LwM2M clients about one resource. Arguments as JSON in argv[2]; prints one line of JSON. Nothing is sent again: what is
 * lost ends its device, and is told as failed.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createHistogram } from 'node:perf_hooks'
import { encodeMessage, OptionNumber, parseMessage, type CoapMessage } from '../../transports/coap-messages/codec.ts'
import { jsonOf } from '../ingest/payload.ts'

export interface DatagramOptions {
  readonly protocol: 'coap' | 'lwm2m'
  readonly port: number
  /** Access tokens of CoAP devices, endpoint names of LwM2M clients. */
  readonly names: readonly string[]
  readonly seconds: number
  /** The peer only echoes: nobody registers, and nobody asks for notifications. */
  readonly isBare: boolean
}

export interface DatagramResult {
  readonly acknowledged: number
  readonly failed: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const EMPTY = Buffer.alloc(0)
const CREATED = 0x41
/** Version 1, the token's length left out. */
const ACKNOWLEDGEMENT = 0x60
const PAYLOAD_MARKER = 0xff
const TOKEN = Buffer.from([1, 2])
const RESOURCE = ['3', '0', '9']
const LOST_MS = 5000

const histogram = createHistogram()
let acknowledged = 0
let failed = 0

abstract class Device {
  protected readonly socket: Socket = createSocket('udp4')
  /** Not the one of the last process, which may have had the same port: that would be a duplicate (RFC 7252, 4.4). */
  protected id = Math.floor(Math.random() * 0x10000)
  private sentAt = 0
  private isWaiting = false
  stopped = false
  done: () => void = () => undefined

  async connect(port: number): Promise<void> {
    this.socket.connect(port, '127.0.0.1')
    await once(this.socket, 'connect')
  }

  /** Resolves once messages may be sent. */
  abstract ready(isBare: boolean): Promise<void>
  /** The next message; its id is written into it. */
  protected abstract message(): Buffer

  start(): void {
    this.socket.on('message', (datagram: Buffer) => {
      if ((datagram[0] ?? 0) >> 4 !== ACKNOWLEDGEMENT >> 4 || datagram.readUInt16BE(2) !== this.id) return
      this.answered(this.isGood(datagram[1] ?? 0))
    })
    this.send()
  }

  /** Ends, whether its answer came or not. */
  end(): void {
    if (this.isWaiting) failed++
    this.socket.close()
  }

  protected abstract isGood(code: number): boolean

  private send(): void {
    this.id = (this.id + 1) & 0xffff
    const message = this.message()
    message.writeUInt16BE(this.id, 2)
    this.sentAt = performance.now()
    this.isWaiting = true
    this.socket.send(message)
  }

  private answered(isGood: boolean): void {
    this.isWaiting = false
    histogram.record(Math.max(1, Math.round((performance.now() - this.sentAt) * 1e6)))
    if (isGood) acknowledged++
    else failed++
    if (this.stopped) this.done()
    else this.send()
  }
}

class CoapDevice extends Device {
  private readonly head: Buffer
  private time = Date.now() - 86_400_000

  constructor(token: string) {
    super()
    const options = ['api', 'v1', token, 'telemetry'].map((segment) => ({
      number: OptionNumber.URI_PATH,
      value: Buffer.from(segment),
    }))
    const head = encodeMessage({ type: 'CON', code: '0.02', id: 0, token: TOKEN, options, payload: EMPTY })
    this.head = Buffer.concat([head, Buffer.from([PAYLOAD_MARKER])])
  }

  async ready(): Promise<void> {
    // Nothing has to be asked first.
  }

  protected message(): Buffer {
    return Buffer.concat([this.head, Buffer.from(jsonOf(this.time++))])
  }

  protected isGood(code: number): boolean {
    return code === CREATED
  }
}

class Lwm2mClient extends Device {
  private readonly endpoint: string
  private token: Buffer = TOKEN
  private count = 1

  constructor(endpoint: string) {
    super()
    this.endpoint = endpoint
  }

  async ready(isBare: boolean): Promise<void> {
    if (isBare) return
    const path = [{ number: OptionNumber.URI_PATH, value: Buffer.from('rd') }]
    const query = [`ep=${this.endpoint}`, 'lwm2m=1.1', 'lt=300'].map((text) => ({
      number: OptionNumber.URI_QUERY,
      value: Buffer.from(text),
    }))
    const payload = Buffer.from('</3/0>')
    const options = [...path, ...query]
    this.socket.send(encodeMessage({ type: 'CON', code: '0.02', id: this.id, token: TOKEN, options, payload }))
    await new Promise<void>((resolve) => {
      const hear = (datagram: Buffer): void => {
        const asked = parseMessage(datagram)
        if (asked?.code !== '0.01' || !isObserving(asked)) return
        this.token = asked.token
        this.socket.send(this.value('ACK', asked.id))
        this.socket.off('message', hear)
        resolve()
      }
      this.socket.on('message', hear)
    })
  }

  protected message(): Buffer {
    return this.value('CON', 0)
  }

  protected isGood(code: number): boolean {
    return code === 0
  }

  private value(type: 'ACK' | 'CON', id: number): Buffer {
    const count = this.count++
    const observe = { number: OptionNumber.OBSERVE, value: Buffer.from([count >> 16, (count >> 8) & 255, count & 255]) }
    const payload = Buffer.from(String(count % 101))
    const plainText = { number: OptionNumber.CONTENT_FORMAT, value: EMPTY }
    return encodeMessage({ type, code: '2.05', id, token: this.token, options: [observe, plainText], payload })
  }
}

function isObserving({ options }: CoapMessage): boolean {
  const path = options.filter(({ number }) => number === OptionNumber.URI_PATH).map(({ value }) => value.toString())
  return path.join() === RESOURCE.join() && options.some(({ number }) => number === OptionNumber.OBSERVE)
}

async function run({ protocol, port, names, seconds, isBare }: DatagramOptions): Promise<DatagramResult> {
  const devices = names.map((name) => (protocol === 'coap' ? new CoapDevice(name) : new Lwm2mClient(name)))
  for (const device of devices) await device.connect(port)
  await Promise.all(devices.map((device) => device.ready(isBare)))
  const ended = Promise.all(devices.map((device) => new Promise<void>((resolve) => (device.done = resolve))))
  const began = performance.now()
  for (const device of devices) device.start()
  setTimeout(() => {
    for (const device of devices) device.stopped = true
  }, seconds * 1000)
  const lost = new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000 + LOST_MS))
  await Promise.race([ended, lost])
  const took = (performance.now() - began) / 1000
  for (const device of devices) device.end()
  return {
    acknowledged,
    failed,
    seconds: took,
    p50Ms: histogram.percentile(50) / 1e6,
    p99Ms: histogram.percentile(99) / 1e6,
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}') as DatagramOptions))}\n`)
process.exit(0)
