/** States of nodes that live as long as the object: for rehearsals and tests. */
import { entityId } from '../../model/entity-id.ts'
import { Message, type MessageFields } from '../../model/message.ts'
import { StateErrors } from './errors.ts'
import type { NodeStateStore, PartitionStore, StateCommit, StoredOutput, StoredState } from './store.ts'

export class StatesInMemory implements NodeStateStore {
  readonly states = new Map<string, StoredState>()
  readonly outputs = new Map<string, StoredOutput>()
  /** Of each row. Beside them: a row is kept as it was committed, without a copy. */
  private readonly streams = new Map<string, number>()
  private readonly epochs = new Map<number, number>()

  async claim(stream: number, epoch: number | undefined): Promise<PartitionStore> {
    const before = this.epochs.get(stream) ?? 0
    const own = epoch ?? before + 1
    if (own < before) throw StateErrors.OWNER_STALE({ partition: stream, epoch: own })
    this.epochs.set(stream, own)
    const isOf = ({ id }: { readonly id: string }): boolean => this.streams.get(id) === stream
    return {
      commit: (commit) => this.commit(stream, own, commit),
      load: (ids) => this.load(ids),
      woken: async (time, limit) =>
        [...this.states.values()]
          .filter((row) => isOf(row) && row.wakeAt !== null && row.wakeAt <= time)
          .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0))
          .slice(0, limit),
      due: async (time, limit) =>
        [...this.outputs.values()]
          .filter((row) => isOf(row) && row.due <= time)
          .sort((a, b) => a.due - b.due)
          .slice(0, limit),
      nextTime: async () => {
        const times = [
          ...[...this.states.values()].filter(isOf).flatMap(({ wakeAt }) => wakeAt ?? []),
          ...[...this.outputs.values()].filter(isOf).map(({ due }) => due),
        ]
        return times.length === 0 ? undefined : Math.min(...times)
      },
      waiting: async () => [...this.outputs.values()].filter(isOf),
    }
  }

  async epochOf(stream: number): Promise<number> {
    return this.epochs.get(stream) ?? 0
  }

  async bytesOf(tenantId: string): Promise<number> {
    const rows = [...this.states.values(), ...this.outputs.values()]
    return rows.filter((row) => row.tenantId === tenantId).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  encode(message: Message): string {
    const { id, ts, type, tenantId, originator, customerId, metadata, dataType, data } = message
    const { ruleChainId, ruleNodeId, queueName, resumption, calculatedFieldIds } = message
    return JSON.stringify({
      ...{ id, ts, type, tenantId, originator, customerId, metadata, dataType, data },
      ...{ ruleChainId, ruleNodeId, queueName, resumption, calculatedFieldIds },
    })
  }

  decode(text: string): Message {
    const { originator, ...fields } = JSON.parse(text) as MessageFields
    return new Message({ ...fields, originator: entityId(originator.entityType, originator.id) })
  }

  /** Rejects `OWNER_STALE`. */
  protected async commit(stream: number, own: number, commit: StateCommit): Promise<void> {
    if (this.isStale(stream, own)) throw StateErrors.OWNER_STALE({ partition: stream, epoch: own })
    this.apply(stream, commit)
  }

  protected async load(ids: readonly string[]): Promise<readonly StoredState[]> {
    return ids.flatMap((id) => {
      const row = this.states.get(id)
      return row === undefined ? [] : [row]
    })
  }

  protected isStale(stream: number, own: number): boolean {
    return this.epochs.get(stream) !== own
  }

  protected apply(stream: number, commit: StateCommit): void {
    this.put(this.states, commit.states, stream)
    this.remove(this.states, commit.removedStates)
    this.put(this.outputs, commit.outputs, stream)
    this.remove(this.outputs, commit.removedOutputs)
  }

  private put<Row extends { readonly id: string }>(to: Map<string, Row>, rows: readonly Row[], stream: number): void {
    for (const row of rows) {
      to.set(row.id, row)
      this.streams.set(row.id, stream)
    }
  }

  private remove(from: Map<string, unknown>, ids: readonly string[]): void {
    for (const id of ids) {
      from.delete(id)
      this.streams.delete(id)
    }
  }
}
