/** Calls, as nodes make and answer them; none to a device that went to another tenant. */
import type { NodeCalls } from '../../engine/rulechain/capabilities/calls.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { entityId } from '../../model/entity-id.ts'
import type { Services } from '../services.ts'

export function nodeCalls({
  calls,
  movedDevices: moved,
}: Pick<Services, 'calls' | 'movedDevices'>): (node: Pick<NodeIdentity, 'tenantId'>) => NodeCalls {
  return ({ tenantId }) => ({
    toDevice: (call) => {
      moved.check(tenantId, entityId('DEVICE', call.deviceId))
      return calls.toDevice(call)
    },
    replyToDevice: (serviceId, sessionId, body) => calls.replyToDevice(serviceId, sessionId, body),
    answer: (serviceId, requestId, body) => calls.answer(serviceId, requestId, body),
  })
}
