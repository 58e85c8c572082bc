/** What a publish is answered with where nothing was to be stored, or nothing may be. */
import type { PublishReceipt } from '../../../engine/device/gateway.ts'
import { Acknowledgement } from '../acknowledgements.ts'
import type { MqttConnection } from '../connection.ts'
import { Reason, type ReasonCode } from '../reason-codes.ts'

/** MQTT 3 has no word for it but the end of the connection, unless the profile wants it acknowledged; v5 says it where there is a PUBACK (`device-api.md` 3.8). */
export function undecodable(session: MqttConnection, receipt: PublishReceipt): void {
  session.host.counts.undecodable++
  if (session.version === 5 && receipt instanceof Acknowledgement) receipt.settle(Reason.PAYLOAD_FORMAT_INVALID)
  else if (session.device?.device.mqtt?.acknowledgesUndecodable === true && receipt instanceof Acknowledgement)
    receipt.settle(Reason.SUCCESS)
  else session.close(Reason.PAYLOAD_FORMAT_INVALID)
}

/** What can be read and is not what it should be: acknowledged as refused, and the connection ends behind that (`device-api.md` 4.3, 9.2). */
export function refuseAndLeave(session: MqttConnection, receipt: PublishReceipt): void {
  session.host.counts.undecodable++
  settle(receipt, Reason.IMPLEMENTATION_SPECIFIC)
  session.closeWhenAnswered(Reason.IMPLEMENTATION_SPECIFIC)
}

export function settle(receipt: PublishReceipt, reason: ReasonCode): void {
  if (receipt instanceof Acknowledgement) receipt.settle(reason)
}
