/**
 * Ends this process when a call does not come back. The isolate's own time limit stops scripts, but not a built-in that
 * runs for minutes without looking up (a search through a huge text) and not an isolate that has stopped for good. A second
 * thread waits on shared memory, so it also sees what blocks this one.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads'

interface WatchdogData {
  readonly watchdog: Int32Array
  readonly limitMs: number
}

/** Its one cell counts: odd while a call runs. */
export class Watchdog {
  private readonly cell = new Int32Array(new SharedArrayBuffer(4))

  constructor(limitMs: number) {
    const data: WatchdogData = { watchdog: this.cell, limitMs }
    new Worker(new URL(import.meta.url), { workerData: data }).unref()
  }

  /** A call begins. */
  arm(): void {
    Atomics.add(this.cell, 0, 1)
    Atomics.notify(this.cell, 0)
  }

  /** The call came back. */
  disarm(): void {
    Atomics.add(this.cell, 0, 1)
    Atomics.notify(this.cell, 0)
  }
}

/** A call that is given no processor is not stuck; one that uses none for so many limits is. */
const IDLE_LIMITS = 20

function watch({ watchdog, limitMs }: WatchdogData): never {
  for (;;) {
    const count = Atomics.load(watchdog, 0)
    if (count % 2 === 0) {
      Atomics.wait(watchdog, 0, count)
      continue
    }
    const before = process.cpuUsage()
    for (let limits = 1; Atomics.wait(watchdog, 0, count, limitMs) === 'timed-out'; limits++) {
      const { user, system } = process.cpuUsage(before)
      if ((user + system) / 1000 >= limitMs / 2 || limits >= IDLE_LIMITS) process.kill(process.pid, 'SIGKILL')
    }
  }
}

if (!isMainThread && (workerData as Partial<WatchdogData> | null)?.watchdog !== undefined)
  watch(workerData as WatchdogData)
