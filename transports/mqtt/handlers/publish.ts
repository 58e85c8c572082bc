/**
 * PUBLISH: to the topic's meaning, and its acknowledgement's place in the line. Source: `device-api.md` 3.5, 3.8.
 * A publish is acknowledged by its receipt, which the gateway settles once the message is durable.
 */
import { isMillraceError } from '../../../model/errors.ts'
import type { DeviceSession, PublishReceipt } from '../../../engine/device/gateway.ts'
import {
  decodeBy,
  decodeOwn,
  decodeOwnTelemetry,
  decodeReply,
  type PayloadForm,
} from '../../payload/device-payloads.ts'
import { claimOfferOf } from '../../payload/onboarding.ts'
import { decodeClaim } from '../../payload/protobuf/platform-messages.ts'
import { Acknowledgement } from '../acknowledgements.ts'
import { ProtocolViolation, malformed } from '../codec.ts'
import type { MqttConnection } from '../connection.ts'
import { CustomTopics } from '../custom-topics.ts'
import { dispatchGateway } from '../gateway/dispatch.ts'
import { PublishView } from '../publish-view.ts'
import { Reason } from '../reason-codes.ts'
import { TopicAliases } from '../topic-aliases.ts'
import { TELEMETRY_TOPIC, uplinkOf, type Uplink } from '../topics.ts'
import { requestPackage } from './packages.ts'
import { answerAttributes, answerClientRpc, answerProvision } from './requests.ts'
import { settle, undecodable } from './settle.ts'

const view = new PublishView()
const TELEMETRY: Uplink = { kind: 'TELEMETRY', form: 'PROFILE' }

/** Throws ProtocolViolation. */
export function handlePublish(
  session: MqttConnection,
  bytes: Buffer,
  start: number,
  bodyStart: number,
  end: number,
): void {
  view.read(bytes, start, bodyStart, end, session.version)
  session.host.counts.received++
  const { qos, messageId, payloadStart } = view
  const uplink =
    view.topicAlias === 0
      ? uplinkAt(session, bytes, view.topicStart, view.topicEnd)
      : uplinkOfAlias(session, view.topicAlias, bytes.toString('utf8', view.topicStart, view.topicEnd))
  const receipt = qos === 0 ? session : expectAcknowledgement(session, qos, messageId, uplink)
  // The second delivery of a QoS 2 publish: its first PUBREC was lost, its message was not. [MQTT-4.3.3-10]
  if (receipt === undefined) return
  try {
    dispatch(session, uplink, receipt, bytes, payloadStart, end)
  } catch (error) {
    if (isMillraceError(error) && error.kind === 'invalid') return undecodable(session, receipt)
    // Nobody will answer it: sent again it is a new one.
    if (receipt instanceof Acknowledgement) forgetPublish(session, receipt)
    throw error
  }
}

function dispatch(
  session: MqttConnection,
  uplink: Uplink,
  receipt: PublishReceipt,
  bytes: Buffer,
  start: number,
  end: number,
): void {
  const { device, host } = session
  if (session.isProvisioning) return dispatchProvisioning(session, uplink, receipt, bytes.subarray(start, end))
  if (device === undefined) return
  switch (uplink.kind) {
    case 'TELEMETRY':
      // Nearly every publish: no closure is made for it.
      if (isJson(device, uplink.form)) return device.postTelemetry(host.decoder.telemetry(bytes, start, end), receipt)
      return postTelemetry(session, device, uplink.form, bytes.subarray(start, end), receipt)
    case 'ATTRIBUTES':
      return postAttributes(session, device, uplink.form, bytes.subarray(start, end), receipt)
    case 'ATTRIBUTE_REQUEST':
      return answerAttributes(session, device, uplink, bytes.subarray(start, end), receipt)
    case 'CLIENT_RPC':
      return answerClientRpc(session, device, uplink, bytes.subarray(start, end), receipt)
    case 'CALL_ANSWER':
      device.answerCall(uplink.requestId, replyOf(device, uplink.form, bytes.subarray(start, end)))
      return settle(receipt, Reason.SUCCESS)
    case 'CLAIM':
      return offerForClaim(device, bytes.subarray(start, end), receipt)
    case 'PACKAGE':
      if (!requestPackage(session, device, uplink, bytes.subarray(start, end), receipt)) undecodable(session, receipt)
      return
    case 'SPARKPLUG':
      return session.sparkplug?.received(uplink.topic, bytes.subarray(start, end), receipt)
    case 'GATEWAY':
      if (session.children === undefined) return settle(receipt, Reason.NOT_AUTHORIZED)
      return dispatchGateway(session, session.children, uplink.topic, bytes.subarray(start, end), receipt)
    case 'BAD_REQUEST_ID':
      return undecodable(session, receipt)
    case 'PROVISION':
    case 'UNKNOWN':
  }
  // The reference acknowledges what goes to nowhere, and clients live with it; v5 clients are told (`device-api.md` 3.8).
  host.counts.unknownTopics++
  device.touch()
  settle(receipt, Reason.TOPIC_NAME_INVALID)
}

function isJson({ device }: DeviceSession, form: PayloadForm): boolean {
  return form === 'JSON' || (form === 'PROFILE' && device.payloads === undefined)
}

/** All that follow throw `invalid`. */
function postTelemetry(
  { host }: MqttConnection,
  session: DeviceSession,
  form: PayloadForm,
  payload: Buffer,
  receipt: PublishReceipt,
): void {
  const { device } = session
  const groups = decodeBy(
    device,
    form,
    () => host.decoder.telemetry(payload),
    () => decodeOwnTelemetry(host.decoder, device.payloads?.telemetry, payload),
  )
  session.postTelemetry(groups, receipt)
}

function postAttributes(
  { host }: MqttConnection,
  session: DeviceSession,
  form: PayloadForm,
  payload: Buffer,
  receipt: PublishReceipt,
): void {
  const { device } = session
  const entries = decodeBy(
    device,
    form,
    () => host.decoder.attributes(payload),
    () => host.decoder.attributesOf(decodeOwn(device.payloads?.attributes, payload)),
  )
  session.postAttributes(entries, receipt)
}

function replyOf({ device }: DeviceSession, form: PayloadForm, payload: Buffer): string {
  return decodeBy(
    device,
    form,
    () => payload.toString('utf8'),
    () => decodeReply(device, payload),
  )
}

function offerForClaim(session: DeviceSession, payload: Buffer, receipt: PublishReceipt): void {
  const offer = decodeBy(
    session.device,
    'PROFILE',
    () => claimOfferOf(payload),
    () => decodeClaim(payload),
  )
  session.offerForClaim(offer, receipt)
}

/** Who has no credentials asks for some, and does nothing else (`device-api.md` 9.2). */
function dispatchProvisioning(session: MqttConnection, uplink: Uplink, receipt: PublishReceipt, payload: Buffer): void {
  if (uplink.kind === 'PROVISION') return answerProvision(session, payload, receipt)
  session.host.counts.unknownTopics++
  settle(receipt, Reason.TOPIC_NAME_INVALID)
  if (session.version === 5) session.close(Reason.TOPIC_NAME_INVALID)
}

/** Undefined for a QoS 2 publish that is here already. Throws ProtocolViolation. */
function expectAcknowledgement(
  session: MqttConnection,
  qos: 1 | 2,
  messageId: number,
  uplink: Uplink,
): Acknowledgement | undefined {
  const { maxInFlight } = session.host.limits
  const { pending, pendingQos2 } = session.acknowledgements
  const first = qos === 2 ? session.unreleased?.get(messageId) : undefined
  if (first !== undefined) {
    // Its first delivery on this connection is still to be answered.
    if (first !== 'ANSWERED' && (first.owner === session || first.redelivered?.owner === session)) return undefined
    // An MQTT 3 client is not read meanwhile.
    if (session.version === 5 && pending >= maxInFlight) throw tooManyInFlight()
    const again = acknowledge(session, messageId, qos, true)
    if (first === 'ANSWERED') again.settle(Reason.SUCCESS)
    else first.redelivered = again
    return undefined
  }
  const unreleased = session.unreleased?.size ?? 0
  // A QoS 2 publish counts until its PUBCOMP [MQTT-3.3.4-9]. One that failed, or was released too early, still waits for its PUBREC.
  if (session.version === 5 && pending - pendingQos2 + Math.max(pendingQos2, unreleased) >= maxInFlight)
    throw tooManyInFlight()
  if (qos === 1) return acknowledge(session, messageId, qos, false)
  if (unreleased >= maxInFlight)
    throw new ProtocolViolation(Reason.QUOTA_EXCEEDED, 'too many QoS 2 publishes without PUBREL')
  session.unreleased ??= new Map()
  const acknowledgement = acknowledge(session, messageId, qos, !isRequest(uplink))
  session.unreleased.set(messageId, acknowledgement)
  return acknowledgement
}

/** It changes nothing, and its answer is for the connection that it came by. */
function isRequest(uplink: Uplink): boolean {
  switch (uplink.kind) {
    case 'ATTRIBUTE_REQUEST':
    case 'PACKAGE':
      return true
    case 'GATEWAY':
      return uplink.topic === 'ATTRIBUTE_REQUEST'
    default:
      return false
  }
}

function tooManyInFlight(): ProtocolViolation {
  return new ProtocolViolation(Reason.RECEIVE_MAXIMUM_EXCEEDED, 'more publishes than the Receive Maximum')
}

function acknowledge(session: MqttConnection, messageId: number, qos: 1 | 2, isDoneOnce: boolean): Acknowledgement {
  const acknowledgement = new Acknowledgement(session, messageId, qos, isDoneOnce)
  session.acknowledgements.add(acknowledgement)
  return acknowledgement
}

/** A QoS 2 publish has its PUBREC. Where a v5 client reads of a failure there, its packet id is free again. [MQTT-4.3.3-9] */
export function publishAnswered(session: MqttConnection, acknowledgement: Acknowledgement): void {
  const { messageId, reason } = acknowledgement
  const isFailure = session.version === 5 && reason !== undefined && reason >= Reason.UNSPECIFIED_ERROR
  if (isFailure) forgetPublish(session, acknowledgement)
  else if (session.unreleased?.get(messageId) === acknowledgement) session.unreleased.set(messageId, 'ANSWERED')
}

/** Its packet id is free again, where it still has it. */
export function forgetPublish({ unreleased }: MqttConnection, acknowledgement: Acknowledgement): void {
  const { messageId } = acknowledgement
  if (unreleased?.get(messageId) === acknowledgement) unreleased.delete(messageId)
}

/** PUBREL: the packet id is free again; answered also for one that is not known. [MQTT-4.3.3-11] */
export function releasePublish(session: MqttConnection, messageId: number): void {
  const isKnown = session.unreleased?.delete(messageId) === true
  if (session.unreleased?.size === 0) session.unreleased = undefined
  if (isKnown || session.version !== 5) session.send({ cmd: 'pubcomp', messageId })
  else session.send({ cmd: 'pubcomp', messageId, reasonCode: Reason.PACKET_ID_NOT_FOUND })
}

function uplinkAt(session: MqttConnection, bytes: Buffer, start: number, end: number): Uplink {
  const { device, sparkplug, version } = session
  if (device?.device.mqtt === undefined && sparkplug === undefined && isTelemetryTopic(bytes, start, end))
    return TELEMETRY
  // An MQTT 3 client without a topic is answered as for any that goes to nowhere.
  if (version === 5 && start === end)
    throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'neither a topic nor an alias of one')
  const topic = bytes.toString('utf8', start, end)
  requireTopicName(topic)
  return uplinkOn(session, topic)
}

/** `topic`: what the alias is to mean from now on; empty: what it means. Throws ProtocolViolation. MQTT 5 section 3.3.2.3.4. */
function uplinkOfAlias(session: MqttConnection, alias: number, topic: string): Uplink {
  // [MQTT-3.3.2-9]
  if (alias > session.topicAliasMaximum)
    throw new ProtocolViolation(
      Reason.TOPIC_ALIAS_INVALID,
      `topic alias ${alias}, at most ${session.topicAliasMaximum}`,
    )
  const { host, tenantId } = session
  if (session.topicAliases === undefined && tenantId !== undefined)
    session.topicAliases = new TopicAliases(host.limits, host.aliasShares, tenantId)
  const aliases = session.topicAliases
  if (aliases === undefined) throw malformed('topic alias without a session')
  if (topic === '') return uplinkOn(session, aliases.topicOf(alias))
  requireTopicName(topic)
  aliases.set(alias, topic)
  return uplinkOn(session, topic)
}

/** [MQTT-3.3.2-2], [MQTT-1.5.4-1], [MQTT-1.5.4-2]. Throws ProtocolViolation. */
function requireTopicName(topic: string): void {
  if (/[+#\0\ufffd]/.test(topic)) throw malformed('topic name')
}

function uplinkOn({ device, sparkplug }: MqttConnection, topic: string): Uplink {
  if (sparkplug !== undefined) return { kind: 'SPARKPLUG', topic }
  const profile = device?.device.mqtt
  if (profile === undefined && topic === TELEMETRY_TOPIC) return TELEMETRY
  return profile === undefined ? uplinkOf(topic) : CustomTopics.of(profile).uplinkOf(topic)
}

/** Nearly every publish: told from its bytes, so that no string is made. */
function isTelemetryTopic(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== TELEMETRY_TOPIC.length) return false
  for (let index = TELEMETRY_TOPIC.length - 1; index >= 0; index--) {
    if (bytes[start + index] !== TELEMETRY_TOPIC.charCodeAt(index)) return false
  }
  return true
}
