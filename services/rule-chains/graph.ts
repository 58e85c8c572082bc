/**
 * The save rules of a rule chain's graph (`rule-engine.md` 3.5, `rest-api.md` 8.2): checks everything before anything is
 * changed, keeps the identity of nodes, and orders nodes by creation.
 */
import type { NodeConnection, RuleChain, RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import { checkGraph } from '../../engine/rulechain/graph-check.ts'
import type { NodeCatalogue, NodeDefinition } from '../../engine/rulechain/node.ts'
import { RuleChainErrors } from './errors.ts'
import { debugSettingsOf } from '../debug-settings.ts'
import { checkText } from '../names.ts'
import type { GraphDraft, NodeDraft } from './drafts.ts'
import type { NodeSecrets } from './node-secrets.ts'
import { INPUT_NODE_TYPE } from './node-types.ts'

export interface GraphRules {
  readonly catalogue: Pick<NodeCatalogue, 'find'>
  readonly secrets: Pick<NodeSecrets, 'filled' | 'sealed'>
  readonly disableUnknown: boolean
  /** Whether the tenant has a queue of that name to put messages into. */
  readonly hasQueue: (name: string) => boolean
  readonly now: number
  /** Longest time that a node is watched, of the tenant's profile; 0 for the default. */
  readonly maxDebugMinutes: number
  readonly newId: () => string
  /** The name of another chain, for nodes made of legacy chain connections. */
  readonly chainName: (ruleChainId: string) => string | undefined
}

/** The graph of a chain that was just made. */
export function nothingDrawn(ruleChainId: string): RuleChainGraph {
  return { ruleChainId, version: 1, firstNodeIndex: null, nodes: [], connections: [] }
}

export function firstNodeId(graph: RuleChainGraph): string | null {
  return graph.firstNodeIndex === null ? null : (graph.nodes[graph.firstNodeIndex]?.id ?? null)
}

/** Throws a `rule-chain` error with the node's name; nothing is stored here. */
export function checkedGraph(
  draft: GraphDraft,
  chain: RuleChain,
  before: RuleChainGraph,
  rules: GraphRules,
): RuleChainGraph {
  const { nodes, connections } = withInputNodes(draft, rules)
  checkShape(draft.firstNodeIndex, nodes, connections)
  const known = new Map(before.nodes.map((node, place) => [node.id, { node, place }]))
  const places = nodes.map((node, index) => {
    const existing = node.id === undefined ? undefined : known.get(node.id)
    // A node's id is kept once: a second node that claims it, or an id of another chain, is a new node.
    if (existing !== undefined) known.delete(existing.node.id)
    const made = ruleNodeOf(node, chain.id, existing?.node, rules)
    return { index, order: existing?.place ?? before.nodes.length + index, node: made }
  })
  places.sort((a, b) => a.order - b.order)
  const newIndexes = new Map(places.map((place, index) => [place.index, index]))
  const newIndex = (index: number): number => newIndexes.get(index) ?? index
  return {
    ruleChainId: chain.id,
    version: chain.version,
    firstNodeIndex: draft.firstNodeIndex === null ? null : newIndex(draft.firstNodeIndex),
    nodes: places.map((place) => place.node),
    connections: distinct(
      connections.map(({ fromIndex, toIndex, type }) => ({
        fromIndex: newIndex(fromIndex),
        toIndex: newIndex(toIndex),
        type,
      })),
    ),
    ...(draft.notes === undefined || draft.notes === null ? {} : { notes: draft.notes }),
  }
}

function ruleNodeOf(
  draft: NodeDraft,
  ruleChainId: string,
  existing: RuleNode | undefined,
  rules: GraphRules,
): RuleNode {
  checkText('name', draft.name)
  const definition = rules.catalogue.find(draft.type)
  const id = existing?.id ?? rules.newId()
  const filled = { ...draft, configuration: rules.secrets.filled(draft, draft.madeOf ?? existing) }
  const configured =
    definition === undefined ? unknown(filled) : withKnownQueue(checked(filled, definition), draft, rules)
  return {
    id,
    createdTime: existing?.createdTime ?? rules.now,
    ruleChainId,
    type: draft.type,
    name: draft.name,
    debugSettings: debugSettingsOf(draft.debugSettings ?? null, rules.now, rules.maxDebugMinutes),
    singletonMode: isSingleton(definition, draft),
    additionalInfo: draft.additionalInfo ?? null,
    ...configured,
    configuration: rules.secrets.sealed({ id, type: draft.type, configuration: configured.configuration }, existing),
  }
}

function isSingleton(definition: NodeDefinition | undefined, { singletonMode = false }: NodeDraft): boolean {
  const clustering = definition?.editor.clustering ?? 'USER_PREFERENCE'
  return clustering === 'USER_PREFERENCE' ? singletonMode : clustering === 'SINGLETON'
}

type Configured = Pick<RuleNode, 'configurationVersion' | 'configuration' | 'queueName' | 'disabledReason'>

/** It does not start, until there is such a type. */
function unknown(draft: NodeDraft): Configured {
  return {
    configurationVersion: draft.configurationVersion ?? 0,
    configuration: draft.configuration,
    queueName: queueNameOf(draft),
    disabledReason: null,
  }
}

function checked(draft: NodeDraft, definition: NodeDefinition): Configured {
  const { configuration, configurationVersion = 0 } = draft
  const current = currentConfiguration(definition, { configuration, configurationVersion })
  try {
    definition.checkSaved?.(current.configuration)
    // A queue that an old configuration named is the node's own since.
    const isMoved = !('queueName' in current.configuration)
    const queueName = queueNameOf(draft) ?? (isMoved ? textOf(configuration['queueName']) : null)
    return { ...current, queueName, disabledReason: null }
  } catch (error) {
    if (!isMillraceError(error)) throw error
    throw RuleChainErrors.CONFIGURATION_INVALID({ name: draft.name, reason: errorText(error) }, error)
  }
}

/** A queue that is not there would send the messages elsewhere without a word. */
function withKnownQueue(configured: Configured, { name }: NodeDraft, rules: GraphRules): Configured {
  const { queueName } = configured
  if (queueName === null || rules.hasQueue(queueName)) return configured
  if (!rules.disableUnknown) throw RuleChainErrors.QUEUE_UNKNOWN({ name, queueName })
  return { ...configured, disabledReason: `Unknown queue: ${queueName}` }
}

/** The queues that a graph may ask {@link GraphRules.hasQueue} for. */
export function queueNamesIn(nodes: readonly NodeDraft[]): ReadonlySet<string> {
  const names = nodes.flatMap((node) => [queueNameOf(node), textOf(node.configuration['queueName'])])
  return new Set(names.filter((name) => name !== null))
}

function queueNameOf({ queueName }: NodeDraft): string | null {
  return textOf(queueName)
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

interface DraftGraph {
  readonly nodes: readonly NodeDraft[]
  readonly connections: readonly NodeConnection[]
}

/** Every legacy chain connection becomes an input node, named after its chain, and a connection to it. */
function withInputNodes(draft: GraphDraft, rules: GraphRules): DraftGraph {
  const nodes = [...draft.nodes]
  const connections = [...(draft.connections ?? [])]
  for (const legacy of draft.ruleChainConnections ?? []) {
    const target = targetChainOf(legacy)
    nodes.push({
      type: INPUT_NODE_TYPE,
      name: rules.chainName(target) ?? target,
      configurationVersion: 0,
      configuration: { ruleChainId: target },
      additionalInfo: legacy['additionalInfo'] ?? null,
    })
    const type = legacy['type']
    connections.push({
      fromIndex: Number(legacy['fromIndex']),
      toIndex: nodes.length - 1,
      type: typeof type === 'string' ? type : '',
    })
  }
  return { nodes, connections }
}

/** An id as an object, as REST sends it, or as text. */
export function targetChainOf(legacy: JsonObject): string {
  const target = legacy['targetRuleChainId']
  if (typeof target === 'string') return target
  const id = target !== null && typeof target === 'object' && 'id' in target ? target.id : undefined
  return typeof id === 'string' ? id : ''
}

/** The engine's own check, in the words that clients of the REST API know. */
function checkShape(
  firstNodeIndex: number | null,
  nodes: readonly NodeDraft[],
  connections: readonly NodeConnection[],
): void {
  try {
    checkGraph({ firstNodeIndex, nodes, connections })
  } catch (error) {
    throw isMillraceError(error) ? (REFERENCE_WORDS.get(error.code)?.(error.fields, error) ?? error) : error
  }
  for (const { fromIndex, toIndex, type } of connections) {
    if (type.trim() === '') throw RuleChainErrors.RELATION_EMPTY({ from: fromIndex, to: toIndex })
    checkText('type', type)
  }
}

const REFERENCE_WORDS = new Map([
  ['rulechain.NODE_INDEX', RuleChainErrors.INDEX_OUT_OF_RANGE],
  ['rulechain.SELF_CONNECTION', RuleChainErrors.SELF_RELATION],
  ['rulechain.CYCLE', RuleChainErrors.CYCLE],
])

/** A connection given twice is kept once; in the order in which reads show them. */
function distinct(connections: readonly NodeConnection[]): readonly NodeConnection[] {
  const byIdentity = new Map(connections.map((each) => [`${each.fromIndex} ${each.toIndex} ${each.type}`, each]))
  return [...byIdentity.values()].sort(
    (a, b) => a.fromIndex - b.fromIndex || a.toIndex - b.toIndex || (a.type < b.type ? -1 : 1),
  )
}
