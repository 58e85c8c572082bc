/** Series, as nodes save them: of the tenant's entities, and as long as its profile says where nothing else does. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { isLater, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { NodeTelemetry } from '../../engine/rulechain/capabilities/telemetry.ts'
import { errorText } from '../../model/errors.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import type { OwnEntities } from './own-entities.ts'

export function nodeTelemetry(
  { telemetry, movedDevices: moved }: Pick<Services, 'telemetry' | 'movedDevices'>,
  own: Pick<OwnEntities, 'owns'>,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeTelemetry {
  return ({ tenantId }) => ({
    save: ({ isOwn, ...request }, done) => {
      const { entity } = request
      const saveWhere = (isTheirs: boolean): void => {
        if (isTheirs && !moved.isFormer(tenantId, entity)) telemetry.save(request, done)
        else done(itemNotFound(entity))
      }
      const isTheirs: Soon<boolean> = isOwn === true || own.owns(tenantId, entity)
      if (!isLater(isTheirs)) saveWhere(isTheirs)
      else isTheirs.then(saveWhere, (error: unknown) => done(errorOf(error)))
    },
  })
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorText(error))
}
