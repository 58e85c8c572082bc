/** Calls, as nodes make and answer them: to devices of the tenant. */
import type { NodeCalls } from '../../engine/rulechain/capabilities/calls.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { entityId } from '../../model/entity-id.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import type { OwnEntities } from './own-entities.ts'

export function nodeCalls(
  { calls, movedDevices: moved }: Pick<Services, 'calls' | 'movedDevices'>,
  own: OwnEntities,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeCalls {
  return ({ tenantId }) => ({
    toDevice: async (call) => {
      const device = entityId('DEVICE', call.deviceId)
      moved.check(tenantId, device)
      return whenThere(own.owns(tenantId, device), (isOwn) => {
        if (!isOwn) throw itemNotFound(device)
        return calls.toDevice(call)
      })
    },
    replyToDevice: (serviceId, sessionId, body) => calls.replyToDevice(serviceId, sessionId, body),
    answer: (serviceId, requestId, body) => calls.answer(serviceId, requestId, body),
  })
}
