/** What goes down to the device unasked: PUBLISH packets of QoS 0 or 1, within what the client said it can take. */
import type { CallRequest, SharedAttributesUpdate } from '../../../engine/device/gateway.ts'
import { sharedAttributesJson } from '../../payload/attribute-answer.ts'
import { encodePacket } from '../codec.ts'
import type { MqttConnection } from '../connection.ts'
import { Reason } from '../reason-codes.ts'
import { FILTERS } from '../topics.ts'

/** QoS granted to a filter; 1 where it is not subscribed: answers come all the same (`device-api.md` 3.1, 3.7). */
export function grantedQos(session: MqttConnection, filter: number): 0 | 1 {
  const bit = 1 << filter
  return (session.subscriptions & bit) !== 0 && (session.grantedQos1 & bit) === 0 ? 0 : 1
}

export function pushAttributes(session: MqttConnection, update: SharedAttributesUpdate): void {
  const filter = session.attributeFilters.at(-1)
  // Unsubscribed while the update was on its way.
  if (filter === undefined) return
  push(session, FILTERS[filter] ?? '', sharedAttributesJson(update), grantedQos(session, filter))
}

export function pushCall(session: MqttConnection, { id, method, params }: CallRequest): void {
  const filter = session.callFilters.at(-1)
  // Unsubscribed while the call was on its way.
  if (filter === undefined) return
  const topic = `${(FILTERS[filter] ?? '').slice(0, -1)}${id}`
  push(session, topic, `{"method":${JSON.stringify(method)},"params":${params}}`, grantedQos(session, filter), id)
}

export function push(session: MqttConnection, topic: string, text: string, qos: 0 | 1, callId?: number): void {
  if (session.phase !== 'CONNECTED') return
  if (qos === 0) {
    if (write(session, topic, text, undefined) && callId !== undefined)
      session.device?.callDelivered(callId, 'DELIVERED')
    return
  }
  const messageId = session.pushes.begin(callId)
  if (messageId === undefined) {
    if (!session.pushes.hold({ topic, text, callId })) session.close(Reason.QUOTA_EXCEEDED)
  } else if (write(session, topic, text, messageId)) callSent(session, callId)
  else pushDone(session, messageId)
}

/** PUBACK of a push: there is room for one that waits. */
export function pushAcknowledged(session: MqttConnection, messageId: number): void {
  const callId = session.pushes.callOf(messageId)
  if (callId !== undefined) session.device?.callDelivered(callId, 'DELIVERED')
  pushDone(session, messageId)
}

function callSent(session: MqttConnection, callId: number | undefined): void {
  if (callId !== undefined) session.device?.callDelivered(callId, 'SENT')
}

function pushDone(session: MqttConnection, messageId: number): void {
  let free = messageId
  for (;;) {
    const next = session.pushes.end(free)
    if (next === undefined) return
    const id = session.pushes.begin(next.callId)
    if (id === undefined) return
    if (write(session, next.topic, next.text, id)) return callSent(session, next.callId)
    free = id
  }
}

/** False where the packet is larger than the client takes: not sent, and as good as sent [MQTT-3.1.2-25]. */
function write(session: MqttConnection, topic: string, payload: string, messageId: number | undefined): boolean {
  const { host } = session
  const packet = encodePacket(
    {
      cmd: 'publish',
      topic,
      payload,
      qos: messageId === undefined ? 0 : 1,
      dup: false,
      retain: false,
      ...(messageId === undefined ? {} : { messageId }),
    },
    session.version,
  )
  if (packet.length > session.pushes.maximumPacketSize) {
    host.counts.pushesDropped++
    return false
  }
  host.counts.pushed++
  session.sendBytes(packet)
  return true
}
