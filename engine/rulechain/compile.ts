/**
 * From a stored graph to a program: nodes made, relations resolved to direct references. A node that can not be made does
 * not stop the chain: its messages take `Failure` with the reason (`rule-engine.md` 4.3).
 */
import type { RuleChain, RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { secretsOf } from '../../model/secret-members.ts'
import { CompiledNode } from './compiled-node.ts'
import { nodeDebugOf } from './chain-events.ts'
import { currentConfiguration } from './configuration.ts'
import { RuleChainErrors } from './errors.ts'
import { checkGraph } from './graph-check.ts'
import type { CapabilityName } from './capabilities.ts'
import type { NodeCatalogue, NodeContext, NodeInstance } from './node.ts'
import { ChainProgram } from './program.ts'
import type { ProgramSettings, ProgramSurroundings } from './program.ts'

export interface CompileInput {
  readonly chain: RuleChain
  readonly graph: RuleChainGraph
  readonly catalogue: NodeCatalogue
  /** `secrets` stand in the node's configuration, opened. */
  readonly contextOf: (
    node: RuleNode,
    uses: readonly CapabilityName[],
    secrets: readonly string[],
  ) => NodeContext<CapabilityName>
  readonly openConfiguration?: OpenConfiguration | undefined
  readonly settings: ProgramSettings
  readonly surroundings: ProgramSurroundings
  /** The version before: nodes that did not change keep their instance, and with it what they remember. */
  readonly previous?: ChainProgram | undefined
}

/** The configuration with its secrets, which are sealed in the record. Throws where one can not be opened, or is to be filled in. */
export type OpenConfiguration = (record: RuleNode) => JsonObject

/** Throws `NODE_INDEX`, `SELF_CONNECTION`, `CYCLE`: such a graph is not run at all. */
export async function compileChain(input: CompileInput): Promise<ChainProgram> {
  const { chain, graph } = input
  checkGraph(graph)
  const { clock, events } = input.surroundings
  const nodes = graph.nodes.map((record) => {
    const node = new CompiledNode(record)
    node.since = clock.now()
    node.debug = nodeDebugOf(chain.tenantId, record, clock, events)
    return node
  })
  for (const { fromIndex, toIndex, type } of graph.connections) {
    const target = nodes[toIndex]
    if (target !== undefined) nodes[fromIndex]?.connect(type, target)
  }
  await Promise.all(nodes.map((node) => makeInstance(node, input)))
  const first = graph.firstNodeIndex === null ? undefined : nodes[graph.firstNodeIndex]
  return new ChainProgram(chain, nodes, first, input.settings, input.surroundings)
}

/** Makes the node's instance, or notes why it can not be made. Never rejects. */
export async function makeInstance(
  node: CompiledNode,
  input: Pick<CompileInput, 'catalogue' | 'contextOf' | 'openConfiguration' | 'previous'>,
): Promise<void> {
  const { record } = node
  const kept = input.previous === undefined ? undefined : unchangedInstance(input.previous, record)
  if (kept !== undefined) {
    node.instance = kept
    node.isKept = true
    return
  }
  try {
    node.instance = await createInstance(record, input)
    node.failure = undefined
  } catch (error) {
    node.failure = initFailure(record, error)
  }
}

async function createInstance(
  record: RuleNode,
  input: Pick<CompileInput, 'catalogue' | 'contextOf' | 'openConfiguration'>,
): Promise<NodeInstance> {
  if (record.disabledReason !== null) {
    throw RuleChainErrors.NODE_DISABLED({ node: record.name, reason: record.disabledReason })
  }
  const definition = input.catalogue.find(record.type)
  if (definition === undefined) throw RuleChainErrors.NODE_TYPE_UNKNOWN({ node: record.name, type: record.type })
  const opened = input.openConfiguration?.(record) ?? record.configuration
  const { configuration } = currentConfiguration(definition, { ...record, configuration: opened })
  const secrets = [...secretsOf(configuration, definition.secrets ?? {}).values()]
  return definition.create(configuration, input.contextOf(record, definition.uses, secrets))
}

/** Kind `retryable` where making the node again may succeed: nothing is wrong with its configuration. */
function initFailure(record: RuleNode, error: unknown): Error {
  const fields = { node: record.name, reason: errorText(error) }
  if (isMillraceError(error)) {
    if (error.code === 'rulechain.NODE_DISABLED') return error
    if (error.kind !== 'retryable') return RuleChainErrors.NODE_INIT_FAILED(fields, error)
  }
  return RuleChainErrors.NODE_STARTING(fields, error)
}

function unchangedInstance(previous: ChainProgram, record: RuleNode): NodeInstance | undefined {
  const before = previous.nodes.find((node) => node.record.id === record.id)
  return before?.instance !== undefined && identity(before.record) === identity(record) ? before.instance : undefined
}

/** What an instance was made from. The name too: the output node emits it, the log node prints it. */
function identity({ type, name, queueName, configurationVersion, configuration }: RuleNode): string {
  return [type, name, queueName ?? '', configurationVersion, stringifyJson(configuration)].join('\n')
}
