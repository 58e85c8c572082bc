/**
 * What a rule node is to the engine. `nodes/` defines them with this contract and knows nothing else of the engine; the
 * engine receives them as a catalogue and knows none by name.
 */
import type { DeviceCall } from '../device/calls/call.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { AttributeScope, DataPoint, Entry } from '../../model/value.ts'
import type { ScriptHost } from '../script/script.ts'

/** One message going out on one or more relations. */
export interface Emission {
  readonly message: Message
  readonly relations: readonly string[]
}

/**
 * Steps that leave the ordinary way from node to node (`rule-engine.md` 4.8, 5.5): `acknowledge` settles the message now and
 * goes on through `Success`; `enter` hands the message to another chain and remembers this node as the way back; `return`
 * goes on as if the remembered node had emitted `relation`, and ends the message where none is remembered; `enqueue` puts the
 * message, under an id of its own, into a queue once for each connection of `relation`, behind which it goes on, and ends it here when that is
 * durable.
 */
export type FlowStep =
  | { readonly flow: 'acknowledge' }
  | { readonly flow: 'enter'; readonly ruleChainId: string }
  | { readonly flow: 'return'; readonly relation: string }
  | {
      readonly flow: 'enqueue'
      readonly relation: string
      /** As the link calls it; absent means the message's own. */
      readonly queueName?: string
    }

/**
 * What a node makes of a message: a relation's name (the same message goes on there), emissions, a step of the flow nodes, or
 * nothing (the message ends here, settled). A thrown error takes the `Failure` relation with its text in the metadata key `error`.
 */
export type NodeOutput = string | Emission | readonly Emission[] | FlowStep | undefined

/** Reports the outcome of one message of a batch; `index` is its place in the batch. */
export interface BatchResult {
  emit(index: number, output: NodeOutput): void
  fail(index: number, error: Error): void
}

export interface NodeInstance {
  /** Handles one message; synchronously wherever it can. Exactly one of `handle` and `handleBatch` is there. */
  handle?(message: Message): NodeOutput | Promise<NodeOutput>
  /** Handles what waits for this node as one batch; every index is reported once before the promise resolves. */
  handleBatch?(messages: readonly Message[], result: BatchResult): void | Promise<void>
  close?(): void | Promise<void>
}

/** What nodes may do to the platform; the composition root fills it from `services/`. */
export interface NodeServices {
  readonly telemetry: NodeTelemetry
  readonly attributes: NodeAttributes
  readonly queues: NodeQueues
  readonly calls: NodeCalls
  readonly scripts: ScriptHost
}

/** One entity's points to save, with the log position that breaks ties of equal times. */
export interface TelemetrySave {
  readonly tenantId: string
  readonly entity: EntityId
  readonly points: readonly DataPoint[]
  /** Seconds; 0 keeps for ever. */
  readonly ttlSeconds: number
  readonly sequence: number
  /** What the save touches (`rule-engine.md` 10.5). */
  readonly history: boolean
  readonly latest: boolean
  readonly notify: boolean
}

export interface NodeTelemetry {
  /** Calls back once, when the points are committed (group commit: no promise a message), or with the error. */
  save(request: TelemetrySave, done: (error: Error | undefined) => void): void
}

export interface AttributesSave {
  readonly tenantId: string
  readonly entity: EntityId
  readonly scope: AttributeScope
  readonly entries: readonly Entry[]
  readonly sequence: number
  readonly store: boolean
  readonly notify: boolean
  /** Pushes shared attributes to the device. */
  readonly notifyDevice: boolean
}

export interface NodeAttributes {
  save(request: AttributesSave): Promise<void>
  /** The present values of the keys (all when none is named): from the cache where it can. */
  find(tenantId: string, entity: EntityId, scope: AttributeScope, keys: readonly string[]): Promise<readonly Entry[]>
}

export interface NodeQueues {
  /** What the link calls the queue that the tenant means by the name; undefined where there is none. */
  linkName(tenantId: string, name: string): Promise<string | undefined>
}

/** A call to a device that a message asks for. */
export type NodeDeviceCall = DeviceCall

export interface NodeCalls {
  /** On its way to the device when it returns; who waits is told what becomes of it. The same id twice is one call. */
  toDevice(call: NodeDeviceCall): void
  /** To a device that called the rule engine: the process and the session that its message names. */
  replyToDevice(serviceId: string, sessionId: string, body: string): void
  /** To a user who called the rule engine: the process and the request that the message names. */
  answer(serviceId: string, requestId: string, body: string): void
}

/** All that a node knows of the world. */
export interface NodeContext {
  readonly tenantId: string
  readonly ruleChainId: string
  readonly ruleChainName: string
  readonly ruleNodeId: string
  readonly ruleNodeName: string
  /** The queue that the node's settings name: null where they leave it to the message. */
  readonly queueName: string | null
  readonly clock: Clock
  readonly random: Random
  readonly services: NodeServices
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
  readonly defaultConfiguration: JsonObject
  /** JSON schema of the configuration, for the editor and the docs. */
  readonly configurationSchema: JsonObject
  /** Raises an old configuration to the present version. */
  upgrade?(configuration: JsonObject, fromVersion: number): JsonObject
  /** Parses the configuration and compiles what it holds. Throws an `invalid` error that names the field. */
  create(configuration: JsonObject, context: NodeContext): NodeInstance | Promise<NodeInstance>
  /** Throws an `invalid` error that names the field; compiles nothing. */
  check(configuration: JsonObject): void
}

export interface NodeCatalogue {
  find(type: string): NodeDefinition | undefined
  all(): readonly NodeDefinition[]
}
