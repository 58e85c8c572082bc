/**
 * One MQTT connection: cuts its bytes into packets, hands each to its handler, and writes what there is to say once a turn.
 *
 * | phase | what may come | leaves by |
 * |---|---|---|
 * | NEW | CONNECT only [MQTT-3.1.0-1] | CONNECT → AUTHENTICATING |
 * | AUTHENTICATING | bytes are held, the socket is not read | CONNACK 0 → CONNECTED, refusal → CLOSED |
 * | CONNECTED | everything but CONNECT [MQTT-3.1.0-2] | DISCONNECT, violation, silence, the platform → CLOSED |
 * | CLOSED | nothing; what is left to write goes out | |
 *
 * It holds no closure, timer or stream of its own, and no buffer while no packet is half read: ten thousand idle ones are cheap.
 */
import type { MillraceError } from '../../model/errors.ts'
import { GatheredBytes } from '../../model/gathered-bytes.ts'
import type { CallRequest, DeviceSession, SessionEnd, SharedAttributesUpdate } from '../../engine/device/gateway.ts'
import { AcknowledgementLine, type Acknowledgement } from './acknowledgements.ts'
import {
  FIXED_HEADER_BYTES,
  FrameCursor,
  ProtocolViolation,
  encodePacket,
  type Packet,
  type ProtocolVersion,
} from './codec.ts'
import type {
  ByteStream,
  MqttConnection,
  OutlivingSession,
  SessionHost,
  SessionPhase,
  ShownCertificate,
} from './connection.ts'
import { DownlinkPushes, pendingBytesOf } from './downlink-pushes.ts'
import type { ChildRegistry } from './gateway/registry.ts'
import { handlePacket, requireConnect } from './handlers/packet.ts'
import { forgetPublish, publishAnswered } from './handlers/publish.ts'
import { pushAttributes, pushCall } from './handlers/push.ts'
import type { PackageDownloads } from './package-downloads.ts'
import type { EdgeNode } from './sparkplug/edge-node.ts'
import type { TopicAliases } from './topic-aliases.ts'
import { Reason, publishRefusal, sessionEndReason, type ReasonCode } from './reason-codes.ts'

const NO_FILTERS: readonly number[] = []
/** How long a closing connection may take to read its last bytes, in ticks of the wheel. */
const CLOSING_TICKS = 2
const cursor = new FrameCursor()

export class MqttSession implements MqttConnection {
  readonly host: SessionHost
  readonly socket: ByteStream
  readonly acknowledgements = new AcknowledgementLine()
  phase: SessionPhase = 'NEW'
  version: ProtocolVersion = 4
  device: DeviceSession | undefined
  shown: ShownCertificate | undefined
  isProvisioning = false
  tenantId: string | undefined
  slot = 0
  allowedTicks: number
  subscriptions = 0
  grantedQos1 = 0
  attributeFilters: readonly number[] = NO_FILTERS
  customAttributeFilter: string | undefined
  callFilters: readonly number[] = NO_FILTERS
  unreleased: Map<number, Acknowledgement | 'ANSWERED'> | undefined
  topicAliasMaximum = 0
  topicAliases: TopicAliases | undefined
  downloads: PackageDownloads | undefined
  readonly pushes: DownlinkPushes
  kept: OutlivingSession | undefined
  wasKeptAsked = false
  children: ChildRegistry | undefined
  sparkplug: EdgeNode | undefined
  heardTick: number
  private held: GatheredBytes | undefined
  /** Of that, before the CONNECT is there. */
  private silentBytes = 0
  private outgoing: Buffer[] | undefined
  private written: (() => void) | undefined
  private flushing = false
  private paused = false
  /** Why it ends once all that came before is answered. */
  private leaving: ReasonCode | undefined

  constructor(host: SessionHost, socket: ByteStream, allowedTicks: number) {
    this.host = host
    this.socket = socket
    this.allowedTicks = allowedTicks
    this.pushes = new DownlinkPushes(host.limits)
    this.heardTick = host.wheel.tick
  }

  get address(): string {
    return this.socket.remoteAddress ?? ''
  }

  received(chunk: Buffer): void {
    if (this.phase === 'CLOSED') return
    const { held } = this
    held?.add(chunk)
    this.parse(held?.bytes ?? chunk, held)
  }

  /** Reads on where it stopped: after authentication, when there is room again. */
  resume(): void {
    if (this.phase === 'CLOSED') return
    const { held } = this
    if (held !== undefined) this.parse(held.bytes, held)
    if (!this.paused) return
    // For another reason than before it may be: then that one has to wake it.
    if (this.mustWait()) return this.pause()
    this.paused = false
    this.socket.resume()
  }

  /** `held`: where the bytes are, unless they just came. */
  private parse(bytes: Buffer, held: GatheredBytes | undefined): void {
    let offset = 0
    this.held = undefined
    try {
      while (offset < bytes.length && !this.mustWait() && this.phase !== 'CLOSED') {
        if (this.phase === 'NEW') requireConnect(bytes[offset])
        if (!cursor.advance(bytes, offset, this.host.limits.maxPacketBytes)) break
        const end = cursor.end
        // Only whole packets count as being heard: a byte a second keeps nothing alive.
        if (this.phase === 'CONNECTED' && !this.isProvisioning) this.heardTick = this.host.wheel.tick
        handlePacket(this, bytes, offset, cursor.bodyStart, end)
        offset = end
      }
    } catch (error) {
      this.violated(error)
      return
    }
    if (this.phase === 'CLOSED') return
    if (offset === 0 && held !== undefined) this.held = held
    else if (offset < bytes.length) this.hold(bytes, offset)
    if (!this.isSilenceBounded()) return this.close(Reason.QUOTA_EXCEEDED)
    if (this.mustWait()) this.pause()
  }

  private hold(bytes: Buffer, offset: number): void {
    // A copy with memory of its own, so that half a packet keeps neither the whole read alive nor what others read.
    const rest = Buffer.allocUnsafeSlow(bytes.length - offset)
    bytes.copy(rest, 0, offset)
    this.held = new GatheredBytes(rest, this.host.limits.maxPacketBytes + FIXED_HEADER_BYTES)
  }

  /** False where all who have not said who they are have sent too much of it. */
  private isSilenceBounded(): boolean {
    const bytes = this.phase === 'NEW' ? (this.held?.roomBytes ?? 0) : 0
    if (bytes === this.silentBytes) return true
    const more = bytes - this.silentBytes
    this.silentBytes = bytes
    return this.host.silentBytesChanged(more)
  }

  private mustWait(): boolean {
    if (this.phase === 'AUTHENTICATING' || this.leaving !== undefined || !this.host.gateway.writable) return true
    if (this.children?.isFull === true) return true
    // A v5 client was told its Receive Maximum: what it sends beyond is answered with 0x93, not waited for.
    return this.version !== 5 && this.acknowledgements.pending >= this.host.limits.maxInFlight
  }

  private pause(): void {
    if (!this.paused) {
      this.paused = true
      this.socket.pause()
    }
    if (!this.host.gateway.writable) this.host.waitForRoom(this)
  }

  violated(error: unknown): void {
    if (!(error instanceof ProtocolViolation)) {
      this.host.unexpected(error)
      this.close(Reason.UNSPECIFIED_ERROR)
      return
    }
    this.host.counts.malformed++
    this.close(error.reason)
  }

  send(packet: Packet): void {
    this.sendBytes(encodePacket(packet, this.version))
  }

  sendBytes(bytes: Buffer): void {
    if (this.phase === 'CLOSED') return
    if (this.outgoing === undefined) this.outgoing = [bytes]
    else this.outgoing.push(bytes)
    this.flushSoon()
  }

  /** One at a time: only parts of packages ask, one after the other. */
  whenWritten(written: () => void): void {
    if (this.phase === 'CLOSED') return written()
    this.written = written
    this.flushSoon()
  }

  acknowledgementReady(acknowledgement: Acknowledgement): void {
    if (acknowledgement.qos === 2) publishAnswered(this, acknowledgement)
    this.flushSoon()
  }

  private flushSoon(): void {
    if (this.flushing) return
    this.flushing = true
    this.host.flushSoon(this)
  }

  /** Everything there is to say, in one write. Called by the host once a turn. */
  flush(): void {
    this.flushing = false
    if (this.phase === 'CLOSED') return
    this.write()
    if (this.socket.writableLength > pendingBytesOf(this.host.limits, this.children?.size ?? 0)) {
      this.host.counts.slowConsumers++
      this.socket.destroy()
      return
    }
    if (this.leaving !== undefined && this.acknowledgements.pending === 0) this.close(this.leaving)
    else if (this.paused) this.resume()
  }

  private write(): void {
    const waiting = this.acknowledgements.pending
    const acknowledged = this.acknowledgements.take(this.version)
    this.host.counts.acknowledged += waiting - this.acknowledgements.pending
    const others = this.outgoing
    this.outgoing = undefined
    const written = this.written
    this.written = undefined
    if (others === undefined) {
      if (acknowledged !== undefined) this.socket.write(acknowledged, written)
      else written?.()
      return
    }
    if (acknowledged !== undefined) others.push(acknowledged)
    const [only] = others
    this.socket.write(others.length === 1 && only !== undefined ? only : Buffer.concat(others), written)
  }

  /** The session's own receipt: publishes of QoS 0, which nobody waits for. */
  stored(): void {
    this.host.counts.storedUnacknowledged++
  }

  refused(error: MillraceError): void {
    this.host.counts.refused++
    this.close(publishRefusal(error).reason)
  }

  publishRefused(acknowledgement: Acknowledgement, error: MillraceError): void {
    this.host.counts.refused++
    const { reason, stays } = publishRefusal(error)
    if (stays && this.version === 5) return acknowledgement.settle(reason)
    // Nothing of it is stored: sent again it is a new one.
    forgetPublish(this, acknowledgement)
    this.close(reason)
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    if (this.phase !== 'CONNECTED') return
    if (this.sparkplug === undefined) pushAttributes(this, update)
    else this.sparkplug.nodeAttributesChanged(update)
  }

  called(request: CallRequest): void {
    if (this.phase !== 'CONNECTED') return
    if (this.sparkplug === undefined) pushCall(this, request)
    else this.sparkplug.nodeCalled(request)
  }

  closed(end: SessionEnd): void {
    this.sparkplug?.ended(end)
    this.device = undefined
    this.close(sessionEndReason(end))
  }

  dueTick(): number {
    return this.heardTick + this.allowedTicks
  }

  expired(): void {
    if (this.phase === 'CLOSED') this.socket.destroy()
    else if (this.paused) {
      // It is we who do not read: its pings may well be there.
      this.heard()
      this.host.wheel.add(this)
    } else this.close(Reason.KEEP_ALIVE_TIMEOUT)
  }

  heard(): void {
    this.heardTick = this.host.wheel.tick
  }

  /** Reads no more, and closes behind the last acknowledgement that is under way. */
  closeWhenAnswered(reason: ReasonCode): void {
    this.leaving ??= reason
    this.flushSoon()
  }

  /**
   * Says why (v5, once connected [MQTT-3.14.0-1]), lets what is written go out, and closes. Later calls do nothing.
   * No reason: the client ended it.
   */
  close(reason: ReasonCode | undefined): void {
    if (this.phase === 'CLOSED') return
    if (this.version === 5 && this.phase === 'CONNECTED' && reason !== undefined) {
      // Acknowledgements too: nothing comes behind a DISCONNECT. [MQTT-3.14.4-1]
      this.write()
      this.send({ cmd: 'disconnect', reasonCode: reason })
    }
    this.write()
    this.phase = 'CLOSED'
    this.released()
    this.heard()
    this.allowedTicks = CLOSING_TICKS
    this.host.wheel.add(this)
    this.socket.end()
    // Nothing more is wanted from it; reading on lets the other side's end be seen.
    this.socket.resume()
  }

  /** The socket is gone, for whatever reason. */
  gone(): void {
    this.phase = 'CLOSED'
    this.host.forget(this)
    this.host.wheel.remove(this)
    this.released()
    if (this.isProvisioning) this.host.releaseProvisioning(this)
    this.isProvisioning = false
    // Not before: a closing connection still has its socket.
    const { tenantId } = this
    this.tenantId = undefined
    if (tenantId !== undefined) this.host.release(tenantId)
  }

  private released(): void {
    this.held = undefined
    this.host.silentBytesChanged(-this.silentBytes)
    this.silentBytes = 0
    this.shown = undefined
    this.outgoing = undefined
    const written = this.written
    this.written = undefined
    written?.()
    this.kept?.detach(this)
    this.kept = undefined
    this.pushes.drop()
    this.downloads = undefined
    // `unreleased` stays: what is still to be answered says there how it ended, to the next connection of the session.
    this.topicAliases?.release()
    this.topicAliases = undefined
    const { children, device, sparkplug } = this
    this.sparkplug = undefined
    sparkplug?.close()
    this.children = undefined
    children?.close()
    this.device = undefined
    device?.close()
  }
}
