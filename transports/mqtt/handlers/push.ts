/** What goes down to the device unasked: PUBLISH packets of QoS 0 or 1, within what the client said it can take. */
import {
  STANDARD_MQTT,
  type CallRequest,
  type DeviceSession,
  type SharedAttributesUpdate,
} from '../../../engine/device/gateway.ts'
import { sharedAttributesJson } from '../../payload/attribute-answer.ts'
import { encodeCall, isProtobufDown, unfitCallAnswer } from '../../payload/device-payloads.ts'
import { encodeAttributesUpdate } from '../../payload/protobuf/platform-messages.ts'
import { encodePacket } from '../codec.ts'
import type { MqttConnection } from '../connection.ts'
import type { PushedCall, UnacknowledgedPush } from '../downlink-pushes.ts'
import { Reason } from '../reason-codes.ts'
import { CUSTOM_ATTRIBUTE_FILTER, FILTERS, formOf, isDefaultFilter } from '../topics.ts'

/** QoS granted to a filter; 1 where it is not subscribed: answers come all the same (`device-api.md` 3.1, 3.7). */
export function grantedQos(session: MqttConnection, filter: number): 0 | 1 {
  const bit = 1 << filter
  return (session.subscriptions & bit) !== 0 && (session.grantedQos1 & bit) === 0 ? 0 : 1
}

export function pushAttributes(session: MqttConnection, update: SharedAttributesUpdate): void {
  const filter = session.attributeFilters.at(-1)
  // Unsubscribed while the update was on its way.
  if (filter === undefined) return
  const payload = isProtobuf(session, filter)
    ? encodeAttributesUpdate(update, session.host.now())
    : sharedAttributesJson(update)
  push(session, attributeTopic(session, filter), payload, grantedQos(session, filter))
}

/** Whether what goes out on the filter is Protobuf. */
export function isProtobuf({ device }: MqttConnection, filter: number): boolean {
  return device !== undefined && isProtobufDown(device.device, formOf(filter), isDefaultFilter(filter))
}

/** One with a wildcard is no topic: what it stands for goes out as to everybody else. */
function attributeTopic({ customAttributeFilter: custom }: MqttConnection, filter: number): string {
  if (filter !== CUSTOM_ATTRIBUTE_FILTER) return FILTERS[filter] ?? ''
  return custom === undefined || /[+#]/.test(custom) ? STANDARD_MQTT.attributesSubscribeTopic : custom
}

export function pushCall(session: MqttConnection, request: CallRequest): void {
  const filter = session.callFilters.at(-1)
  const { device } = session
  // Unsubscribed while the call was on its way.
  if (filter === undefined || device === undefined) return
  const { id, method, params } = request
  const payload = isProtobuf(session, filter)
    ? protobufCall(device, request)
    : `{"method":${JSON.stringify(method)},"params":${params}}`
  if (payload === undefined) return
  const topic = `${(FILTERS[filter] ?? '').slice(0, -1)}${id}`
  push(session, topic, payload, grantedQos(session, filter), { of: device, id })
}

/** Undefined where the schema does not take it: the caller has been told, and the device is not. */
function protobufCall(session: DeviceSession, request: CallRequest): Buffer | undefined {
  try {
    return encodeCall(session.device, request)
  } catch (error) {
    const told = unfitCallAnswer(error)
    session.callDelivered(request.id, 'DELIVERED')
    session.answerCall(request.id, told)
    return undefined
  }
}

/** `left` is told once the bytes have left the process, or where they have nobody to go to. */
export function push(
  session: MqttConnection,
  topic: string,
  payload: string | Buffer,
  qos: 0 | 1,
  call?: PushedCall,
  left?: () => void,
): void {
  if (session.phase !== 'CONNECTED') return left?.()
  if (qos === 0) {
    if (write(session, topic, payload, undefined)) call?.of.callDelivered(call.id, 'DELIVERED')
    leave(session, left)
    return
  }
  const messageId = session.pushes.begin(call)
  if (messageId === undefined) {
    if (session.pushes.hold({ topic, payload, call, left }, session.children?.size ?? 0)) return
    // This one is lost: a session that went on would not tell.
    session.kept?.end()
    session.close(Reason.QUOTA_EXCEEDED)
    left?.()
  } else if (write(session, topic, payload, messageId)) {
    if (call === undefined && left === undefined) session.pushes.retain(messageId, topic, payload)
    callSent(call)
    leave(session, left)
  } else {
    pushDone(session, messageId)
    left?.()
  }
}

/** What an earlier connection of the session did not acknowledge: under the same packet id, as a repetition. [MQTT-4.4.0-1] */
export function pushAgain(session: MqttConnection, { messageId, topic, payload }: UnacknowledgedPush): void {
  if (messageId === undefined || !session.pushes.reopen(messageId)) return push(session, topic, payload, 1)
  if (write(session, topic, payload, messageId, true)) session.pushes.retain(messageId, topic, payload)
  else pushDone(session, messageId)
}

/** Its bytes leave with what is written next. */
function leave(session: MqttConnection, left: (() => void) | undefined): void {
  if (left !== undefined) session.whenWritten(left)
}

/** PUBACK of a push: there is room for one that waits. */
export function pushAcknowledged(session: MqttConnection, messageId: number): void {
  const call = session.pushes.callOf(messageId)
  call?.of.callDelivered(call.id, 'DELIVERED')
  pushDone(session, messageId)
}

function callSent(call: PushedCall | undefined): void {
  call?.of.callDelivered(call.id, 'SENT')
}

function pushDone(session: MqttConnection, messageId: number): void {
  let free = messageId
  for (;;) {
    const next = session.pushes.end(free)
    if (next === undefined) return
    const id = session.pushes.begin(next.call)
    if (id === undefined) return
    if (write(session, next.topic, next.payload, id)) {
      if (next.call === undefined && next.left === undefined) session.pushes.retain(id, next.topic, next.payload)
      leave(session, next.left)
      return callSent(next.call)
    }
    next.left?.()
    free = id
  }
}

/** False where the packet is larger than the client takes: not sent, and as good as sent [MQTT-3.1.2-25]. */
function write(
  session: MqttConnection,
  topic: string,
  payload: string | Buffer,
  messageId: number | undefined,
  isRepetition = false,
): boolean {
  const { host } = session
  const packet = encodePacket(
    {
      cmd: 'publish',
      topic,
      payload,
      qos: messageId === undefined ? 0 : 1,
      dup: isRepetition,
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
