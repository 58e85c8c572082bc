/** What was opened is closed in reverse order, each part awaited, once. */
import { errorText } from '../model/errors.ts'
import type { Log } from '../model/log.ts'

export class Closing {
  private readonly steps: { readonly name: string; readonly close: () => void | Promise<void> }[] = []
  private readonly log: Log
  private closing: Promise<boolean> | undefined

  constructor(log: Log) {
    this.log = log
  }

  /** Registers a part right after it was opened. */
  add(name: string, close: () => void | Promise<void>): void {
    this.steps.push({ name, close })
  }

  /** Resolves with whether every part closed cleanly. */
  run(): Promise<boolean> {
    return (this.closing ??= this.closeAll())
  }

  private async closeAll(): Promise<boolean> {
    let clean = true
    for (const { name, close } of this.steps.reverse()) {
      try {
        await close()
      } catch (error) {
        clean = false
        this.log.error('a part did not close', { part: name, reason: errorText(error) })
      }
    }
    return clean
  }
}
