/** For tests of nodes with a memory: a store in memory that can refuse, keep quiet and be read by the next process. */
import { entityId } from '../../model/entity-id.ts'
import { Message, type MessageFields } from '../../model/message.ts'
import { StateErrors } from './errors.ts'
import type { NodeStateStore, PartitionStore, StateCommit, StoredOutput, StoredState } from './store.ts'

/** What a commit meets: it is done and answered, done and not answered, or refused. */
export type CommitFate = 'done' | 'unanswered' | 'refused'

/** What a store may do wrong. */
export type PlantedBug = 'state without visits' | 'output without state' | 'state of the old owner'

/** What is durable: shared by all processes of a test. */
export class MemoryStateStore implements NodeStateStore {
  readonly states = new Map<string, StoredState & { readonly stream: number }>()
  readonly outputs = new Map<string, StoredOutput & { readonly stream: number }>()
  readonly commits: StateCommit[] = []
  loads = 0
  fate: () => CommitFate = () => 'done'
  /** Called before each commit is done; it waits. */
  gate: () => Promise<void> = () => Promise.resolve()
  private readonly epochs = new Map<number, number>()
  private readonly bug: PlantedBug | undefined

  constructor(bug?: PlantedBug) {
    this.bug = bug
  }

  async claim(stream: number, epoch: number | undefined): Promise<PartitionStore> {
    const before = this.epochs.get(stream) ?? 0
    const own = epoch ?? before + 1
    const stale = (): Error => StateErrors.OWNER_STALE({ partition: stream, epoch: own })
    if (own < before) throw stale()
    this.epochs.set(stream, own)
    const isOf = (row: { readonly stream: number }): boolean => row.stream === stream
    return {
      commit: async (commit) => {
        await this.gate()
        if (this.epochs.get(stream) !== own && this.bug !== 'state of the old owner') throw stale()
        const fate = this.fate()
        // Answered, and never stored.
        if (fate === 'refused' && this.bug === 'output without state') return
        if (fate !== 'refused') this.apply(stream, commit)
        if (fate !== 'done') throw new Error(fate)
      },
      load: async (ids) => {
        this.loads++
        return ids.flatMap((id) => this.states.get(id) ?? [])
      },
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
      waiting: async () => {
        const counts = new Map<string, number>()
        for (const row of this.outputs.values()) {
          if (isOf(row)) counts.set(row.ruleNodeId, (counts.get(row.ruleNodeId) ?? 0) + 1)
        }
        return counts
      },
    }
  }

  async bytesOf(tenantId: string): Promise<number> {
    const rows = [...this.states.values(), ...this.outputs.values()]
    return rows.filter((row) => row.tenantId === tenantId).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  encode({ id, ts, type, tenantId, originator, metadata, data, resumption }: Message): string {
    return JSON.stringify({ id, ts, type, tenantId, originator, metadata, data, resumption })
  }

  decode(text: string): Message {
    const { originator, ...fields } = JSON.parse(text) as MessageFields
    return new Message({ ...fields, originator: entityId(originator.entityType, originator.id) })
  }

  private apply(stream: number, commit: StateCommit): void {
    this.commits.push(commit)
    for (const row of commit.states) {
      const done = this.bug === 'state without visits' ? '' : row.done
      this.states.set(row.id, { ...row, done, stream })
    }
    for (const id of commit.removedStates) this.states.delete(id)
    for (const row of commit.outputs) this.outputs.set(row.id, { ...row, stream })
    for (const id of commit.removedOutputs) this.outputs.delete(id)
  }
}
