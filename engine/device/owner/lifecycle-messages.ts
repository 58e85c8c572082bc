/** The rule-engine messages that tell how a device is. Source: `device-api.md` 8, `rule-engine.md` 2.3. */
import { Message } from '../../../model/message.ts'
import { deviceOriginator } from '../device-messages.ts'
import type { DeviceIdentity } from '../gateway.ts'
import type { MessageIds } from '../message-ids.ts'
import { stateEventJson, type DeviceState, type LifecycleEvent } from './device-state.ts'

export function lifecycleMessage(
  ids: MessageIds,
  device: DeviceIdentity,
  type: LifecycleEvent,
  now: number,
  state: DeviceState,
): Message {
  return new Message({
    id: ids.next(),
    ts: now,
    type,
    tenantId: device.tenantId,
    originator: deviceOriginator(device),
    customerId: device.customerId ?? undefined,
    metadata: {
      deviceName: device.deviceName,
      ...(device.deviceLabel === undefined || device.deviceLabel === null ? {} : { deviceLabel: device.deviceLabel }),
      deviceType: device.deviceType,
      scope: 'SERVER_SCOPE',
    },
    data: stateEventJson(type, state),
    ruleChainId: device.ruleChainId ?? undefined,
    queueName: device.queueName ?? undefined,
  })
}
