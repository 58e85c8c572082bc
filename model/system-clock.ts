/** The real clock and the real chance: made by the composition root and by nobody else. */
import { randomUUID } from 'node:crypto'
import type { Clock, Random, TimerHandle } from './clock.ts'

/** One `setImmediate` serves everything that asked for a turn since the last one; what runs may ask for the next. */
function sharedTurn(): (run: () => void) => void {
  let waiting: (() => void)[] = []
  let spare: (() => void)[] = []
  const runAll = (): void => {
    const running = waiting
    waiting = spare
    let index = 0
    try {
      while (index < running.length) running[index++]?.()
    } finally {
      // A throwing callback ends the process or reaches its handler: those behind it must run all the same.
      if (index < running.length) {
        waiting = running.slice(index).concat(waiting)
        setImmediate(runAll)
        spare = []
      } else {
        running.length = 0
        spare = running
        if (waiting.length > 0) setImmediate(runAll)
      }
    }
  }
  return (run) => {
    waiting.push(run)
    if (waiting.length === 1) setImmediate(runAll)
  }
}

class SystemClock implements Clock {
  readonly soon = sharedTurn()

  now(): number {
    return Date.now()
  }

  monotonic(): number {
    return performance.now()
  }

  after(delayMs: number, run: () => void): TimerHandle {
    const timer = setTimeout(run, delayMs)
    return { cancel: () => clearTimeout(timer) }
  }
}

export const systemClock: Clock = new SystemClock()

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
}
