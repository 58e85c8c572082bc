/** A message on its way through a chain that nobody but the workbench waits for: what went wrong is kept, and none comes again. */
import type { Work } from '../engine/queue/work.ts'
import type { Message } from '../model/message.ts'

export class SoleWork implements Work {
  readonly message: Message
  readonly attempt = 1
  readonly isCancelled = false
  readonly errors: Error[] = []
  executions = 0
  open = 1

  constructor(message: Message) {
    this.message = message
  }

  branch(count: number): void {
    this.open += count
  }

  postpone(): void {
    // Whoever tries a chain waits for as long as they like.
  }

  end(error?: Error): void {
    this.open--
    if (error !== undefined) this.errors.push(error)
  }
}
