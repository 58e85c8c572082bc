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
  /** Where that was read, and the state there as JSON; undefined where nothing had to be read. */
  readAt: StateEntry | undefined
  readText: string | null | undefined
  /** Why nothing could be read. */
  failure: Error | undefined
}

export interface Outcome {
  readonly index: number
  readonly outcome: VisitOutcome | { readonly thrown: Error }
}

/** Nothing is found or read for it yet. */
export function visitorOf<Known>(
  index: number,
  message: Message,
  visit: NodeVisit,
  id: string,
  partition: StatePartition,
): Visitor<Known> {
  return {
    index,
    message,
    visit,
    id,
    partition,
    entry: undefined,
    known: undefined,
    readAt: undefined,
    readText: undefined,
    failure: undefined,
  }
}

/** Whether what was read is for the state that is here: a commit that fails meanwhile leaves another one. */
export function isRead<Known>({ entry, readAt, readText }: Visitor<Known>): boolean {
  return entry === undefined || entry === readAt || entry.text === readText
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
