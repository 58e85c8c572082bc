/** What the devices behind a gateway are told, on the gateway's connection. Source: `device-api.md` 4.1, 4.2. */
import type { CallRequest, DeviceSession, SharedAttributesUpdate } from '../../../engine/device/gateway.ts'
import { sharedAttributesJson } from '../../payload/attribute-answer.ts'
import type { MqttConnection } from '../connection.ts'
import type { PushedCall } from '../downlink-pushes.ts'
import { grantedQos, push } from '../handlers/push.ts'
import { filterIndex } from '../topics.ts'
import { encodeChildCall, encodeChildUpdate } from './protobuf-payloads.ts'
import type { ChildVoice } from './registry.ts'

const ATTRIBUTES_TOPIC = 'v1/gateway/attributes'
const CALLS_TOPIC = 'v1/gateway/rpc'

export class GatewayVoice implements ChildVoice {
  readonly keepsSilent = false
  private readonly session: MqttConnection

  constructor(session: MqttConnection) {
    this.session = session
  }

  attributesChanged(name: string, update: SharedAttributesUpdate): void {
    if (isProtobufGateway(this.session))
      return pushToGateway(this.session, ATTRIBUTES_TOPIC, encodeChildUpdate(name, update, this.session.host.now()))
    const data = sharedAttributesJson(update)
    pushToGateway(this.session, ATTRIBUTES_TOPIC, `{"device":${JSON.stringify(name)},"data":${data}}`)
  }

  called(name: string, of: DeviceSession, request: CallRequest): void {
    const { id, method, params } = request
    if (isProtobufGateway(this.session))
      return pushToGateway(this.session, CALLS_TOPIC, encodeChildCall(name, request), { of, id })
    const data = `{"id":${id},"method":${JSON.stringify(method)},"params":${params}}`
    pushToGateway(this.session, CALLS_TOPIC, `{"device":${JSON.stringify(name)},"data":${data}}`, { of, id })
  }

  leaving(): void {
    // Nothing is stored of it.
  }
}

/** The form of the messages of its profile, both ways: nothing of the profile says otherwise (`device-api.md` 5.3). */
export function isProtobufGateway(session: MqttConnection): boolean {
  return session.device?.device.payloads !== undefined
}

/** Whether it subscribed or not (`device-api.md` 4.2). */
export function pushToGateway(
  session: MqttConnection,
  topic: string,
  payload: string | Buffer,
  call?: PushedCall,
): void {
  push(session, topic, payload, grantedQos(session, filterIndex(topic) ?? 0), call)
}
