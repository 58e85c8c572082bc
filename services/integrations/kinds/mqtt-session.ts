/** One connection to a broker, from the socket to its end. */
import { connect as netConnect, isIP, Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { generate, parser, type Packet } from 'mqtt-packet'
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Frame, SourceParts } from '../define-integration.ts'
import type { MqttSourceConfiguration } from './mqtt-configuration.ts'
import { MqttFraming } from './mqtt-framing.ts'
import type { MqttSubscriptions } from './mqtt-subscriptions.ts'

type Parts = SourceParts<MqttSourceConfiguration>

const KEEP_ALIVE_SECONDS = 30
/** From the first packet of the handshake below until the broker granted the subscriptions. */
const JOIN_MS = 30_000
const DRAIN_MS = 3000
/** For what is written last. */
const END_MS = 1000
const REFUSED = 0x80
const SUBSCRIBE_ID = 1
const UNSUBSCRIBE_ID = 2
const REASONS = [
  '',
  'unacceptable protocol version',
  'identifier rejected',
  'server unavailable',
  'bad user name or password',
  'not authorized',
]

/** A message that came and is not acknowledged. */
interface Open {
  /** Undefined where its payload was too large to be read. */
  readonly frame: Frame | undefined
  readonly bytes: number
  /** Undefined with QoS 0. */
  readonly messageId: number | undefined
  isDone: boolean
}

export interface SessionListener {
  joined(): void
  ended(reason: unknown): void
}

export class MqttSession {
  private readonly parts: Parts
  private readonly subscriptions: MqttSubscriptions
  private readonly listener: SessionListener
  private readonly socket: Socket
  private readonly packets = parser({ protocolVersion: 4 })
  private readonly framing: MqttFraming
  /** As they came; those that were taken stand in front. What is not taken came in one read. */
  private open: Open[] = []
  private taken = 0
  private isHeard = true
  private hasEnded = false
  private isDraining = false
  private waitsForRoom = false
  private waitsForBroker = false
  private drained: () => void = () => undefined
  private joining: TimerHandle | undefined
  private keepAlive: TimerHandle | undefined

  constructor(parts: Parts, subscriptions: MqttSubscriptions, listener: SessionListener) {
    this.parts = parts
    this.subscriptions = subscriptions
    this.listener = listener
    this.joining = parts.clock.after(JOIN_MS, () => this.end(new Error('the broker does not answer')))
    this.framing = new MqttFraming(parts.inlet.maxFrameBytes, {
      passed: (bytes) => this.packets.parse(bytes),
      skipped: ({ messageId, bytes }) => this.came({ frame: undefined, bytes, messageId, isDone: false }),
    })
    this.packets.on('packet', (packet) => this.handle(packet)).on('error', (error) => this.end(error))
    this.socket = socketTo(parts)
    this.socket
      .on(parts.configuration.tls ? 'secureConnect' : 'connect', () => this.begin())
      .on('data', (chunk) => this.read(chunk))
      .on('drain', () => {
        this.waitsForBroker = false
        this.restOrRead()
      })
      .on('error', (error) => this.end(error))
      .on('close', () => this.end(new Error('the broker closed the connection')))
  }

  /** Resolves when what was taken is acknowledged, or could not be within three seconds. */
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
    this.send({ cmd: 'disconnect' })
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
    if (this.hasEnded) return
    this.keepAlive = this.parts.clock.after(KEEP_ALIVE_SECONDS * 500, () => {
      // While nothing is read for want of room no answer is heard either.
      if (!this.isHeard && !this.waitsForRoom) return this.end(new Error('the broker does not answer'))
      this.isHeard = false
      this.send({ cmd: 'pingreq' })
      this.watch()
    })
  }

  private read(chunk: Buffer): void {
    if (this.hasEnded) return
    this.isHeard = true
    try {
      this.framing.read(chunk)
    } catch (error) {
      this.end(error)
    }
  }

  private handle(packet: Packet): void {
    if (this.hasEnded) return
    switch (packet.cmd) {
      case 'connack': {
        const code = packet.returnCode ?? packet.reasonCode ?? 0
        if (code !== 0) return this.end(new Error(`the broker refused: ${REASONS[code] ?? code}`))
        return this.subscribe()
      }
      case 'suback': {
        const refused = packet.granted.findIndex((granted) => granted === REFUSED)
        const filter = this.parts.configuration.topics[refused]?.filter
        if (refused >= 0) return this.end(new Error(`the broker refused to subscribe '${filter}'`))
        this.joining?.cancel()
        return this.listener.joined()
      }
      case 'unsuback':
        this.subscriptions.left().catch((error: unknown) => this.end(error))
        return
      case 'publish': {
        const { payload, topic, qos, messageId } = packet
        // A copy: what the packet shows is a part of all that was read with it.
        const frame = { payload: Buffer.from(payload), metadata: { topic } }
        return this.came({
          ...{ frame, bytes: frame.payload.length, isDone: false },
          messageId: qos === 0 ? undefined : messageId,
        })
      }
      default:
    }
  }

  private subscribe(): void {
    const { subscriptions, parts } = this
    subscriptions.began().then(
      () => {
        const { stale } = subscriptions
        const wanted = parts.configuration.topics.map(({ filter: topic, qos }) => ({ topic, qos }))
        if (stale.length > 0) this.send({ cmd: 'unsubscribe', messageId: UNSUBSCRIBE_ID, unsubscriptions: [...stale] })
        this.send({ cmd: 'subscribe', messageId: SUBSCRIBE_ID, subscriptions: wanted })
      },
      (error: unknown) => this.end(error),
    )
  }

  private came(each: Open): void {
    if (this.hasEnded) return
    this.open.push(each)
    this.takeSome()
  }

  /** Hands on what came, as far as there is room. */
  private takeSome(): void {
    while (!this.hasEnded && !this.isDraining && !this.waitsForRoom && this.taken < this.open.length) {
      const each = this.open[this.taken]
      if (each === undefined) return
      // Counted first: a receipt may be told at once.
      this.taken++
      if (this.isTaken(each)) continue
      this.taken--
      this.waitsForRoom = true
      this.parts.inlet.onRoom(() => {
        this.waitsForRoom = false
        this.takeSome()
        this.restOrRead()
      })
    }
    this.restOrRead()
  }

  private isTaken(each: Open): boolean {
    const { inlet } = this.parts
    const receipt = { done: () => this.done(each), again: (reason: Error) => this.end(reason) }
    if (each.frame !== undefined) return inlet.take(each.frame, receipt)
    inlet.skipped(each.bytes)
    this.done(each)
    return true
  }

  private restOrRead(): void {
    if (this.hasEnded) return
    const rests = this.waitsForRoom || this.waitsForBroker
    if (rests === this.socket.isPaused()) return
    if (rests) this.socket.pause()
    else this.socket.resume()
  }

  private done(each: Open): void {
    each.isDone = true
    while (this.open[0]?.isDone === true) {
      const { messageId } = this.open.shift() ?? each
      this.taken--
      if (messageId !== undefined) this.send({ cmd: 'puback', messageId })
    }
    if (this.taken === 0) this.drained()
  }

  private send(packet: Packet): void {
    if (this.hasEnded) return
    try {
      if (this.socket.write(generate(packet))) return
    } catch (error) {
      // The packet's own library refuses it.
      return this.end(error)
    }
    // A broker that does not read what it is told is not listened to.
    this.waitsForBroker = true
    this.restOrRead()
  }

  private end(reason: unknown): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.joining?.cancel()
    this.keepAlive?.cancel()
    const { socket } = this
    const cut = this.parts.clock.after(END_MS, () => socket.destroy())
    socket.once('close', () => cut.cancel())
    if (socket.closed) cut.cancel()
    socket.destroySoon()
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
