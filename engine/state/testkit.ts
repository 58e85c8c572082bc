/** For tests of nodes with a memory: a store in memory that can refuse, keep quiet and be read by the next process. */
import { StateErrors } from './errors.ts'
import { StatesInMemory } from './memory-store.ts'
import type { StateCommit, StoredState } from './store.ts'

/** What a commit meets: it is done and answered, done and not answered, or refused. */
export type CommitFate = 'done' | 'unanswered' | 'refused'

/** What a store may do wrong. */
export type PlantedBug = 'state without visits' | 'output without state' | 'state of the old owner'

/** What is durable: shared by all processes of a test. */
export class MemoryStateStore extends StatesInMemory {
  readonly commits: StateCommit[] = []
  loads = 0
  fate: () => CommitFate = () => 'done'
  /** Called before each commit is done; it waits. */
  gate: () => Promise<void> = () => Promise.resolve()
  private readonly bug: PlantedBug | undefined

  constructor(bug?: PlantedBug) {
    super()
    this.bug = bug
  }

  protected override async commit(stream: number, own: number, commit: StateCommit): Promise<void> {
    await this.gate()
    if (this.isStale(stream, own) && this.bug !== 'state of the old owner') {
      throw StateErrors.OWNER_STALE({ partition: stream, epoch: own })
    }
    const fate = this.fate()
    // Answered, and never stored.
    if (fate === 'refused' && this.bug === 'output without state') return
    if (fate !== 'refused') this.apply(stream, commit)
    if (fate !== 'done') throw new Error(fate)
  }

  protected override load(ids: readonly string[]): Promise<readonly StoredState[]> {
    this.loads++
    return super.load(ids)
  }

  protected override apply(stream: number, commit: StateCommit): void {
    this.commits.push(commit)
    if (this.bug !== 'state without visits') return super.apply(stream, commit)
    super.apply(stream, { ...commit, states: commit.states.map((row) => ({ ...row, done: '' })) })
  }
}
