/**
 * Messages that an "acknowledge" node settled early and that go on (`rule-engine.md` 5.5). The queue no longer counts them,
 * so they are counted here: over the bound, a message settles at the end of its way as if the node were not there.
 */
import type { Message } from '../../model/message.ts'
import type { Work } from '../queue/work.ts'

export interface AcknowledgedFigures {
  readonly open: number
  readonly failed: number
}

export class AcknowledgedWorks {
  private open = 0
  private failed = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Ends the branch of `work` now and returns the work under which its message goes on; undefined at the bound. */
  detach(work: Work): Work | undefined {
    if (this.open >= this.limit) return undefined
    this.open++
    const onward = new AcknowledgedWork(work, (error) => {
      this.open--
      if (error !== undefined) this.failed++
    })
    work.end()
    return onward
  }

  figures(): AcknowledgedFigures {
    return { open: this.open, failed: this.failed }
  }
}

class AcknowledgedWork implements Work {
  readonly message: Message
  readonly attempt: number
  /** It has no deadline any more. */
  readonly isCancelled = false
  executions: number
  private branches = 1
  private error: Error | undefined
  private readonly settled: (error: Error | undefined) => void

  constructor({ message, attempt, executions }: Work, settled: (error: Error | undefined) => void) {
    this.message = message
    this.attempt = attempt
    this.executions = executions
    this.settled = settled
  }

  branch(count: number): void {
    this.branches += count
  }

  postpone(): void {
    // It has no deadline.
  }

  end(error?: Error): void {
    if (this.branches <= 0) throw new Error('a branch of an acknowledged message ended twice')
    this.error ??= error
    if (--this.branches === 0) this.settled(this.error)
  }
}
