/** Rule chains, their graphs, files of them, and scripts tried out. Source: `rest-api.md` section 8. */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { RULE_CHAIN_TYPES, ruleChains } from '../../services/entities/rule-chain.ts'
import { graphJson, idJson } from '../../services/entity-json.ts'
import { SEVERITIES } from '../../services/rule-chains/check.ts'
import type { GraphDraft, NodeDraft } from '../../services/rule-chains/drafts.ts'
import { RuleChainErrors } from '../../services/rule-chains/errors.ts'
import type { RuleChains } from '../../services/rule-chains/rule-chains.ts'
import { scriptTest } from '../../services/rule-chains/test-script.ts'
import { ApiErrors, ParameterErrors } from '../errors.ts'
import { anyJson, idObject, jsonObject, optionalId, optionalText, optionalVersion } from './body.ts'
import { crud, draftSchema, someByIds, type EntityRoutesParts } from './declared/entity-routes.ts'
import { flag, optionalChoice, paging, requiredCount } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, listShape, pageShape, recordShape } from './declared/shapes.ts'
import { TENANT } from './route.ts'

export interface RuleChainRoutesParts extends EntityRoutesParts {
  readonly chains: RuleChains
}

const WORDS = { one: 'ruleChain', many: 'ruleChains', nameParameter: 'ruleChainName' } as const
const CHAIN_SHAPE = recordShape(ruleChains)
/** Chains of one file, and of one answer. */
const MAX_CHAINS_IN_FILE = 1_000
/** Clients say "all" by the largest integer of Java. */
const MAX_ASKED = 2_147_483_647

const nodeSchema = z.object({
  id: optionalId,
  type: z.string().min(1),
  name: optionalText,
  debugSettings: anyJson.optional(),
  /** As older clients have it. */
  debugMode: z.boolean().nullish(),
  singletonMode: z.boolean().nullish(),
  queueName: optionalText,
  configurationVersion: z.int().nullish(),
  configuration: jsonObject.nullish().transform((value) => value ?? {}),
  additionalInfo: anyJson.optional(),
})

const drawing = z.object({
  version: optionalVersion,
  firstNodeIndex: z.int().nullish(),
  nodes: z.array(nodeSchema).nullish(),
  connections: z.array(z.object({ fromIndex: z.int(), toIndex: z.int(), type: z.string() })).nullish(),
  ruleChainConnections: z.array(jsonObject).nullish(),
  notes: anyJson.optional(),
})

/** A graph as it is drawn, of whichever chain. */
export const drawnSchema = drawing.transform((graph) => drawn(graph))

const graphSchema = drawing.extend({ ruleChainId: idObject }).transform(({ ruleChainId, ...graph }): GraphDraft => ({
  ...drawn(graph),
  ruleChainId: ruleChainId.id,
}))

/** A graph to be saved names its chain, and each node its configuration: a client that lost one would overwrite the node with nothing. */
const savedGraphSchema = drawing
  .extend({
    ruleChainId: idObject.nullish(),
    nodes: z.array(nodeSchema.extend({ configuration: jsonObject.nullish().transform(configured) })).nullish(),
  })
  .transform(({ ruleChainId, ...graph }): GraphDraft => {
    if (ruleChainId === null || ruleChainId === undefined) throw RuleChainErrors.CHAIN_ID_MISSING()
    return { ...drawn(graph), ruleChainId: ruleChainId.id }
  })

const fileSchema = z.object({
  ruleChains: z.array(draftSchema(ruleChains)).max(MAX_CHAINS_IN_FILE),
  metadata: z.array(graphSchema).max(MAX_CHAINS_IN_FILE),
})

const members = (names: Readonly<Record<string, JsonObject>>): JsonObject => ({
  type: 'object',
  properties: { ...names },
  required: Object.keys(names),
})
const TEXT: JsonObject = { type: 'string' }
export const GRAPH_SHAPE: JsonObject = {
  title: 'RuleChainMetaData',
  ...members({
    ruleChainId: idShape('RULE_CHAIN'),
    version: { type: 'integer' },
    firstNodeIndex: { type: ['integer', 'null'] },
    nodes: listShape({ type: 'object' }),
    connections: listShape({ type: 'object' }),
    ruleChainConnections: listShape({ type: 'object' }),
  }),
}

export function ruleChainRoutes(parts: RuleChainRoutesParts): readonly DeclaredRoute[] {
  return [
    ...chainRoutes(parts),
    ...chainLists(parts),
    ...graphRoutes(parts),
    ...findingRoutes(parts),
    ...labelRoutes(parts),
    ...fileRoutes(parts),
    ...scriptRoutes(parts),
  ]
}

function chainRoutes(parts: RuleChainRoutesParts): readonly DeclaredRoute[] {
  const { make, chains, declared } = parts
  const authorities = { read: TENANT, save: TENANT }
  return [
    ...crud(parts, declared.of(ruleChains), WORDS, authorities, chains),
    make.route({
      method: 'POST',
      path: '/api/ruleChain/device/default',
      about: 'Makes a rule chain of the shape that a new tenant has.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: z.object({ name: optionalText }),
      example: () => ({ name: 'Thermostats' }),
      creates: () => 'RULE_CHAIN',
      answer: CHAIN_SHAPE,
      handle: async ({ principal, body }) =>
        ruleChains.jsonOf(await chains.createDefaultByUser(principal, body.name ?? '')),
    }),
    make.route({
      method: 'POST',
      path: '/api/ruleChain/{ruleChainId}/root',
      about: 'Makes a rule chain the root: messages begin there that no profile sends elsewhere.',
      authorities: TENANT,
      targets: { ruleChainId: { entity: ruleChains, operation: 'WRITE' } },
      query: {},
      body: undefined,
      answer: CHAIN_SHAPE,
      handle: async ({ principal, path }) => ruleChains.jsonOf(await chains.setRootByUser(principal, path.ruleChainId)),
    }),
  ]
}

function chainLists(parts: RuleChainRoutesParts): readonly DeclaredRoute[] {
  const { make, declared } = parts
  const service = declared.of(ruleChains)
  return [
    make.route({
      method: 'GET',
      path: '/api/ruleChains',
      about: 'The rule chains of the tenant; those that run here, where no type is named.',
      authorities: TENANT,
      targets: {},
      query: { type: optionalChoice(RULE_CHAIN_TYPES), page: paging },
      body: undefined,
      answer: pageShape(CHAIN_SHAPE),
      handle: async ({ principal, query }) => {
        const page = await service.page(service.tenantOf(principal), { type: query.type ?? 'CORE' }, query.page)
        return { ...page, data: page.data.map(({ record }) => ruleChains.jsonOf(record)) }
      },
    }),
    someByIds(parts, service, WORDS, '/api/ruleChains', { onlyWith: true, authorities: TENANT }),
    someByIds(parts, service, WORDS, '/api/ruleChains/list', { authorities: TENANT }),
  ]
}

function graphRoutes({ make, chains, declared }: RuleChainRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/ruleChain/{ruleChainId}/metadata',
      about: 'The graph of a rule chain: its nodes, and how they are connected.',
      authorities: TENANT,
      targets: { ruleChainId: { entity: ruleChains, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: GRAPH_SHAPE,
      handle: async ({ principal, path }) => {
        const graph = await chains.graph(declared.of(ruleChains).tenantOf(principal), path.ruleChainId)
        if (graph === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: 'Rule chain', id: path.ruleChainId })
        return graphJson(graph)
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/ruleChain/metadata',
      about: 'Replaces the graph of a rule chain. Nodes that name their id stay the same nodes.',
      authorities: TENANT,
      targets: {},
      query: { disableUnknown: flag(false), updateRelated: flag(true) },
      body: savedGraphSchema,
      example: ({ ruleChainId = '' }) => ({ ...GRAPH_EXAMPLE, ruleChainId: idJson('RULE_CHAIN', ruleChainId) }),
      bodyTargets: ({ ruleChainId }) => [{ entity: entityId('RULE_CHAIN', ruleChainId), operation: 'WRITE' as const }],
      answer: GRAPH_SHAPE,
      handle: async ({ principal, body, query }) => graphJson(await chains.saveGraphByUser(principal, body, query)),
    }),
  ]
}

const FINDING: JsonObject = {
  title: 'RuleChainFinding',
  ...members({
    severity: { type: 'string', enum: [...SEVERITIES] },
    nodeIndex: { type: ['integer', 'null'], description: 'Null where it is about the whole chain' },
    text: TEXT,
  }),
}

function findingRoutes({ make, chains, declared }: RuleChainRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/ruleChain/{ruleChainId}/findings',
      about: 'What is wrong with a rule chain as it is saved, as `chain check` says it of a file. Our own addition.',
      authorities: TENANT,
      targets: { ruleChainId: { entity: ruleChains, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: listShape(FINDING),
      handle: async ({ principal, path }) => {
        const findings = await chains.findings(declared.of(ruleChains).tenantOf(principal), path.ruleChainId)
        if (findings === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: 'Rule chain', id: path.ruleChainId })
        return findings.map(({ severity, nodeIndex, text }) => ({ severity, nodeIndex: nodeIndex ?? null, text }))
      },
    }),
  ]
}

function labelRoutes({ make, chains, declared }: RuleChainRoutesParts): readonly DeclaredRoute[] {
  const common = {
    method: 'GET',
    authorities: TENANT,
    targets: { ruleChainId: { entity: ruleChains, operation: 'READ' } },
    query: {},
    body: undefined,
  } as const
  return [
    make.route({
      ...common,
      path: '/api/ruleChain/{ruleChainId}/output/labels',
      about: 'What may come out of the rule chain: the names of its output nodes.',
      answer: listShape(TEXT),
      handle: async ({ path }) => [...(await chains.outputLabels.of(path.ruleChainId))],
    }),
    make.route({
      ...common,
      path: '/api/ruleChain/{ruleChainId}/output/labels/usage',
      about: 'Nodes of other rule chains that hand messages to this one, with the labels that they are connected by.',
      answer: listShape({
        title: 'RuleChainOutputLabelsUsage',
        ...members({
          ruleChainId: idShape('RULE_CHAIN'),
          ruleNodeId: idShape('RULE_NODE'),
          ruleChainName: TEXT,
          ruleNodeName: TEXT,
          labels: listShape(TEXT),
        }),
      }),
      handle: async ({ principal, path }) => {
        const tenantId = declared.of(ruleChains).tenantOf(principal)
        const usage = await chains.outputLabels.usage(tenantId, path.ruleChainId)
        return usage.map(({ ruleChainId, ruleNodeId, labels, ...names }) => ({
          ruleChainId: idJson('RULE_CHAIN', ruleChainId),
          ruleNodeId: idJson('RULE_NODE', ruleNodeId),
          ...names,
          labels: [...labels],
        }))
      },
    }),
  ]
}

function fileRoutes({ make, chains, declared }: RuleChainRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/ruleChains/export',
      about: 'Rule chains of the tenant with their graphs, for a file.',
      authorities: TENANT,
      targets: {},
      query: { limit: requiredCount(MAX_ASKED) },
      body: undefined,
      answer: {
        title: 'RuleChainData',
        ...members({ ruleChains: listShape(CHAIN_SHAPE), metadata: listShape(GRAPH_SHAPE) }),
      },
      handle: async ({ principal, query }) => {
        const { limit } = query
        const tenantId = declared.of(ruleChains).tenantOf(principal)
        const file = await chains.transfer.export(tenantId, Math.min(limit, MAX_CHAINS_IN_FILE + 1))
        if (file.ruleChains.length > MAX_CHAINS_IN_FILE)
          throw ParameterErrors.INVALID({
            ...{ name: 'limit', value: String(limit) },
            expected: `there are more chains than the ${MAX_CHAINS_IN_FILE} of a file`,
          })
        return {
          ruleChains: file.ruleChains.map((chain) => ruleChains.jsonOf(chain)),
          metadata: file.metadata.map(graphJson),
        }
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/ruleChains/import',
      about: 'Makes rule chains of a file, all or none; with overwrite it changes those of the same name and type.',
      authorities: TENANT,
      targets: {},
      query: { overwrite: flag(false) },
      body: fileSchema,
      example: ({ ruleChainId = '' }) => {
        const id = idJson('RULE_CHAIN', ruleChainId)
        return { ruleChains: [{ id, name: 'From a file' }], metadata: [{ ...GRAPH_EXAMPLE, ruleChainId: id }] }
      },
      creates: () => 'RULE_CHAIN',
      answer: listShape({
        title: 'RuleChainImportResult',
        type: 'object',
        properties: {
          ruleChainId: idShape('RULE_CHAIN'),
          ruleChainName: TEXT,
          updated: { type: 'boolean' },
          error: TEXT,
          toFillIn: listShape(TEXT),
        },
        required: ['ruleChainName'],
      }),
      handle: async ({ principal, body, query }) => {
        const results = await chains.transfer.importByUser(principal, body, query)
        return results.map(({ ruleChainId, ruleChainName, isUpdate, error, toFillIn }) => ({
          ...(error === undefined ? { ruleChainId: idJson('RULE_CHAIN', ruleChainId) } : { error }),
          ruleChainName,
          ...(isUpdate ? { updated: true } : {}),
          ...(toFillIn.length > 0 ? { toFillIn: [...toFillIn] } : {}),
        }))
      },
    }),
  ]
}

function scriptRoutes({ make, chains }: RuleChainRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/ruleChain/tbelEnabled',
      about: 'Whether scripts may be written in TBEL: they may.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: undefined,
      answer: { type: 'boolean' },
      handle: async () => true,
    }),
    make.route({
      method: 'POST',
      path: '/api/ruleChain/testScript',
      about: 'Runs a script of a rule node once, with a message that the body gives.',
      authorities: TENANT,
      targets: {},
      query: { scriptLang: optionalChoice(['JS', 'TBEL']) },
      body: scriptTest,
      example: () => ({
        script: 'return msg.temperature > 20;',
        scriptType: 'filter',
        argNames: ['msg', 'metadata', 'msgType'],
        msg: '{"temperature":25}',
        metadata: { deviceType: 'default' },
        msgType: 'POST_TELEMETRY_REQUEST',
      }),
      answer: { title: 'ScriptTestResult', ...members({ output: TEXT, error: TEXT }) },
      handle: async ({ principal, body, query }) => ({
        ...(await chains.test(principal, query.scriptLang ?? 'JS', body)),
      }),
    }),
  ]
}

const GRAPH_EXAMPLE = { firstNodeIndex: null, nodes: [], connections: [] }

function drawn({ version, nodes, notes, ...graph }: z.output<typeof drawing>): Omit<GraphDraft, 'ruleChainId'> {
  return {
    version,
    firstNodeIndex: graph.firstNodeIndex ?? null,
    nodes: (nodes ?? []).map(nodeDraft),
    connections: graph.connections ?? null,
    ruleChainConnections: graph.ruleChainConnections ?? null,
    ...(notes === undefined ? {} : { notes }),
  }
}

function configured(configuration: JsonObject | null | undefined): JsonObject {
  if (configuration === null || configuration === undefined) throw RuleChainErrors.CONFIGURATION_NULL()
  return configuration
}

/** `debugMode` is what older clients say for all of it, for some time. */
function nodeDraft({ debugMode, ...node }: z.infer<typeof nodeSchema>): NodeDraft {
  const settings = debugMode === true ? { failuresEnabled: true, allEnabled: true } : null
  return {
    id: node.id,
    type: node.type,
    name: node.name ?? '',
    debugSettings: node.debugSettings ?? settings,
    singletonMode: node.singletonMode ?? false,
    queueName: node.queueName ?? null,
    configurationVersion: node.configurationVersion ?? 0,
    configuration: node.configuration,
    additionalInfo: node.additionalInfo ?? null,
  }
}
