/**
 * Subscribes at another MQTT broker (3.1.1). A PUBACK goes out when the message is stored, in the order in which the messages came
 * [MQTT-4.6.0-2]; one that could not be stored ends the connection, so that the broker sends it again.
 */
import { connect as netConnect, isIP, Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { generate, parser, type IPublishPacket, type Packet } from 'mqtt-packet'
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import type { MqttSourceConfiguration } from './mqtt-configuration.ts'

type Parts = SourceParts<MqttSourceConfiguration>

const RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
const KEEP_ALIVE_SECONDS = 30
const DRAIN_MS = 3000
/** The packet around the largest frame; a longer one ends the connection. */
const LARGEST_PACKET_FRAMES = 4
const REFUSED = 0x80
const REASONS = [
  '',
  'unacceptable protocol version',
  'identifier rejected',
  'server unavailable',
  'bad user name or password',
  'not authorized',
]

export async function openMqttSource(parts: Parts): Promise<Source> {
  const source = new MqttSource(parts)
  source.connect()
  return source
}

class MqttSource implements Source {
  private readonly parts: Parts
  private session: Session | undefined
  private retry: TimerHandle | undefined
  private retryMs = RETRY_MS
  private isClosed = false

  constructor(parts: Parts) {
    this.parts = parts
  }

  connect(): void {
    this.session = new Session(this.parts, {
      joined: () => {
        this.retryMs = RETRY_MS
        this.parts.connected(true)
      },
      ended: (reason) => {
        if (this.isClosed) return
        const { host, port } = this.parts.configuration
        this.parts.connected(false, IntegrationErrors.SOURCE({ source: `${host}:${port}`, reason: errorText(reason) }))
        this.retry = this.parts.clock.after(this.retryMs, () => this.connect())
        this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS)
      },
    })
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    await this.session?.close()
  }
}

/** A message that came and is not acknowledged. */
interface Open {
  readonly packet: IPublishPacket
  isDone: boolean
}

interface SessionListener {
  joined(): void
  ended(reason: unknown): void
}

class Session {
  private readonly parts: Parts
  private readonly listener: SessionListener
  private readonly socket: Socket
  private readonly packets = parser({ protocolVersion: 4 })
  /** As they came; those that were taken stand in front. */
  private open: Open[] = []
  private taken = 0
  private unread = 0
  private isHeard = true
  private hasEnded = false
  private isDraining = false
  private drained: () => void = () => undefined
  private keepAlive: TimerHandle | undefined

  constructor(parts: Parts, listener: SessionListener) {
    this.parts = parts
    this.listener = listener
    this.socket = socketTo(parts)
    const { configuration } = parts
    const begin = (): void => this.begin()
    this.socket
      .on(configuration.tls ? 'secureConnect' : 'connect', begin)
      .on('data', (chunk) => this.read(chunk))
      .on('error', (error) => this.end(error))
      .on('close', () => this.end(new Error('the broker closed the connection')))
    this.packets.on('packet', (packet) => this.handle(packet)).on('error', (error) => this.end(error))
  }

  async close(): Promise<void> {
    this.isDraining = true
    if (this.taken > 0 && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        const timer = this.parts.clock.after(DRAIN_MS, resolve)
        this.drained = () => {
          timer.cancel()
          resolve()
        }
      })
    }
    if (!this.hasEnded) this.socket.write(generate({ cmd: 'disconnect' }))
    this.end(new Error('stopped'))
  }

  private begin(): void {
    const { id, configuration } = this.parts
    const { clientId, username, password, cleanSession } = configuration
    this.send({
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, keepalive: KEEP_ALIVE_SECONDS },
      ...{ clean: cleanSession, clientId: clientId ?? `millrace-${id}` },
      ...((username ?? null) === null ? {} : { username: username ?? '' }),
      ...((password ?? null) === null ? {} : { password: Buffer.from(password ?? '') }),
    })
    this.watch()
  }

  private watch(): void {
    this.keepAlive = this.parts.clock.after(KEEP_ALIVE_SECONDS * 500, () => {
      // While nothing is read no answer is heard either.
      if (!this.isHeard && !this.socket.isPaused()) return this.end(new Error('the broker does not answer'))
      this.isHeard = false
      this.send({ cmd: 'pingreq' })
      if (!this.hasEnded) this.watch()
    })
  }

  private read(chunk: Buffer): void {
    this.isHeard = true
    this.unread += chunk.length
    const limit = this.parts.inlet.maxFrameBytes * LARGEST_PACKET_FRAMES
    try {
      this.packets.parse(chunk)
    } catch (error) {
      return this.end(error)
    }
    if (this.unread > limit) this.end(new Error(`the broker sends a packet of more than ${limit} bytes`))
  }

  private handle(packet: Packet): void {
    this.unread = 0
    if (this.hasEnded) return
    switch (packet.cmd) {
      case 'connack': {
        const code = packet.returnCode ?? packet.reasonCode ?? 0
        if (code !== 0) return this.end(new Error(`the broker refused: ${REASONS[code] ?? code}`))
        const { topics } = this.parts.configuration
        const subscriptions = topics.map(({ filter: topic, qos }) => ({ topic, qos }))
        return this.send({ cmd: 'subscribe', messageId: 1, subscriptions })
      }
      case 'suback': {
        const refused = packet.granted.findIndex((granted) => granted === REFUSED)
        const filter = this.parts.configuration.topics[refused]?.filter
        if (refused >= 0) return this.end(new Error(`the broker refused to subscribe '${filter}'`))
        return this.listener.joined()
      }
      case 'publish':
        this.open.push({ packet, isDone: false })
        return this.takeSome()
      default:
    }
  }

  /** Hands on what came, as far as there is room; the socket rests where there is none. */
  private takeSome(): void {
    while (!this.hasEnded && !this.isDraining && this.taken < this.open.length) {
      const each = this.open[this.taken]
      if (each === undefined) return
      const { topic, payload } = each.packet
      const frame = { payload: Buffer.from(payload), metadata: { topic } }
      // Counted first: a receipt may be told at once.
      this.taken++
      const isTaken = this.parts.inlet.take(frame, {
        done: () => this.done(each),
        again: (reason) => this.end(reason),
      })
      if (isTaken) continue
      this.taken--
      this.socket.pause()
      return this.parts.inlet.onRoom(() => {
        this.socket.resume()
        this.takeSome()
      })
    }
  }

  private done(each: Open): void {
    each.isDone = true
    while (this.open[0]?.isDone === true) {
      const { packet } = this.open.shift() ?? each
      this.taken--
      if (packet.qos === 1 && packet.messageId !== undefined) this.send({ cmd: 'puback', messageId: packet.messageId })
    }
    if (this.taken === 0) this.drained()
  }

  private send(packet: Packet): void {
    if (!this.hasEnded) this.socket.write(generate(packet))
  }

  private end(reason: unknown): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.keepAlive?.cancel()
    this.socket.end()
    this.socket.destroySoon()
    this.open = []
    this.taken = 0
    this.drained()
    this.listener.ended(reason)
  }
}

function socketTo({ configuration, guard }: Parts): Socket {
  const { host, port, tls, caCertificate } = configuration
  try {
    guard.checkLiteral(host)
  } catch (error) {
    // Told as any other connection that is not made.
    return new Socket().destroy(error instanceof Error ? error : new Error(errorText(error)))
  }
  const address = { host, port, lookup: guard.lookup }
  if (!tls) return netConnect(address)
  const ca = caCertificate ?? undefined
  return tlsConnect({
    ...address,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
}
