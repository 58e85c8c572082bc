/** What a device asks over MQTT and is answered on a response topic. Source: `device-api.md` 3.5. */
import { isMillraceError } from '../../../model/errors.ts'
import type { DeviceSession, PublishReceipt } from '../../../engine/device/gateway.ts'
import { attributeAnswerJson } from '../../payload/attribute-answer.ts'
import type { MqttConnection } from '../connection.ts'
import { MqttErrors } from '../errors.ts'
import { RPC_RESPONSE_FILTER, RPC_RESPONSE_PREFIX, type Uplink } from '../topics.ts'
import { grantedQos, push } from './push.ts'

/** The number that clients are told to keep to; upstream's `msg_queue_size_per_device_limit`. */
const TOLD_IN_FLIGHT_MESSAGES = 100

/** Throws `invalid` for a payload that is no request. The receipt is settled when the answer is on its way. */
export function answerAttributes(
  session: MqttConnection,
  device: DeviceSession,
  uplink: Extract<Uplink, { kind: 'ATTRIBUTE_REQUEST' }>,
  payload: Buffer,
  receipt: PublishReceipt,
): void {
  const { family, requestId } = uplink
  device.requestAttributes(session.host.decoder.attributeRequest(payload)).then(
    (answer) => {
      receipt.stored()
      const qos = grantedQos(session, family.filter)
      push(session, `${family.responsePrefix}${requestId}`, attributeAnswerJson(answer), qos)
    },
    (error: unknown) => {
      receipt.refused(isMillraceError(error) ? error : MqttErrors.ATTRIBUTES_UNAVAILABLE({}, error))
    },
  )
}

/**
 * `getSessionLimits` is answered by the transport itself: SDKs and gateways ask it first. False for every other method.
 */
export function answerClientRpc(session: MqttConnection, requestId: number, payload: Buffer): boolean {
  if (session.host.decoder.method(payload) !== 'getSessionLimits') return false
  const rateLimits = { messages: null, telemetryMessages: null, telemetryDataPoints: null }
  const limits = {
    maxPayloadSize: session.host.limits.maxPacketBytes,
    maxInflightMessages: TOLD_IN_FLIGHT_MESSAGES,
    rateLimits,
  }
  session.device?.touch()
  const qos = grantedQos(session, RPC_RESPONSE_FILTER)
  push(session, `${RPC_RESPONSE_PREFIX}${requestId}`, JSON.stringify(limits), qos)
  return true
}
