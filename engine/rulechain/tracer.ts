/** Hooks for who measures or follows messages through the nodes: absent, they cost one comparison a visit (`benchmarks/rule-chain`). */
import type { Message } from '../../model/message.ts'
import type { RuleNode } from '../../model/entities.ts'

/** All must be quick, and must not throw. */
export interface RuleTracer {
  /** The message enters the node. */
  run(node: RuleNode, message: Message): void
  /** A message leaves the node by a relation; also by one that leads nowhere. */
  dispatch(node: RuleNode, message: Message, relation: string): void
  /** The node failed for the message, which goes on by `Failure` where that leads somewhere. */
  fail(node: RuleNode, message: Message, error: unknown): void
}
