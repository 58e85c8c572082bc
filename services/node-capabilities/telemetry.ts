/** Series, as nodes save them; none of a device that went to another tenant. */
import type { NodeTelemetry } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'

export function nodeTelemetry({
  telemetry,
  movedDevices: moved,
}: Pick<Services, 'telemetry' | 'movedDevices'>): (node: Pick<NodeIdentity, 'tenantId'>) => NodeTelemetry {
  return ({ tenantId }) => ({
    save: (request, done) => {
      if (moved.isFormer(tenantId, request.entity)) done(itemNotFound(request.entity))
      else telemetry.save(request, done)
    },
  })
}
