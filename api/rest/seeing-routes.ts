/** What goes on inside rule chains: figures of a chain's nodes and connections, and the way of one message. Our own addition. */
import type { EventRecord } from '../../model/event.ts'
import type { JsonObject } from '../../model/json.ts'
import { ruleChains } from '../../services/entities/rule-chain.ts'
import { idJson } from '../../services/entity-json.ts'
import type { ChainReading, ChainStatisticsReader, NodeReading } from '../../services/rule-chains/chain-statistics.ts'
import type { Events } from '../../services/events/events.ts'
import { tenantOf } from './authorize.ts'
import type { RouteMaker } from './declared/declare.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape } from './declared/shapes.ts'
import { TENANT } from './route.ts'

export interface SeeingRoutesParts {
  readonly make: RouteMaker
  readonly events: Pick<Events, 'path' | 'startErrors'>
  readonly chainStatistics: ChainStatisticsReader
}

/** Steps of one way that are shown. */
const MAX_STEPS = 1_000

const count = { type: 'integer' } as const
const number = { type: 'number' } as const
const text = { type: 'string' } as const

function shape(title: string, properties: JsonObject): JsonObject {
  return { title, type: 'object', properties, required: Object.keys(properties) }
}

const EDGE_SHAPE = shape('RuleEdgeStatistics', {
  relation: text,
  to: { type: 'array', items: idShape('RULE_NODE') },
  messages: count,
  rate: { ...number, description: 'Messages a second' },
})
const LATENCY_SHAPE = shape('RuleNodeLatency', {
  measured: { ...count, description: 'Messages measured: of quick nodes one in many' },
  ...{ p50: { ...number, description: 'Milliseconds' }, p95: number, p99: number, max: number },
})
const NODE_SHAPE = shape('RuleNodeStatistics', {
  ...{ ruleNodeId: idShape('RULE_NODE'), name: text, type: text },
  since: { ...count, description: 'Unix milliseconds: since then it counts' },
  ...{ messages: count, failures: count },
  timedOut: { ...count, description: 'Of the failures: without an outcome in time' },
  ended: { ...count, description: 'Messages that left by a relation that is not connected' },
  rate: { ...number, description: 'Messages a second' },
  failureRate: { ...number, description: 'Failures a second' },
  latency: LATENCY_SHAPE,
  edges: { type: 'array', items: EDGE_SHAPE },
})
const STATISTICS_SHAPE = shape('RuleChainStatistics', {
  ...{ ruleChainId: idShape('RULE_CHAIN'), name: text },
  inFlight: { ...count, description: 'Messages in or before a node now' },
  dropped: { ...count, description: 'Messages whose node was gone' },
  windowMs: { ...count, description: 'What rates are taken over; 0: since each node counts' },
  nodes: { type: 'array', items: NODE_SHAPE },
})
const START_ERROR_SHAPE = shape('RuleNodeStartError', { ruleNodeId: idShape('RULE_NODE'), error: text })
const STEP_SHAPE: JsonObject = {
  title: 'MessageStep',
  type: 'object',
  properties: {
    ...{ time: count, ruleNodeId: idShape('RULE_NODE'), direction: { enum: ['IN', 'OUT'] }, relation: text },
    ...{ messageType: text, originator: { type: 'object' }, data: text, metadata: text, error: text, server: text },
  },
  required: ['time', 'ruleNodeId', 'direction'],
}

export function seeingRoutes({ make, events, chainStatistics }: SeeingRoutesParts): readonly DeclaredRoute[] {
  const common = { method: 'GET', authorities: TENANT, query: {}, body: undefined } as const
  return [
    make.route({
      ...common,
      path: '/api/ruleChain/{ruleChainId}/statistics',
      about:
        'What went through the nodes and connections of a chain in the process that answers, how fast, how much failed.',
      targets: { ruleChainId: { entity: ruleChains, operation: 'READ' } },
      answer: STATISTICS_SHAPE,
      handle: async ({ principal, path }) =>
        statisticsJson(chainStatistics.read(tenantOf(principal), path.ruleChainId)),
    }),
    make.route({
      ...common,
      path: '/api/ruleChain/{ruleChainId}/startErrors',
      about: 'Nodes of a chain that did not start when they last tried, and why.',
      targets: { ruleChainId: { entity: ruleChains, operation: 'READ' } },
      answer: { type: 'array', items: START_ERROR_SHAPE },
      handle: async ({ principal, path }) => {
        const found = await events.startErrors(tenantOf(principal), path.ruleChainId)
        return found.map(({ ruleNodeId, error }) => ({ ruleNodeId: idJson('RULE_NODE', ruleNodeId), error }))
      },
    }),
    make.route({
      ...common,
      path: '/api/ruleEngine/message/{messageId}/path',
      about: `Where a message went, as far as its nodes were watched: oldest step first, at most ${MAX_STEPS}.`,
      targets: { messageId: { untargeted: 'no entity: only what nodes of the own tenant told of it is shown' } },
      answer: { type: 'array', items: STEP_SHAPE },
      handle: async ({ principal, path }) =>
        (await events.path(tenantOf(principal), path.messageId, MAX_STEPS)).map(stepJson),
    }),
  ]
}

function statisticsJson({ ruleChainId, nodes, ...chain }: ChainReading): JsonObject {
  return { ruleChainId: idJson('RULE_CHAIN', ruleChainId), ...chain, nodes: nodes.map(nodeJson) }
}

function nodeJson({ ruleNodeId, received, failed, late: _late, busyMs: _busyMs, ...node }: NodeReading): JsonObject {
  return {
    ...node,
    ruleNodeId: idJson('RULE_NODE', ruleNodeId),
    messages: received,
    failures: failed,
    latency: { ...node.latency },
    edges: node.edges.map(({ relation, toRuleNodeIds, messages, rate }) => ({
      ...{ relation, messages, rate },
      to: toRuleNodeIds.map((id) => idJson('RULE_NODE', id)),
    })),
  }
}

function stepJson({ createdTime, entity, server, body }: EventRecord): JsonObject {
  const json: JsonObject = { time: createdTime, ruleNodeId: idJson(entity.entityType, entity.id), server }
  for (const [member, name] of Object.entries(MEMBERS)) {
    const value = body[member]
    if (value !== undefined) json[name] = value
  }
  const { entityId, entityType } = body
  if (typeof entityId === 'string' && typeof entityType === 'string') json['originator'] = { entityType, id: entityId }
  return json
}

/** Of the event, and of the step. */
const MEMBERS = {
  type: 'direction',
  relationType: 'relation',
  msgType: 'messageType',
  data: 'data',
  metadata: 'metadata',
  error: 'error',
} as const
