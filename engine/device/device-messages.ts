/** The rule-engine messages that devices cause. Source: `device-api.md` 1.4, `rule-engine.md` 2.3. */
import { entriesJson } from '../../model/entry-json.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { Message } from '../../model/message.ts'
import type { Entry } from '../../model/value.ts'
import type { DeviceIdentity, UploadedScope } from './gateway.ts'
import type { MessageIds } from './message-ids.ts'

/** The device as a message's originator; made once a device, shared by its messages. */
export function deviceOriginator(device: DeviceIdentity): EntityId {
  return entityId('DEVICE', device.deviceId)
}

/** In place of a time: that of the element before it in the same upload, which carried none either. */
export const SAME_UPLOAD = '='

/**
 * `arrival` is the message's time. `ts` is the points', undefined where the device sent none: its owner gives them one in log order.
 * `json` is the entries' text where it is known.
 */
export function telemetryMessage(
  ids: MessageIds,
  device: DeviceIdentity,
  originator: EntityId,
  arrival: number,
  ts: number | typeof SAME_UPLOAD | undefined,
  entries: readonly Entry[],
  json: string | undefined,
): Message {
  return new Message(
    {
      id: ids.next(),
      ts: arrival,
      type: 'POST_TELEMETRY_REQUEST',
      tenantId: device.tenantId,
      originator,
      customerId: device.customerId ?? undefined,
      metadata:
        ts === undefined
          ? { deviceName: device.deviceName, deviceType: device.deviceType }
          : { deviceName: device.deviceName, deviceType: device.deviceType, ts: String(ts) },
      data: json ?? entriesJson(entries),
      ruleChainId: device.ruleChainId ?? undefined,
      queueName: device.queueName ?? undefined,
    },
    { entries },
  )
}

export function attributesMessage(
  ids: MessageIds,
  device: DeviceIdentity,
  originator: EntityId,
  arrival: number,
  entries: readonly Entry[],
  scope: UploadedScope | undefined,
): Message {
  return new Message(
    {
      id: ids.next(),
      ts: arrival,
      type: 'POST_ATTRIBUTES_REQUEST',
      tenantId: device.tenantId,
      originator,
      customerId: device.customerId ?? undefined,
      metadata: {
        ...{ deviceName: device.deviceName, deviceType: device.deviceType, notifyDevice: 'false' },
        ...(scope === undefined ? {} : { scope }),
      },
      data: entriesJson(entries),
      ruleChainId: device.ruleChainId ?? undefined,
      queueName: device.queueName ?? undefined,
    },
    { entries },
  )
}

/** Where the answer to a device's call goes: the reply node names all three. */
export interface CallOrigin {
  readonly serviceId: string
  readonly sessionId: string
  readonly requestId: string
}

export function serverCallMessage(
  ids: MessageIds,
  device: DeviceIdentity,
  originator: EntityId,
  arrival: number,
  data: string,
  origin: CallOrigin,
): Message {
  return new Message({
    id: ids.next(),
    ts: arrival,
    type: 'TO_SERVER_RPC_REQUEST',
    tenantId: device.tenantId,
    originator,
    customerId: device.customerId ?? undefined,
    metadata: { deviceName: device.deviceName, deviceType: device.deviceType, ...origin },
    data,
    ruleChainId: device.ruleChainId ?? undefined,
    queueName: device.queueName ?? undefined,
  })
}
