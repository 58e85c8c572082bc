/** SUBSCRIBE and UNSUBSCRIBE: only the filters of the table are granted. Source: `device-api.md` 3.7. */
import type { ISubscribePacket, IUnsubscribePacket } from '../codec.ts'
import { ProtocolViolation, malformed } from '../codec.ts'
import type { MqttConnection } from '../connection.ts'
import { Reason } from '../reason-codes.ts'
import { CustomTopics } from '../custom-topics.ts'
import { isSparkplugFilter } from '../sparkplug/topics.ts'
import { CUSTOM_ATTRIBUTE_FILTER, filterIndex, isAttributeFilter, isCallFilter, PROVISION_FILTER } from '../topics.ts'

const FAILURE_V3 = 0x80

/** Throws ProtocolViolation. */
export function handleSubscribe(session: MqttConnection, packet: ISubscribePacket): void {
  if (packet.subscriptions.length === 0) throw malformed('SUBSCRIBE without a filter') // [MQTT-3.8.3-2]
  // The CONNACK says that there are none: who sorts by them would sort nothing. MQTT 5 section 3.2.2.3.12.
  if (packet.properties?.subscriptionIdentifier !== undefined)
    throw new ProtocolViolation(Reason.SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED, 'subscription identifier')
  const before = session.callFilters
  const granted = packet.subscriptions.map(({ topic, qos }) => subscribe(session, topic, qos))
  const messageId = messageIdOf(packet)
  const isOfCalls = session.callFilters !== before
  session.device?.touch()
  whenKept(session, () => {
    session.send({ cmd: 'suback', messageId, granted })
    // What waits for the device comes at once, and what timed out once more (`device-api.md` 7.1); once, however many of the filters are of calls.
    if (isOfCalls && session.callFilters.length > 0) session.device?.subscribeToCalls('all')
  })
}

/** A client that was told need not subscribe again, whatever becomes of this process. */
function whenKept(session: MqttConnection, told: () => void): void {
  if (session.kept === undefined) told()
  else session.kept.subscribed(session, told)
}

function subscribe(session: MqttConnection, filter: string, requestedQos: number): number {
  if (session.sparkplug !== undefined)
    return session.sparkplug.subscribe(filter, requestedQos) ?? failure(session, filter)
  const index = indexOf(session, filter)
  if (index === undefined || (index === PROVISION_FILTER) !== session.isProvisioning) return failure(session, filter)
  const bit = 1 << index
  const qos = Math.min(requestedQos, 1)
  session.subscriptions |= bit
  if (qos === 1) session.grantedQos1 |= bit
  else session.grantedQos1 &= ~bit
  if (index === CUSTOM_ATTRIBUTE_FILTER) session.customAttributeFilter = filter
  if (isAttributeFilter(index)) {
    const others = session.attributeFilters.filter((other) => other !== index)
    const isFirst = session.attributeFilters.length === 0
    session.attributeFilters = [...others, index]
    // One that is kept hears of them itself.
    if (isFirst && session.kept === undefined) session.device?.subscribeToSharedAttributes()
  }
  if (isCallFilter(index)) session.callFilters = [...session.callFilters.filter((other) => other !== index), index]
  return qos
}

function failure(session: MqttConnection, filter: string): number {
  if (session.version !== 5) return FAILURE_V3
  return filter.startsWith('$share/') ? Reason.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED : Reason.TOPIC_FILTER_INVALID
}

/** Throws ProtocolViolation. */
export function handleUnsubscribe(session: MqttConnection, packet: IUnsubscribePacket): void {
  if (packet.unsubscriptions.length === 0) throw malformed('UNSUBSCRIBE without a filter') // [MQTT-3.10.3-2]
  const granted = packet.unsubscriptions.map((filter) => unsubscribe(session, filter))
  session.device?.touch()
  const messageId = messageIdOf(packet)
  whenKept(session, () => session.send({ cmd: 'unsuback', messageId, granted }))
}

/** Undefined where no such filter exists for this device. */
function indexOf(session: MqttConnection, filter: string): number | undefined {
  const index = filterIndex(filter)
  const profile = session.device?.device.mqtt
  if (index !== undefined || profile === undefined) return index
  return CustomTopics.of(profile).isSubscribable(filter) ? CUSTOM_ATTRIBUTE_FILTER : undefined
}

function unsubscribe(session: MqttConnection, filter: string): number {
  // Commands come anyway.
  if (session.sparkplug !== undefined)
    return isSparkplugFilter(filter) ? Reason.SUCCESS : Reason.NO_SUBSCRIPTION_EXISTED
  const index = filter === session.customAttributeFilter ? CUSTOM_ATTRIBUTE_FILTER : filterIndex(filter)
  if (index === undefined || (session.subscriptions & (1 << index)) === 0) return Reason.NO_SUBSCRIPTION_EXISTED
  session.subscriptions &= ~(1 << index)
  if (index === CUSTOM_ATTRIBUTE_FILTER) session.customAttributeFilter = undefined
  if (isAttributeFilter(index)) {
    session.attributeFilters = session.attributeFilters.filter((other) => other !== index)
    if (session.attributeFilters.length === 0) session.device?.unsubscribeFromSharedAttributes()
  }
  if (isCallFilter(index)) {
    session.callFilters = session.callFilters.filter((other) => other !== index)
    if (session.callFilters.length === 0) session.device?.unsubscribeFromCalls()
  }
  return Reason.SUCCESS
}

function messageIdOf(packet: ISubscribePacket | IUnsubscribePacket): number {
  const id = packet.messageId
  if (id === undefined || id === 0) throw malformed('packet identifier 0') // [MQTT-2.2.1-3]
  return id
}
