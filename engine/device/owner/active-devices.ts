/**
 * Finds the devices that the store has as active or connected, in pages at a walk: one that sent nothing since its owner died would
 * otherwise stay so for ever.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'

export interface ActiveDeviceDirectory {
  /**
   * Ids of devices whose server attribute `active` is true, or whose `lastConnectTime` is behind their `lastDisconnectTime`; behind `after`
   * in their order, at most `limit`.
   */
  findActive(after: string, limit: number): Promise<readonly string[]>
}

const PER_PAGE = 500
/** Of a page: each that is handed out is read from the store, and what everybody else reads waits behind it. */
const PER_SLICE = 50
const PAUSE_MS = 20
const RETRY_MS = 5000

export class ActiveDevices {
  private readonly directory: ActiveDeviceDirectory
  private readonly clock: Clock
  private readonly onFound: (deviceId: string) => void
  /** The search under way goes on behind it; undefined while there is none. */
  private after: string | undefined
  private mustRepeat = false
  private timer: TimerHandle | undefined
  private isClosed = false

  constructor(directory: ActiveDeviceDirectory, clock: Clock, onFound: (deviceId: string) => void) {
    this.directory = directory
    this.clock = clock
    this.onFound = onFound
  }

  /** Hands out all that there are now; a search under way begins anew when it is done. */
  find(): void {
    if (this.after !== undefined) {
      this.mustRepeat = true
      return
    }
    this.after = ''
    void this.readPage(this.after)
  }

  close(): void {
    this.isClosed = true
    this.timer?.cancel()
  }

  private async readPage(after: string): Promise<void> {
    let found: readonly string[]
    try {
      found = await this.directory.findActive(after, PER_PAGE)
    } catch {
      // The store is away, which its own figures say: the devices are found when it is back.
      return this.readLater(after, RETRY_MS)
    }
    this.handOut(found, 0)
  }

  /** The devices of a page from `from` on, a slice at a time; then the next page. */
  private handOut(found: readonly string[], from: number): void {
    if (this.isClosed) return
    const until = from + PER_SLICE
    for (const deviceId of found.slice(from, until)) this.onFound(deviceId)
    if (until < found.length) {
      this.timer = this.clock.after(PAUSE_MS, () => this.handOut(found, until))
      return
    }
    const last = found.at(-1)
    if (last !== undefined && found.length === PER_PAGE) return this.readLater(last, PAUSE_MS)
    this.after = undefined
    if (!this.mustRepeat) return
    this.mustRepeat = false
    this.find()
  }

  private readLater(after: string, delayMs: number): void {
    this.after = after
    if (!this.isClosed) this.timer = this.clock.after(delayMs, () => void this.readPage(after))
  }
}
