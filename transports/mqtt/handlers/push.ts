/** What goes down to the device unasked: PUBLISH packets of QoS 0 or 1, within what the client said it can take. */
import type { SharedAttributesUpdate } from '../../../engine/device/gateway.ts'
import { sharedAttributesJson } from '../../payload/attribute-answer.ts'
import { encodePacket, type IConnectPacket } from '../codec.ts'
import { Reason } from '../reason-codes.ts'
import type { MqttSession } from '../session.ts'
import { FILTERS } from '../topics.ts'

const LARGEST_MESSAGE_ID = 65_535

/** A v5 client's own bounds: how many QoS 1 pushes may be open, how large a packet may be. Absent where it set none. */
export class DownlinkPushes {
  private readonly receiveMaximum: number
  readonly maximumPacketSize: number
  private open = 0
  private readonly waiting: { readonly topic: string; readonly text: string }[] = []

  private constructor(receiveMaximum: number, maximumPacketSize: number) {
    this.receiveMaximum = receiveMaximum
    this.maximumPacketSize = maximumPacketSize
  }

  static forClient(properties: IConnectPacket['properties']): DownlinkPushes | undefined {
    const { receiveMaximum, maximumPacketSize } = properties ?? {}
    if (receiveMaximum === undefined && maximumPacketSize === undefined) return undefined
    return new DownlinkPushes(receiveMaximum ?? LARGEST_MESSAGE_ID, maximumPacketSize ?? Infinity)
  }

  /** False where the push has to wait for a PUBACK [MQTT-3.3.4-9]. */
  begin(): boolean {
    if (this.open >= this.receiveMaximum) return false
    this.open++
    return true
  }

  /** False where too many wait already. */
  hold(topic: string, text: string, limit: number): boolean {
    if (this.waiting.length >= limit) return false
    this.waiting.push({ topic, text })
    return true
  }

  end(): { readonly topic: string; readonly text: string } | undefined {
    if (this.open > 0) this.open--
    return this.waiting.shift()
  }
}

/** QoS granted to a filter; 1 where it is not subscribed: answers come all the same (`device-api.md` 3.1, 3.7). */
export function grantedQos(session: MqttSession, filter: number): 0 | 1 {
  const bit = 1 << filter
  return (session.subscriptions & bit) !== 0 && (session.grantedQos1 & bit) === 0 ? 0 : 1
}

export function pushAttributes(session: MqttSession, update: SharedAttributesUpdate): void {
  const filter = session.attributeFilter
  push(session, FILTERS[filter] ?? '', sharedAttributesJson(update), grantedQos(session, filter))
}

export function push(session: MqttSession, topic: string, text: string, qos: 0 | 1): void {
  if (session.phase !== 'CONNECTED') return
  const { pushes, host } = session
  if (qos === 1 && pushes !== undefined && !pushes.begin()) {
    if (!pushes.hold(topic, text, host.limits.maxQueuedPushes)) session.close(Reason.QUOTA_EXCEEDED)
    return
  }
  if (qos === 1) session.lastMessageId = (session.lastMessageId % LARGEST_MESSAGE_ID) + 1
  const packet = encodePacket(
    { cmd: 'publish', topic, payload: text, qos, dup: false, retain: false, messageId: session.lastMessageId },
    session.version,
  )
  if (pushes !== undefined && packet.length > pushes.maximumPacketSize) {
    // Not sent, and as good as sent [MQTT-3.1.2-25].
    host.counts.pushesDropped++
    if (qos === 1) pushAcknowledged(session)
    return
  }
  host.counts.pushed++
  session.sendBytes(packet)
}

/** PUBACK of a push: there is room for one that waits. Which one it was does not matter, nothing is sent twice. */
export function pushAcknowledged(session: MqttSession, _messageId?: number): void {
  const next = session.pushes?.end()
  if (next !== undefined) push(session, next.topic, next.text, 1)
}
