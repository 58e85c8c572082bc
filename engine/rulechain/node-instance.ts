/** What a node instance is handed and what it answers. */
import type { Message } from '../../model/message.ts'

/** One message going out on one or more relations. */
export interface Emission {
  readonly message: Message
  readonly relations: readonly string[]
  /** Why the message goes on `Failure`, changed: told in the node's events, and to the queue where nothing is connected. */
  readonly error?: Error
}

/**
 * Steps that leave the ordinary way from node to node (`rule-engine.md` 4.8, 5.5): `acknowledge` settles the message now and
 * goes on through `Success`; `enter` hands the message to another chain and remembers this node as the way back; `return`
 * goes on as if the remembered node had emitted `relation`, and ends the message where none is remembered; `enqueue` puts the
 * message, under an id of its own, into a queue once for each connection of `relation`, behind which it goes on, and ends it here when that is
 * durable. `later` keeps it until `at`, through restarts too, and ends it here when that is durable; then it goes on behind `relation`
 * under an id of its own. `move` has it come to this node again at the process that has its originator's partition.
 * `afterwards` settles the message now; what comes of it goes on behind this node by way of the queue, unless the process ends before.
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
  | {
      readonly flow: 'later'
      readonly relation: string
      /** Unix ms. */
      readonly at: number
    }
  | { readonly flow: 'move' }
  | {
      readonly flow: 'afterwards'
      readonly outcome: Promise<NodeOutcome>
    }

/** What came of a message that was settled before. */
export interface NodeOutcome {
  readonly message: Message
  readonly relation: string
  /** Why, with `Failure`. */
  readonly error?: Error
}

/**
 * What a node makes of a message: a relation's name (the same message goes on there), emissions, a step of the flow nodes, or
 * nothing (the message ends here, settled). A thrown error takes the `Failure` relation with the message as it is: the text is in the node's events.
 */
export type NodeOutput = string | Emission | readonly Emission[] | FlowStep | undefined

/** A message at a node: the way that it took is in the id. */
export interface NodeVisit {
  readonly id: string
  /** Of the message as the log delivered it, as the next. */
  readonly originatorId: string
  readonly sequence: number
}

/** Says it where it is asked: most nodes have no use for it. */
export interface Visited {
  visit(): NodeVisit
}

/** Reports the outcome of one message of a batch; `index` is its place in the batch. */
export interface BatchResult {
  /** Which visit the message of that place is: the same when it is delivered again. */
  visit(index: number): NodeVisit
  emit(index: number, output: NodeOutput): void
  fail(index: number, error: Error): void
}

export interface NodeInstance {
  /** Handles one message; synchronously wherever it can. Exactly one of `handle` and `handleBatch` is there. */
  handle?(message: Message, at: Visited): NodeOutput | Promise<NodeOutput>
  /** Handles what waits for this node as one batch; every index is reported once before the promise resolves. */
  handleBatch?(messages: readonly Message[], result: BatchResult): void | Promise<void>
  /**
   * What its batches hand over is gathered behind it into few large writes, so that more of them under way cost no more: the engine holds
   * full ones back by their bytes, and not by their number.
   */
  readonly isGathered?: boolean
  close?(): void | Promise<void>
}
