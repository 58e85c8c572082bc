/** Messages of one batch at a node with a memory: where the state of each is, and what came of it. */
import type { EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import type { BatchResult, NodeVisit } from '../rulechain/node-instance.ts'
import type { VisitOutcome } from './done-visits.ts'
import type { StateEntry } from './entry.ts'
import type { StatePartition } from './partition.ts'

/** A message with where its state is. */
export interface Visitor<Known> {
  readonly index: number
  readonly message: Message
  readonly visit: NodeVisit
  readonly id: string
  readonly partition: StatePartition
  /** As it was found last: another look is due behind everything that is waited for. */
  entry: StateEntry | undefined
  /** What was read for it. */
  known: Known | undefined
  /** Why nothing could be read. */
  failure: Error | undefined
}

export interface Outcome {
  readonly index: number
  readonly outcome: VisitOutcome | { readonly thrown: Error }
}

export async function readLater<Known>(visitor: Visitor<Known>, read: Promise<Known>): Promise<void> {
  try {
    visitor.known = await read
  } catch (error) {
    visitor.failure = errorOf(error)
  }
}

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorText(error))
}

export function partitionKey(stream: number): string {
  return `partition:${stream}`
}

export function entityKey({ entityType, id }: EntityId): string {
  return `${entityType}:${id}`
}

export function tell(result: BatchResult, { index, outcome }: Outcome): void {
  if ('thrown' in outcome) result.fail(index, outcome.thrown)
  else if ('error' in outcome) result.fail(index, new Error(outcome.error))
  else result.emit(index, outcome.output)
}
