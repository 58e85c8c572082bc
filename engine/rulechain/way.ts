/** How a branch came to where it is. */
import type { Message, NodeAddress } from '../../model/message.ts'

/** The "rule chain" nodes that a message entered through, innermost first (`rule-engine.md` 4.8). */
export interface ReturnAddress extends NodeAddress {
  readonly next: ReturnAddress | undefined
}

/** Which way a branch took where there were several, innermost first: two visits of one node are told apart by the ways before them. */
export interface Fork {
  readonly nodeId: string
  /** Which of the ways out of the node. */
  readonly index: number
  readonly before: Fork | undefined
}

/** A message with the way that it took. */
export interface OnTheWay {
  readonly message: Message
  readonly returns: ReturnAddress | undefined
  readonly fork: Fork | undefined
}
