/** Attributes, as nodes read and write them; of a device that went to another tenant neither. */
import type { NodeAttributes } from '../../engine/rulechain/capabilities/attributes.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'

export function nodeAttributes({
  attributes,
  movedDevices: moved,
}: Pick<Services, 'attributes' | 'movedDevices'>): (node: Pick<NodeIdentity, 'tenantId'>) => NodeAttributes {
  return ({ tenantId }) => ({
    save: (request) =>
      moved.isFormer(tenantId, request.entity)
        ? Promise.reject(itemNotFound(request.entity))
        : attributes.save(request),
    find: (entity, scope, keys) =>
      moved.isFormer(tenantId, entity)
        ? []
        : (attributes.findHeld(entity, scope, keys) ?? attributes.find(entity, scope, keys).then(({ value }) => value)),
    delete: ({ entity, scope, keys }) =>
      moved.isFormer(tenantId, entity) ? Promise.reject(itemNotFound(entity)) : attributes.delete(entity, scope, keys),
  })
}
