/** What a node gets to know of the world (`node.ts`), made for one node of one chain. */
import type { Clock, Random } from '../../model/clock.ts'
import type { RuleChain, RuleNode } from '../../model/entities.ts'
import type { Message } from '../../model/message.ts'
import type { Link } from '../link/link.ts'
import type { CapabilityName, CapabilitySources, NodeCapabilities, NodeIdentity } from './capabilities.ts'
import type { NodeRoute } from './capabilities/routes.ts'
import { causedId } from './child-id.ts'
import { RuleChainErrors } from './errors.ts'
import type { NodeContext, NodeSettings } from './node.ts'

/** The system log as the composition root hands it in: it bounds the rate and sums up what repeats. */
export type EngineLog = (
  level: 'info' | 'warn' | 'error',
  text: string,
  fields: Readonly<Record<string, unknown>>,
) => void

export interface ContextSources {
  readonly clock: Clock
  readonly random: Random
  readonly capabilities: CapabilitySources
  readonly settings: NodeSettings
  readonly link: Pick<Link, 'publish'>
  readonly log: EngineLog
  /** A node's message is stored, for the start of its chain. */
  readonly enqueued: (node: NodeIdentity, message: Message) => void
}

/** Holds just the capabilities that the node's declaration names. Throws `CAPABILITY_MISSING`. */
export function nodeContext(
  sources: ContextSources,
  chain: RuleChain,
  node: RuleNode,
  uses: readonly CapabilityName[],
  secrets: readonly string[] = [],
): NodeContext<CapabilityName> {
  const ids = { tenantId: chain.tenantId, ruleChainId: chain.id, ruleNodeId: node.id, ruleNode: node.name }
  const identity: NodeIdentity = {
    tenantId: chain.tenantId,
    ruleChainId: chain.id,
    ruleChainName: chain.name,
    ruleNodeId: node.id,
    ruleNodeName: node.name,
    secrets,
  }
  return {
    ...identity,
    queueName: node.queueName === '' ? null : node.queueName,
    clock: sources.clock,
    random: sources.random,
    services: capabilitiesOf(sources.capabilities, identity, uses),
    settings: sources.settings,
    log: (level, text, fields) => sources.log(level, text, fields === undefined ? ids : { ...fields, ...ids }),
    enqueue: (message) => publish(sources, identity, message),
  }
}

function capabilitiesOf(
  sources: CapabilitySources,
  node: NodeIdentity,
  uses: readonly CapabilityName[],
): NodeCapabilities {
  const made: MadeCapabilities = {}
  for (const name of uses) make(made, sources, node, name)
  // `defineNode` shows the node the part that it names; only beyond that the type says more than is there.
  return made as NodeCapabilities
}

type MadeCapabilities = { -readonly [Name in CapabilityName]?: NodeCapabilities[Name] }

function make<Name extends CapabilityName>(
  made: { -readonly [Made in Name]?: NodeCapabilities[Made] },
  sources: CapabilitySources,
  node: NodeIdentity,
  name: Name,
): void {
  const source = sources[name]
  if (source === undefined) throw RuleChainErrors.CAPABILITY_MISSING({ capability: name })
  made[name] = source(node)
}

/**
 * A new message: an id of its own, at the start of the originator's chain, in the queue of its profile. Rejects with the link's reason where it is
 * not stored.
 */
async function publish(sources: ContextSources, node: NodeIdentity, message: Message): Promise<void> {
  const begins: NodeRoute = message.hasOwnOriginator ? message : await beginningOf(sources, node, message)
  const id = causedId(message, node.ruleNodeId)
  const { ruleChainId, queueName } = begins
  const fresh = message.with({ id, ruleChainId, queueName, ruleNodeId: undefined, resumption: undefined })
  fresh.sequence = 0
  await new Promise<void>((resolve, reject) => {
    const stored = (): void => {
      sources.enqueued(node, fresh)
      resolve()
    }
    sources.link.publish(fresh, { stored, refused: reject })
  })
}

/** The message says where its own originator begins; of another one the platform knows. Of one that is gone it goes where its cause began. */
async function beginningOf(
  { capabilities }: ContextSources,
  node: NodeIdentity,
  { originator, ruleChainId, queueName, resumption }: Message,
): Promise<NodeRoute> {
  const known = await capabilities.routes?.(node).of(originator)
  return known ?? { ruleChainId, queueName: resumption === undefined ? queueName : resumption.firstQueueName }
}
