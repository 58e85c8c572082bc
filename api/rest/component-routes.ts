/** The nodes that an editor of rule chains offers. Source: `rest-api.md` 8. */
import type { JsonObject } from '../../model/json.ts'
import type { Components } from '../../services/components.ts'
import { ApiErrors } from '../errors.ts'
import type { RouteMaker } from './declared/declare.ts'
import { optionalChoice, requiredChoices } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape } from './declared/shapes.ts'
import { SYSTEM_AND_TENANT } from './route.ts'

const TYPES = ['ENRICHMENT', 'FILTER', 'TRANSFORMATION', 'ACTION', 'EXTERNAL', 'FLOW', 'ANALYTICS'] as const
const DESCRIPTOR: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'object' },
    createdTime: { type: 'integer' },
    type: { type: 'string' },
    scope: { type: 'string' },
    clusteringMode: { type: 'string' },
    name: { type: 'string' },
    clazz: { type: 'string' },
    configurationVersion: { type: 'integer' },
    actions: { type: ['string', 'null'] },
    hasQueueName: { type: 'boolean' },
    configurationDescriptor: { type: 'object' },
  },
  required: ['id', 'type', 'scope', 'name', 'clazz', 'configurationVersion', 'configurationDescriptor'],
}

export interface ComponentRoutesParts {
  readonly make: RouteMaker
  readonly components: Components
}

export function componentRoutes({ make, components }: ComponentRoutesParts): readonly DeclaredRoute[] {
  // What runs here runs in chains of both types.
  const query = { ruleChainType: optionalChoice(['CORE', 'EDGE']) }
  const common = { method: 'GET', authorities: SYSTEM_AND_TENANT, targets: {}, body: undefined } as const
  return [
    make.route({
      ...common,
      path: '/api/component/{componentDescriptorClazz}',
      about: 'The rule node of that class.',
      query: {},
      answer: DESCRIPTOR,
      handle: async ({ path }) => {
        const descriptor = components.find(path.componentDescriptorClazz)
        if (descriptor === undefined) throw ApiErrors.NOT_FOUND()
        return descriptor.json
      },
    }),
    make.route({
      ...common,
      path: '/api/components',
      about: 'The rule nodes of these types.',
      query: { ...query, componentTypes: requiredChoices(TYPES) },
      answer: listShape(DESCRIPTOR),
      handle: async ({ query: { componentTypes } }) => components.ofTypes(componentTypes).map(({ json }) => json),
    }),
    make.route({
      ...common,
      path: '/api/components/{componentType}',
      about: 'The rule nodes of one type.',
      words: { componentType: TYPES },
      query,
      answer: listShape(DESCRIPTOR),
      handle: async ({ path }) => components.ofTypes([path.componentType]).map(({ json }) => json),
    }),
  ]
}
