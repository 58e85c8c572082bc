/** The log of runs, read while a load lasts: behind it, all of it would take as long again, and the load asks how far the runs are. */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Run, RunLog } from '../../support/run-log/index.ts'

const POLL_MS = 100
/** The lines to the servers run through this process: a world stands still while it reads at one go. */
const SLICE_BYTES = 256 * 1024

export class FollowedRuns {
  readonly #log: RunLog
  readonly #runs: Run[] = []
  readonly #counts = new Map<string, number>()
  readonly #following: Promise<void>
  #isOver = false

  constructor(log: RunLog) {
    this.#log = log
    this.#following = this.#follow()
  }

  /** Up to now; a value that ran again counts again. */
  ranOf(deviceId: string): number {
    return this.#counts.get(deviceId) ?? 0
  }

  /** What ran since the start; what runs from here on is the next reader's. */
  async end(): Promise<readonly Run[]> {
    this.#isOver = true
    await this.#following
    return this.#runs
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      for await (const added of slicesOf(this.#log)) this.#take(added)
      await delay(POLL_MS)
    }
  }

  #take(added: readonly Run[]): void {
    for (const run of added) {
      this.#runs.push(run)
      this.#counts.set(run.deviceId, this.ranOf(run.deviceId) + 1)
    }
  }
}

/** What was logged since it was read last, with turns for others in between. */
export async function* slicesOf(log: RunLog): AsyncGenerator<readonly Run[]> {
  for (let added = log.next(SLICE_BYTES); added.length > 0; added = log.next(SLICE_BYTES)) {
    yield added
    await nextTurn()
  }
}
