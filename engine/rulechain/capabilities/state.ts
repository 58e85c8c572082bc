/**
 * What a node with a memory is to the engine. The node is a function from a state and a message to the next state and what goes out; the
 * engine stores the state, which messages made it what it is, and what came of them in one transaction, and lets the outputs go after it.
 * A message that comes again has the same outputs, and changes nothing.
 */
import type { EntityId } from '../../../model/entity-id.ts'
import type { JsonValue } from '../../../model/json.ts'
import type { Message } from '../../../model/message.ts'
import type { NodeInstance, NodeOutput } from '../node-instance.ts'
import type { Soon } from './soon.ts'

/** One message, or one wake-up, with the state that it meets. Good for the call in which it is handed in. */
export interface StateTurn<State> {
  /** Whose state it is; undefined where it is a partition's. */
  readonly entity: EntityId | undefined
  /** Which partition the state is in. */
  readonly partition: number
  /** As the turn before left it: set another, or say {@link changeInPlace} first. Undefined where there is none. */
  readonly state: State | undefined
  /** Unix ms. */
  readonly now: number
  /**
   * Undefined removes it. A turn that sets nothing, wakes nothing and sends nothing is not remembered: its message, when it comes again, meets the
   * state of then.
   */
  set(state: State | undefined): void
  /**
   * From here on the node may change `state` itself, which counts as setting it. For states that change with each message: what is old is dear to
   * collect. Where the turn is undone, the state is read again from its text.
   */
  changeInPlace(): void
  /** The node is called once for this state at that time or later, also after a restart; undefined: not at all. One time a state. */
  wakeAt(time: number | undefined): void
  /** When it will be woken, Unix ms. */
  readonly wakesAt: number | undefined
  /**
   * A message of the node's own, which goes on behind `relation` at `at` (Unix ms) or soon after, through its queue. It is as durable as the
   * state; its id is made of what caused it. Without a relation it goes where the message itself says.
   */
  send(message: Message, relation: string | undefined, at?: number): void
}

/** What is stored with the state: no promise. */
export type KeyedOutput = Exclude<NodeOutput, { readonly flow: 'afterwards' }>

/** A node of one state per originator, or per partition: what `per` says. */
export interface KeyedNode<State, Known = unknown> {
  readonly per: 'originator' | 'partition'
  /** Reads what was stored; throws where it is of another shape, as of an older configuration: it counts as none then. */
  parse(stored: JsonValue): State
  /**
   * Reads what the node must know of the world beside its state, before its turn; those behind it wait where it is not at hand. Undefined where it
   * needs nothing. What it rejects with, or throws, fails the message.
   */
  read?(message: Message, state: State | undefined): Soon<Known> | undefined
  /** The same before a wake-up, which is tried again where it rejects. */
  readForWake?(state: State | undefined): Promise<Known>
  /** An error that it throws undoes the turn and fails the message; one that it returns fails the message and keeps the turn. */
  handle(turn: StateTurn<State>, message: Message, known: Known | undefined): KeyedOutput | Error
  /**
   * The message came again and has the output that its visit had, in its place between the turns of others. For a node that keeps in memory, outside
   * its state, what its outputs do to the world.
   */
  replayed?(message: Message, output: KeyedOutput): void
  /** What `wakeAt` asked for. */
  wake?(turn: StateTurn<State>, known: Known | undefined): void
  /**
   * Called when the node and its partition are both here, and again after each restart: a source starts its clock. `source` names the entity
   * whose partition has the source; without it, it is each partition for nodes of one state a partition, and none for others.
   */
  start?(turn: StateTurn<State>): void
  readonly source?: EntityId
}

export interface NodeState {
  /** This process, as keys and attributes of the reference name it. */
  readonly serviceId: string
  /** What runs the node. Its states end with the node, with the entity that they are of, and with the tenant. */
  keyed<State extends JsonValue, Known>(node: KeyedNode<State, Known>): NodeInstance
  /**
   * What a node keeps in memory beside its states is good as long as this stays the same: another number says that the originator's partition
   * was elsewhere meanwhile. Undefined where it is not here.
   */
  stayOf(originatorId: string): number | undefined
  /** Which partition the messages of an originator come to. */
  partitionOf(originatorId: string): number
  /** Messages of this node that wait for their time, in the partitions of this process. */
  waiting(): number
}
