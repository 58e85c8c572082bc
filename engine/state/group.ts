/** What goes into one transaction: the states that changed, the messages that nodes send, and who waits for it. */
import type { Message } from '../../model/message.ts'
import type { CommitGroup, StateEntry } from './entry.ts'
import type { StoredOutput } from './store.ts'

export interface NewOutput {
  readonly stored: StoredOutput
  readonly message: Message
}

export class Group implements CommitGroup {
  /** Each once: those whose `group` is this one, until they change again. */
  changed: StateEntry[] = []
  readonly outputs: NewOutput[] = []
  /** Of outputs that the log has. */
  readonly removed: string[] = []
  private readonly waiting: ((error: Error | undefined) => void)[] = []

  get isEmpty(): boolean {
    return (
      this.changed.length === 0 && this.outputs.length === 0 && this.removed.length === 0 && this.waiting.length === 0
    )
  }

  whenDone(listener: (error: Error | undefined) => void): void {
    this.waiting.push(listener)
  }

  tell(error: Error | undefined): void {
    for (const listener of this.waiting.splice(0)) listener(error)
  }
}
