/** Attributes, as nodes read and write them. */
import type { NodeAttributes } from '../../engine/rulechain/capabilities/attributes.ts'
import type { Services } from '../services.ts'

export function nodeAttributes({ attributes }: Pick<Services, 'attributes'>): () => NodeAttributes {
  return () => ({
    save: (request) => attributes.save(request),
    find: (entity, scope, keys) =>
      attributes.findHeld(entity, scope, keys) ?? attributes.find(entity, scope, keys).then(({ value }) => value),
    delete: ({ entity, scope, keys }) => attributes.delete(entity, scope, keys),
  })
}
