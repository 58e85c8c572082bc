/** Attributes, as nodes read and write them: of the tenant's entities. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeAttributes } from '../../engine/rulechain/capabilities/attributes.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { handedOver } from '../calculated-fields/handed-over.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import type { OwnEntities } from './own-entities.ts'

type Parts = Pick<Services, 'attributes' | 'movedDevices' | 'calculated'>

export function nodeAttributes(
  { attributes, movedDevices: moved, calculated }: Parts,
  own: Pick<OwnEntities, 'owns'>,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeAttributes {
  return ({ tenantId }) => ({
    save: async ({ isOwn, ...request }) => {
      const { entity } = request
      const isTheirs = isOwn === true || (await own.owns(tenantId, entity))
      if (!isTheirs || moved.isFormer(tenantId, entity)) throw itemNotFound(entity)
      return attributes.save(request)
    },
    find: (entity, scope, keys) =>
      whenThere(own.owns(tenantId, entity), (isOwn) =>
        isOwn
          ? (attributes.findHeld(entity, scope, keys) ??
            attributes.find(entity, scope, keys).then(({ value }) => value))
          : [],
      ),
    delete: async ({ entity, scope, keys, notifyDevice, calculated: cause }) => {
      if (!(await own.owns(tenantId, entity))) throw itemNotFound(entity)
      await attributes.delete(entity, scope, keys, notifyDevice ? undefined : 'subscribers')
      if (cause === undefined) return
      const values = { kind: 'attributes deleted', scope, keys } as const
      await handedOver(calculated, { tenantId, entity, values, cause })
    },
  })
}
