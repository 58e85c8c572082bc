/**
 * What is wrong with a rule chain, seen before a message enters it: all findings at once, each with its node. Where the server's save stops
 * at the first error (`rule-engine.md` 3.5), this goes on, and it tells what no save refuses: nodes nothing leads to, relations that nobody
 * emits, scripts that do not compile.
 */
import { errorText, isMillraceError } from '../../model/errors.ts'
import { masksIn } from '../../model/secret-members.ts'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import { isSource, type NodeCatalogue, type NodeDefinition } from '../../engine/rulechain/node.ts'
import type { CheckedChain, CheckedNode } from './checked-chain.ts'
import type { Incoming } from './incoming.ts'
import { INPUT_NODE_TYPE } from './node-types.ts'

/** `error`: the chain, or one of its nodes, does not run. `warning`: it runs, and does not do what was drawn. */
export const SEVERITIES = ['error', 'warning'] as const
export type Severity = (typeof SEVERITIES)[number]

export interface Finding {
  readonly severity: Severity
  /** Its place in the file; undefined where the finding is about the whole chain. */
  readonly nodeIndex: number | undefined
  readonly text: string
}

export interface CheckParts<Node extends CheckedNode> {
  readonly catalogue: Pick<NodeCatalogue, 'find'>
  /** Makes the node as the engine would; resolves with what it does not start for. */
  readonly tryNode: (node: Node) => Promise<Error | undefined>
  /** What comes into the chain, where that is known; absent: messages of all types. */
  readonly incoming?: Incoming | undefined
}

/** Findings in the order of the nodes, those of the whole chain first. */
export async function checkChain<Node extends CheckedNode>(
  chain: CheckedChain<Node>,
  parts: CheckParts<Node>,
): Promise<readonly Finding[]> {
  const findings = [...shapeFindings(chain)]
  if (findings.some(({ severity }) => severity === 'error')) return findings
  findings.push(...cycleFindings(chain))
  for (const [index, node] of chain.nodes.entries()) {
    const definition = parts.catalogue.find(node.type)
    if (definition === undefined) findings.push(error(index, `its type is unknown: ${node.type}`))
    else
      findings.push(
        ...(await nodeFindings(index, node, definition, parts)),
        ...relationFindings(chain, index, definition),
      )
  }
  findings.push(...unreachable(chain, parts.catalogue), ...firstTakes(chain, parts))
  return findings.sort((a, b) => (a.nodeIndex ?? -1) - (b.nodeIndex ?? -1))
}

/** One line: `error  node 3 'Save' at 824,156: …`. */
export function findingText(chain: CheckedChain, { severity, nodeIndex, text }: Finding): string {
  return `${severity.padEnd(7)} ${nodeIndex === undefined ? 'chain' : nodeText(chain, nodeIndex)}: ${text}`
}

export function nodeText(chain: CheckedChain, index: number): string {
  const node = chain.nodes[index]
  const place = node?.place === undefined ? '' : ` at ${node.place.x},${node.place.y}`
  return `node ${index} '${node?.name ?? ''}'${place}`
}

function error(nodeIndex: number | undefined, text: string): Finding {
  return { severity: 'error', nodeIndex, text }
}

function warning(nodeIndex: number | undefined, text: string): Finding {
  return { severity: 'warning', nodeIndex, text }
}

function shapeFindings({ nodes, connections, firstNodeIndex }: CheckedChain): readonly Finding[] {
  const isNode = (index: number): boolean => nodes[index] !== undefined
  const findings: Finding[] = []
  if (firstNodeIndex === null) {
    findings.push(warning(undefined, 'no node is the first: every message ends here, settled'))
  } else if (!isNode(firstNodeIndex)) {
    findings.push(
      error(undefined, `firstNodeIndex ${firstNodeIndex} is not the place of a node: there are ${nodes.length}`),
    )
  }
  for (const { fromIndex, toIndex, type } of connections) {
    if (!isNode(fromIndex) || !isNode(toIndex)) {
      findings.push(
        error(undefined, `connection '${type}' from ${fromIndex} to ${toIndex}: there are ${nodes.length} nodes`),
      )
    } else if (fromIndex === toIndex) findings.push(error(fromIndex, `'${type}' leads to the node itself`))
  }
  return findings
}

/** One finding for each way back, at the node where it begins. */
function cycleFindings(chain: CheckedChain): readonly Finding[] {
  const findings: Finding[] = []
  const state = new Map<number, 'open' | 'done'>()
  for (const start of chain.nodes.keys()) {
    const path: { readonly node: number; readonly ways: number[] }[] = []
    const enter = (node: number): void => {
      state.set(node, 'open')
      path.push({ node, ways: [...new Set(waysFrom(chain, node).map(({ toIndex }) => toIndex))].reverse() })
    }
    if (!state.has(start)) enter(start)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const target = top.ways.pop()
      if (target === undefined) {
        state.set(top.node, 'done')
        path.pop()
      } else if (state.get(target) === 'open') {
        const nodes = path.map(({ node }) => node)
        const names = [...nodes.slice(nodes.indexOf(target)), target].map(
          (node) => `'${chain.nodes[node]?.name ?? ''}'`,
        )
        findings.push(error(target, `a way leads back to it: ${names.join(' → ')}`))
      } else if (!state.has(target)) enter(target)
    }
  }
  return findings
}

async function nodeFindings<Node extends CheckedNode>(
  index: number,
  node: Node,
  definition: NodeDefinition,
  { tryNode }: CheckParts<Node>,
): Promise<readonly Finding[]> {
  const raised = { ...node, ...currentConfiguration(definition, node) }
  const findings: Finding[] = []
  if (node.type === INPUT_NODE_TYPE && typeof raised.configuration['ruleChainId'] !== 'string') {
    findings.push(warning(index, 'it names no rule chain'))
  }
  const masked = masksIn(raised.configuration, definition.secrets ?? {})
  for (const member of masked) findings.push(error(index, `'${member}' is masked: fill in the secret`))
  const refusal = await tryNode(raised)
  // What only fails because the world is not there, such as a broker to connect to, is no fault of the chain.
  if (refusal !== undefined && !(isMillraceError(refusal) && refusal.kind === 'retryable')) {
    findings.push(error(index, errorText(refusal)))
  }
  return findings
}

function relationFindings(chain: CheckedChain, index: number, { relations, name }: NodeDefinition): readonly Finding[] {
  if (relations === 'custom') return []
  const known = new Set([...relations, 'Failure'].map((relation) => relation.toLowerCase()))
  const labels = new Set(waysFrom(chain, index).map(({ type }) => type))
  return [...labels]
    .filter((label) => !known.has(label.toLowerCase()))
    .map((label) => {
      const emitted = [...relations, 'Failure'].map((relation) => `'${relation}'`).join(', ')
      return warning(index, `nothing ever takes its connection '${label}': ${name} emits ${emitted}`)
    })
}

function unreachable(chain: CheckedChain, catalogue: Pick<NodeCatalogue, 'find'>): readonly Finding[] {
  if (chain.firstNodeIndex === null) return []
  const sources = [...chain.nodes.entries()].flatMap(([index, { type, configuration }]) => {
    const definition = catalogue.find(type)
    return definition !== undefined && isSource(definition, configuration) ? [index] : []
  })
  const reached = new Set<number>([chain.firstNodeIndex, ...sources])
  for (const index of reached) for (const { toIndex } of waysFrom(chain, index)) reached.add(toIndex)
  return [...chain.nodes.keys()]
    .filter((index) => !reached.has(index))
    .map((index) => warning(index, 'no way leads to it from the first node'))
}

/** Devices that connect, alarms that change and all else that happens come to the first node too, unless others lead to it behind a type switch. */
function firstTakes(
  chain: CheckedChain,
  { catalogue, incoming = 'all' }: Pick<CheckParts<CheckedNode>, 'catalogue' | 'incoming'>,
): readonly Finding[] {
  const { firstNodeIndex: first } = chain
  const { takes, name } = catalogue.find(first === null ? '' : (chain.nodes[first]?.type ?? '')) ?? {}
  if (first === null || takes === undefined) return []
  if (incoming !== 'all' && [...incoming].every((type) => takes.includes(type))) return []
  if (waysFrom(chain, first).some(({ type }) => type.toLowerCase() === 'failure')) return []
  const text = `${name} takes ${takes.join(' and ')} alone: all other messages, such as CONNECT_EVENT, fail here and become dead letters; put a message type switch before it`
  return [warning(first, text)]
}

function waysFrom({ connections }: CheckedChain, index: number): CheckedChain['connections'] {
  return connections.filter(({ fromIndex }) => fromIndex === index)
}
