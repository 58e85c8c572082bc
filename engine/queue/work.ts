/**
 * One message on its way through the graph, settled when every branch has ended. The queue makes it and hears the end; the
 * rule chain counts its branches. The counter is an invariant: below zero is a programming error and throws.
 */
import type { Message } from '../../model/message.ts'

export interface Work {
  readonly message: Message
  /** 1 for the first try. */
  readonly attempt: number
  /** Its time is over: its branches enter no further node, and what becomes of them is heard by nobody. */
  readonly isCancelled: boolean
  /** Node executions so far, over all branches: what bounds a graph that multiplies its messages. The rule chain counts them. */
  executions: number
  /** `count` more branches are open than before. */
  branch(count: number): void
  /**
   * At `nowMs` (monotonic) it waits for its turn behind others that were served lately: its time begins anew. Told now and then, not for each message.
   */
  postpone(nowMs: number): void
  /** One branch ended; `error` where it failed and nothing was connected to `Failure`. Zero open branches settle the message. */
  end(error?: Error): void
}

/** What the queue hands its packs to: the dispatcher of the rule chain actors. */
export interface WorkProcessor {
  /** Takes a pack in order; every work is ended exactly once for each of its branches (it begins with one). Never throws. */
  process(pack: readonly Work[]): void
}
