/** The states of rule nodes in the entity store, and the clearing away of what nodes left that are gone. */
import type { Clock } from '../model/clock.ts'
import type { Message } from '../model/message.ts'
import { StateErrors } from '../engine/state/errors.ts'
import type { NodeStateStore, PartitionStore, StateCommit } from '../engine/state/store.ts'
import type { Statement } from '../storage/entities/database.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import { messageOf, messageText } from '../storage/entities/message-text.ts'
import type { Report } from './changes/outbox.ts'
import { Sweeps } from './cleanup/sweeps.ts'

export interface StoredNodeStatesParts {
  readonly entities: Pick<EntityStore, 'nodeState' | 'write'>
  readonly clock: Clock
  readonly report: Report
  /** Tells the partitions of one log from those of another. */
  readonly log: string
  /** This process. */
  readonly self: string
}

const SWEEP_MS = 3_600_000
const PAUSE_MS = 1_000
const PIECE = 1_000
/** A message that is not settled after so long has been forgotten by the log too. */
const VISITS_ALONE_MS = 86_400_000
/** As many as a query may name. */
const MAX_IDS = 500

export class StoredNodeStates implements NodeStateStore {
  private readonly parts: StoredNodeStatesParts
  private readonly sweeps: Sweeps
  /** By stream, the epoch under which this process took it last. */
  private readonly claimed = new Map<number, number>()

  constructor(parts: StoredNodeStatesParts) {
    this.parts = parts
    this.sweeps = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: SWEEP_MS, pauseMs: PAUSE_MS },
      failure: 'What rule nodes left that are gone is not cleared away; it is tried again',
      sweep: () => this.sweep(),
    })
  }

  start(): void {
    this.sweeps.start()
  }

  close(): Promise<void> {
    return this.sweeps.close()
  }

  async claim(stream: number, epoch: number | undefined): Promise<PartitionStore> {
    const { entities, clock, self } = this.parts
    const { nodeState } = entities
    const name = this.nameOf(stream)
    const taken = epoch ?? (await this.epochOf(stream)) + 1
    const stale = staleOf(stream, taken)
    await entities.write([nodeState.claim(name, taken, self, clock.now(), stale)])
    this.claimed.set(stream, taken)
    let outputs = 0
    return {
      commit: (commit) => {
        const before = outputs
        outputs += commit.outputs.length
        return this.commit(name, taken, stale, commit, before)
      },
      load: async (ids) => {
        const pages = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, page) =>
          nodeState.states(ids.slice(page * MAX_IDS, (page + 1) * MAX_IDS)),
        )
        return (await Promise.all(pages)).flat()
      },
      woken: (time, limit) => nodeState.woken(name, time, limit),
      due: (time, limit) => nodeState.due(name, time, limit),
      nextTime: () => nodeState.nextTime(name),
      waiting: () => nodeState.waiting(name),
    }
  }

  /** Undoes a transaction where another process has taken the stream since; undefined where this one never had it. */
  fence(stream: number): Statement | undefined {
    const epoch = this.claimed.get(stream)
    if (epoch === undefined) return undefined
    return this.parts.entities.nodeState.fence(this.nameOf(stream), epoch, staleOf(stream, epoch))
  }

  async epochOf(stream: number): Promise<number> {
    return (await this.parts.entities.nodeState.epochOf(this.nameOf(stream))) ?? 0
  }

  bytesOf(tenantId: string): Promise<number> {
    return this.parts.entities.nodeState.bytesOf(tenantId)
  }

  encode(message: Message): string {
    return messageText(message)
  }

  decode(text: string): Message {
    return messageOf(text)
  }

  /** Removes a piece; whether there may be more. */
  async sweep(): Promise<boolean> {
    const { entities, clock } = this.parts
    const steps = entities.nodeState.removeForgotten(clock.now() - VISITS_ALONE_MS, PIECE)
    const { results } = await entities.write(steps)
    return results.some(({ changes }) => changes >= PIECE)
  }

  private nameOf(stream: number): string {
    return `${this.parts.log} ${stream}`
  }

  private async commit(
    name: string,
    epoch: number,
    stale: () => Error,
    { states, removedStates, outputs, removedOutputs }: StateCommit,
    outputsBefore: number,
  ): Promise<void> {
    const { entities, clock } = this.parts
    const { nodeState } = entities
    const now = clock.now()
    await entities.write([
      // First: who is stale changes nothing, and who takes over meanwhile waits.
      nodeState.fence(name, epoch, stale),
      ...(states.length > 0 ? [nodeState.putStates(name, states, now)] : []),
      ...(removedStates.length > 0 ? [nodeState.removeStates(removedStates)] : []),
      ...(outputs.length > 0 ? [nodeState.putOutputs(name, outputs, now, outputsBefore)] : []),
      ...(removedOutputs.length > 0 ? [nodeState.removeOutputs(removedOutputs)] : []),
    ])
  }
}

function staleOf(stream: number, epoch: number): () => Error {
  return () => StateErrors.OWNER_STALE({ partition: stream, epoch })
}
