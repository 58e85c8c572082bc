/** Versions of rule chains: listed, shown, compared, restored. Our own addition: the reference keeps versions in a Git repository of the tenant's. */
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { ruleChains } from '../../services/entities/rule-chain.ts'
import { graphJson, idJson } from '../../services/entity-json.ts'
import { differenceLines, type Difference } from '../../services/rule-chains/diff.ts'
import type { RuleChains } from '../../services/rule-chains/rule-chains.ts'
import type { ChainVersion } from '../../services/rule-chains/versions.ts'
import type { RouteMaker } from './declared/declare.ts'
import { optionalUuid } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, listShape } from './declared/shapes.ts'
import { TENANT } from './route.ts'
import { GRAPH_SHAPE } from './rule-chain-routes.ts'

export interface ChainVersionRoutesParts {
  readonly make: RouteMaker
  readonly chains: Pick<RuleChains, 'versions' | 'restoreByUser'>
}

const MEMBERS: JsonObject = {
  id: { type: 'string', format: 'uuid' },
  ruleChainId: idShape('RULE_CHAIN'),
  createdTime: { type: 'integer', description: 'Unix milliseconds' },
  version: { type: 'integer', description: 'Of the chain' },
  authorId: { anyOf: [idShape('USER'), { type: 'null' }] },
  authorName: { type: ['string', 'null'] },
  nodes: { type: 'integer' },
}
const VERSION_SHAPE: JsonObject = {
  title: 'RuleChainVersion',
  type: 'object',
  properties: MEMBERS,
  required: Object.keys(MEMBERS),
}
const DRAWN_SHAPE: JsonObject = {
  title: 'RuleChainVersionData',
  type: 'object',
  properties: { ...MEMBERS, metadata: GRAPH_SHAPE },
  required: [...Object.keys(MEMBERS), 'metadata'],
}
const DIFFERENCE_SHAPE: JsonObject = {
  title: 'RuleChainDifference',
  type: 'object',
  properties: {
    what: { type: 'string' },
    lines: { type: 'array', items: { type: 'string' }, description: 'As a terminal shows it' },
  },
  required: ['what', 'lines'],
}

export function chainVersionRoutes({ make, chains }: ChainVersionRoutesParts): readonly DeclaredRoute[] {
  const versionId = { untargeted: 'no entity: only versions of the rule chain that the path names are found' } as const
  const toRead = {
    authorities: TENANT,
    targets: { ruleChainId: { entity: ruleChains, operation: 'READ' }, versionId },
    body: undefined,
  } as const
  return [
    make.route({
      method: 'GET',
      path: '/api/ruleChain/{ruleChainId}/versions',
      about: 'The versions of a rule chain that are kept, newest first: one for each save of its graph.',
      authorities: TENANT,
      targets: { ruleChainId: { entity: ruleChains, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: listShape(VERSION_SHAPE),
      handle: async ({ path }) => (await chains.versions.of(path.ruleChainId)).map(versionJson),
    }),
    make.route({
      ...toRead,
      method: 'GET',
      path: '/api/ruleChain/{ruleChainId}/version/{versionId}',
      about: 'A version of a rule chain with its graph, secrets masked.',
      query: {},
      answer: DRAWN_SHAPE,
      handle: async ({ path }) => {
        const version = await chains.versions.shown(path.ruleChainId, path.versionId)
        return { ...versionJson(version), metadata: graphJson(version.graph) }
      },
    }),
    make.route({
      ...toRead,
      method: 'GET',
      path: '/api/ruleChain/{ruleChainId}/version/{versionId}/differences',
      about: 'Where a version differs from another one, or from the graph in force; layout aside.',
      query: { with: optionalUuid },
      answer: listShape(DIFFERENCE_SHAPE),
      handle: async ({ path, query }) =>
        (await chains.versions.differences(path.ruleChainId, path.versionId, query.with)).map(differenceJson),
    }),
    make.route({
      method: 'POST',
      path: '/api/ruleChain/{ruleChainId}/version/{versionId}/restore',
      about: 'Saves a version again, with the secrets that it had. What was in force stays a version.',
      authorities: TENANT,
      targets: { ruleChainId: { entity: ruleChains, operation: 'WRITE' }, versionId },
      query: {},
      body: undefined,
      answer: GRAPH_SHAPE,
      handle: async ({ principal, path }) =>
        graphJson(await chains.restoreByUser(principal, path.ruleChainId, path.versionId)),
    }),
  ]
}

function versionJson({ id, ruleChainId, createdTime, chainVersion, nodeCount, authorId, authorName }: ChainVersion) {
  return {
    ...{ id, ruleChainId: idJson('RULE_CHAIN', ruleChainId), createdTime, version: chainVersion, nodes: nodeCount },
    authorId: authorId === null ? null : idJson('USER', authorId),
    authorName,
  }
}

function differenceJson(difference: Difference): JsonValue {
  return { what: difference.what, lines: [...differenceLines(difference)] }
}
