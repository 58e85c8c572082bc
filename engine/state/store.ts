/** What the states of nodes need of a database. */
import type { Message } from '../../model/message.ts'

/** Where a row belongs: it goes when any of these goes. */
export interface StatePlace {
  readonly tenantId: string
  readonly ruleChainId: string
  readonly ruleNodeId: string
  readonly entityId: string
}

export interface StoredState extends StatePlace {
  readonly id: string
  /** JSON text; null where there is no state, only visits. */
  readonly value: string | null
  /** Of `DoneVisits`. */
  readonly done: string
  /** Unix ms. */
  readonly wakeAt: number | null
  readonly bytes: number
}

export interface StoredOutput extends StatePlace {
  /** That of the message. */
  readonly id: string
  /** Unix ms. */
  readonly due: number
  readonly message: string
  readonly bytes: number
}

export type WaitingOutput = Pick<StoredOutput, 'id' | 'ruleNodeId' | 'entityId' | 'due'>

/** All of it or nothing. */
export interface StateCommit {
  readonly states: readonly StoredState[]
  readonly removedStates: readonly string[]
  readonly outputs: readonly StoredOutput[]
  readonly removedOutputs: readonly string[]
}

/** One partition under one epoch. */
export interface PartitionStore {
  /** Resolves when it is durable. Rejects `OWNER_STALE` where the partition is owned under a later epoch. */
  commit(commit: StateCommit): Promise<void>
  load(ids: readonly string[]): Promise<readonly StoredState[]>
  /** Up to `time`, the earliest first. */
  woken(time: number, limit: number): Promise<readonly StoredState[]>
  /** Up to `time`, the earliest first; of the same time in the order in which they were committed. */
  due(time: number, limit: number): Promise<readonly StoredOutput[]>
  nextTime(): Promise<number | undefined>
  /** The outputs that wait. */
  waiting(): Promise<readonly WaitingOutput[]>
}

export interface NodeStateStore {
  /**
   * Takes the partition under this epoch, or the next one where none is given: no other owner can commit from then on. Rejects
   * `OWNER_STALE` where it is owned under a later one.
   */
  claim(stream: number, epoch: number | undefined): Promise<PartitionStore>
  /** The latest under which the partition was claimed; 0 where it never was. */
  epochOf(stream: number): Promise<number>
  /** Bytes that a tenant has in all partitions. */
  bytesOf(tenantId: string): Promise<number>
  encode(message: Message): string
  decode(text: string): Message
}
