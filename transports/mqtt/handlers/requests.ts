/** What a device asks over MQTT and is answered on a response topic. Source: `device-api.md` 3.5. */
import { isMillraceError } from '../../../model/errors.ts'
import type { DeviceIdentity, DeviceSession, PublishReceipt } from '../../../engine/device/gateway.ts'
import { attributeAnswerJson } from '../../payload/attribute-answer.ts'
import { decodeBy } from '../../payload/device-payloads.ts'
import {
  decodeAttributeRequest,
  decodeServerCall,
  encodeAttributeAnswer,
  encodeServerAnswer,
} from '../../payload/protobuf/platform-messages.ts'
import { provisionAnswerBytes, provisioningOf, type Provisioning } from '../../payload/provision-protobuf.ts'
import type { MqttConnection } from '../connection.ts'
import { MqttErrors } from '../errors.ts'
import { FILTERS, PROVISION_FILTER, V1_CALLS, type Uplink } from '../topics.ts'
import { grantedQos, isProtobuf, push } from './push.ts'
import { refuseAndLeave } from './settle.ts'

/** The number that clients are told to keep to; upstream's `msg_queue_size_per_device_limit`. */
const TOLD_IN_FLIGHT_MESSAGES = 100
/** Of an object that is no request of provisioning. */
const INCOMPLETE: readonly string[] = ['payload.FIELD_MISSING', 'payload.CREDENTIALS_TYPE']

/** Throws `invalid` for a payload that is no request. The receipt is settled when the answer is on its way. */
export function answerAttributes(
  session: MqttConnection,
  device: DeviceSession,
  uplink: Extract<Uplink, { kind: 'ATTRIBUTE_REQUEST' }>,
  payload: Buffer,
  receipt: PublishReceipt,
): void {
  const { family, requestId } = uplink
  const asked = decodeBy(
    device.device,
    family.form,
    () => session.host.decoder.attributeRequest(payload),
    () => decodeAttributeRequest(payload),
  )
  device.requestAttributes(asked).then(
    (answer) => {
      receipt.stored()
      const qos = grantedQos(session, family.filter)
      const told = isProtobuf(session, family.filter)
        ? encodeAttributeAnswer(requestId, asked, answer, session.host.now())
        : attributeAnswerJson(answer)
      push(session, `${family.responsePrefix}${requestId}`, told, qos)
    },
    (error: unknown) => {
      receipt.refused(isMillraceError(error) ? error : MqttErrors.ATTRIBUTES_UNAVAILABLE({}, error))
    },
  )
}

/**
 * A device calls the rule engine. `getSessionLimits` on the v1 topic is answered by the transport itself: SDKs and gateways ask it first.
 * Throws `invalid` for a payload that is no call.
 */
export function answerClientRpc(
  session: MqttConnection,
  device: DeviceSession,
  uplink: Extract<Uplink, { kind: 'CLIENT_RPC' }>,
  payload: Buffer,
  receipt: PublishReceipt,
): void {
  const { family, requestId } = uplink
  const { method, data } = decodeBy(
    device.device,
    family.form,
    () => session.host.decoder.serverCall(payload),
    () => decodeServerCall(payload),
  )
  const answer = (text: string): void => {
    const told = isProtobuf(session, family.filter) ? encodeServerAnswer(requestId, text) : text
    push(session, `${family.responsePrefix}${requestId}`, told, grantedQos(session, family.filter))
  }
  if (family === V1_CALLS && method === 'getSessionLimits') {
    device.touch()
    receipt.stored()
    return answer(JSON.stringify(sessionLimits(session, device.device)))
  }
  // A refusal has told the receipt.
  device.callServer({ requestId, data }, receipt).then(answer, () => undefined)
}

/** Throws `invalid` for a payload that is no request. */
export function answerProvision(session: MqttConnection, payload: Buffer, receipt: PublishReceipt): void {
  session.heard()
  let asked: Provisioning
  try {
    asked = provisioningOf(payload)
  } catch (error) {
    if (!isMillraceError(error) || !INCOMPLETE.includes(error.code)) throw error
    return refuseAndLeave(session, receipt)
  }
  session.host.gateway.provision(asked.request, session.address).then(
    (answer) => {
      receipt.stored()
      push(
        session,
        FILTERS[PROVISION_FILTER] ?? '',
        provisionAnswerBytes(answer, asked),
        grantedQos(session, PROVISION_FILTER),
      )
    },
    (error: unknown) => {
      receipt.refused(isMillraceError(error) ? error : MqttErrors.PROVISION_UNAVAILABLE({}, error))
    },
  )
}

function sessionLimits(session: MqttConnection, device: DeviceIdentity) {
  const { own, children } = session.host.gateway.ratesOf(device)
  return {
    maxPayloadSize: session.host.limits.maxPacketBytes,
    maxInflightMessages: TOLD_IN_FLIGHT_MESSAGES,
    rateLimits: own,
    // Of the devices behind it.
    ...(session.children === undefined ? {} : { gatewayRateLimits: children }),
  }
}
