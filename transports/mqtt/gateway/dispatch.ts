/** A gateway's publish: to the devices that it names. Source: `device-api.md` 4.1, 4.3. */
import { entriesJson } from '../../../model/entry-json.ts'
import { isMillraceError, type MillraceError } from '../../../model/errors.ts'
import type { Entry } from '../../../model/value.ts'
import type { DeviceSession, PublishReceipt } from '../../../engine/device/gateway.ts'
import { Acknowledgement } from '../acknowledgements.ts'
import type { MqttConnection } from '../connection.ts'
import { refuseAndLeave, settle, undecodable } from '../handlers/settle.ts'
import { Reason } from '../reason-codes.ts'
import type { GatewayTopic } from '../topics.ts'
import { GatewayErrors } from './errors.ts'
import { DEFAULT_TYPE, type ChildAttributeRequest, type Part } from './payloads.ts'
import { encodeChildAnswer } from './protobuf-payloads.ts'
import { PartReceipt, PublishParts, tellDropped } from './receipts.ts'
import type { ChildRegistry } from './registry.ts'
import { isProtobufGateway, pushToGateway } from './voice.ts'

/** What waits for one device, besides its payload. */
const PART_BYTES = 512
const RESPONSE_TOPIC = 'v1/gateway/attributes/response'

interface Publish {
  readonly session: MqttConnection
  readonly children: ChildRegistry
  readonly receipt: PublishReceipt
  readonly body: Buffer
}

export function dispatchGateway(
  session: MqttConnection,
  children: ChildRegistry,
  topic: GatewayTopic,
  body: Buffer,
  receipt: PublishReceipt,
): void {
  try {
    dispatch({ session, children, body, receipt }, topic)
  } catch (error) {
    if (!isMillraceError(error) || error.kind !== 'invalid') throw error
    refuseWhole(session, receipt, error)
  }
}

function dispatch(publish: Publish, topic: GatewayTopic): void {
  const { session, children, body, receipt } = publish
  const { gatewayDecoders, counts } = session.host
  const decoder = isProtobufGateway(session) ? gatewayDecoders.protobuf : gatewayDecoders.json
  switch (topic) {
    case 'TELEMETRY': {
      const { parts, latencies } = decoder.telemetry(body)
      if (latencies !== undefined) {
        const at = session.host.now()
        for (const latency of latencies) children.latencies.add(latency, at)
      }
      return each(publish, parts, (device, groups, own) => device.postTelemetry(groups, own))
    }
    case 'ATTRIBUTES':
      return each(publish, decoder.attributes(body), (device, entries, own) => device.postAttributes(entries, own))
    case 'CLAIM':
      return each(publish, decoder.claim(body), (device, offer, own) => device.offerForClaim(offer, own))
    case 'CONNECT': {
      const { name, type } = decoder.connect(body)
      return one(publish, name, (_device, own) => own.stored(), type)
    }
    case 'DISCONNECT':
      children.disconnect(decoder.disconnect(body))
      return receipt.stored()
    case 'ATTRIBUTE_REQUEST': {
      const request = decoder.attributeRequest(body)
      return one(publish, request.device, (device, own) => answerAttributes(publish, device, request, own))
    }
    case 'CALL_ANSWER': {
      const answer = decoder.callAnswer(body)
      return one(publish, answer.device, (device, own) => {
        device.answerCall(answer.id, answer.body)
        own.stored()
      })
    }
    case 'UNKNOWN':
      counts.unknownTopics++
      session.device?.touch()
      return settle(receipt, Reason.TOPIC_NAME_INVALID)
  }
}

function each<Content>(
  publish: Publish,
  parts: readonly Part<Content>[],
  act: (device: DeviceSession, content: Content, own: PublishReceipt) => void,
): void {
  const { session, children, receipt, body } = publish
  const whole = new PublishParts(session, receipt, parts.length, tellDropped)
  const bytes = Math.ceil(body.length / parts.length) + PART_BYTES
  for (const { device, content, error } of parts) {
    const own = new PartReceipt(whole, device)
    if (content === undefined) {
      own.refused(error ?? GatewayErrors.WRONG_STRUCTURE({ reason: 'nothing' }))
      continue
    }
    const connected = children.connected(device)
    if (connected !== undefined) act(connected, content, own)
    else waitFor(children, device, DEFAULT_TYPE, bytes, own, (opened) => act(opened, content, own))
  }
}

function one(
  { session, children, receipt, body }: Publish,
  name: string,
  act: (device: DeviceSession, own: PublishReceipt) => void,
  type = DEFAULT_TYPE,
): void {
  const own = new PartReceipt(new PublishParts(session, receipt, 1, tellDropped), name)
  const connected = children.connected(name)
  if (connected !== undefined) act(connected, own)
  else waitFor(children, name, type, body.length + PART_BYTES, own, (opened) => act(opened, own))
}

function waitFor(
  children: ChildRegistry,
  name: string,
  type: string,
  bytes: number,
  own: PublishReceipt,
  connected: (device: DeviceSession) => void,
): void {
  children.connect({ name, type }, { bytes, connected, refused: (error) => own.refused(error) })
}

function answerAttributes(
  { session }: Publish,
  device: DeviceSession,
  request: ChildAttributeRequest,
  own: PublishReceipt,
): void {
  const { id, device: name, isClient, keys } = request
  const clientKeys = isClient ? keys : undefined
  const sharedKeys = isClient ? undefined : keys
  device.requestAttributes({ clientKeys, sharedKeys }).then(
    (answer) => {
      own.stored()
      if (isProtobufGateway(session))
        return pushToGateway(session, RESPONSE_TOPIC, encodeChildAnswer(request, answer, session.host.now()))
      const { client, shared } = answer
      const values = valuesJson(isClient ? client : shared, keys.length === 1)
      pushToGateway(session, RESPONSE_TOPIC, `{"id":${id},"device":${JSON.stringify(name)}${values}}`)
    },
    (error: unknown) => {
      own.refused(isMillraceError(error) ? error : GatewayErrors.ATTRIBUTES_UNAVAILABLE({}, error))
    },
  )
}

/** One that was asked for alone is a value, several are an object, nothing is left out. */
function valuesJson(entries: readonly Entry[], isOne: boolean): string {
  const [only] = entries
  if (only === undefined) return ''
  return isOne ? `,${entriesJson([{ ...only, key: 'value' }]).slice(1, -1)}` : `,"values":${entriesJson(entries)}`
}

/** Nothing of it was taken. QoS 0 is dropped, and the connection stays. */
function refuseWhole(session: MqttConnection, receipt: PublishReceipt, error: MillraceError): void {
  if (!(receipt instanceof Acknowledgement)) {
    session.host.counts.undecodable++
    return
  }
  if (error.code !== 'gateway.WRONG_STRUCTURE') return undecodable(session, receipt)
  refuseAndLeave(session, receipt)
}
