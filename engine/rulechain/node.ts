/**
 * What a rule node is to the engine. `nodes/` defines them with this contract and knows nothing else of the engine; the
 * engine receives them as a catalogue and knows none by name.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { SecretShape } from '../../model/secret-members.ts'
import type { CapabilityName, NodeCapabilities, NodeIdentity } from './capabilities.ts'
import type { NodeInstance } from './node-instance.ts'

export type {
  BatchResult,
  Emission,
  FlowStep,
  NodeInstance,
  NodeOutcome,
  NodeOutput,
  NodeVisit,
  Visited,
} from './node-instance.ts'

/** All that a node knows of the world: of the platform only what its declaration names. */
export interface NodeContext<Uses extends CapabilityName = never> extends NodeIdentity {
  /** The queue that the node's settings name: null where they leave it to the message. */
  readonly queueName: string | null
  readonly clock: Clock
  readonly random: Random
  readonly services: Pick<NodeCapabilities, Uses>
  readonly settings: NodeSettings
  /** One line in the system log, with the node's ids as fields; counted and summed up when repeated. */
  log(level: 'info' | 'warn' | 'error', text: string, fields?: Readonly<Record<string, unknown>>): void
  /**
   * Puts a message that the node made of the one in hand at the start of its chain, durably. Hand it in with that one's id: its own is made of
   * it, so that a redelivery makes the same message.
   */
  enqueue(message: Message): Promise<void>
}

export interface NodeSettings {
  readonly castStrings: boolean
  /** Whether lines of level info are shown at all: where not, a log node has nothing to do. */
  readonly logsInfo: boolean
}

export type NodeCategory = 'FILTER' | 'ENRICHMENT' | 'TRANSFORMATION' | 'ACTION' | 'EXTERNAL' | 'FLOW' | 'ANALYTICS'

/** Where a node runs in a cluster: in every process, in one, or as its settings say. */
export type NodeClustering = 'ENABLED' | 'SINGLETON' | 'USER_PREFERENCE'

/** What an editor of chains is told beside the configuration. */
export interface NodeEditor {
  readonly clustering: NodeClustering
  /** Its settings name a queue. */
  readonly hasQueueName: boolean
  /** Takes messages, as all but generators do. */
  readonly hasInput: boolean
  /** Sends messages on. */
  readonly hasOutput: boolean
  /** Leads into another chain, whose output nodes name its relations. */
  readonly isChain: boolean
  /** The name of the form that the reference's user interface brings; empty where it shows the configuration as JSON. */
  readonly form: string
  /** A name of the Material icons. */
  readonly icon: string
}

/** A node type with its config already behind a parser: what `defineNode` makes and the catalogue holds. */
export interface NodeDefinition {
  /** The class name that exported chains carry. */
  readonly type: string
  readonly name: string
  readonly category: NodeCategory
  readonly configurationVersion: number
  readonly description: string
  /** Labels the node emits besides `Failure`; `custom` when any label may come out. */
  readonly relations: readonly string[] | 'custom'
  /** The message types that it takes, where it fails all others. */
  readonly takes?: readonly string[]
  /** The message types that alone leave it by the connection; undefined where any may. Absent where that is so of each. */
  passes?(label: string, configuration: JsonObject): readonly string[] | undefined
  readonly defaultConfiguration: JsonObject
  /** JSON schema of the configuration, for the editor and the docs. */
  readonly configurationSchema: JsonObject
  /** Which members of the configuration are secrets, beside those of a secret's name: kept sealed, never shown. */
  readonly secrets?: SecretShape
  /** Raises an old configuration to the present version. */
  upgrade?(configuration: JsonObject, fromVersion: number): JsonObject
  /** What its context holds, beyond the node's own world. */
  readonly uses: readonly CapabilityName[]
  /** It changes the world outside its messages: dry runs and shadows replace it. */
  readonly effects: boolean
  /** Parses the configuration and compiles what it holds. Throws an `invalid` error that names the field. */
  create(configuration: JsonObject, context: NodeContext<CapabilityName>): NodeInstance | Promise<NodeInstance>
  /** Throws an `invalid` error that names the field: the node would not start. Compiles nothing. */
  check(configuration: JsonObject): void
  /** Throws an `invalid` error where a chain with this configuration may not even be saved (`rule-engine.md` 3.5); absent where it may be whatever it is. */
  checkSaved?(configuration: JsonObject): void
  readonly editor: NodeEditor
  /** Of nodes that have an input, and with some configurations send messages by themselves. */
  isSource?(configuration: JsonObject): boolean
}

/** It sends messages that none brought about. */
export function isSource(definition: NodeDefinition, configuration: JsonObject): boolean {
  return !definition.editor.hasInput || definition.isSource?.(configuration) === true
}

export interface NodeCatalogue {
  find(type: string): NodeDefinition | undefined
  all(): readonly NodeDefinition[]
}
