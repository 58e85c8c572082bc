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

export function settle(receipt: PublishReceipt, reason: ReasonCode): void {
  if (receipt instanceof Acknowledgement) receipt.settle(reason)
}
