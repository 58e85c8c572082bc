/** For tests: the feed of a process in a cluster. The test says when something was missed, and when the others know what is wanted. */
import { InProcessChangeFeed } from './change-feed.ts'

export class TestFeed extends InProcessChangeFeed {
  private readonly gapListeners = new Set<(since: number) => void>()
  private unsettled: (() => void)[] | undefined

  override onGap(listener: (since: number) => void): () => void {
    this.gapListeners.add(listener)
    return () => void this.gapListeners.delete(listener)
  }

  override settled(): Promise<void> {
    const { unsettled } = this
    return unsettled === undefined ? Promise.resolve() : new Promise((resolve) => unsettled.push(resolve))
  }

  gap(since = 0): void {
    for (const listener of [...this.gapListeners]) listener(since)
  }

  get gapListenerCount(): number {
    return this.gapListeners.size
  }

  unsettle(): void {
    this.unsettled = []
  }

  settle(): void {
    for (const resolve of this.unsettled ?? []) resolve()
    this.unsettled = undefined
  }
}
