/** The real clock and the real chance: made by the composition root and by nobody else. */
import { randomUUID } from 'node:crypto'
import type { Clock, Random, TimerHandle } from './clock.ts'

/** A timer of Node.js with more than that fires at once. */
const LONGEST_MS = 2 ** 31 - 1

/** One `setImmediate` serves everything that asked for a turn since the last one; what runs may ask for the next. */
function sharedTurn(): (run: () => void) => void {
  let waiting: (() => void)[] = []
  let isAsked = false
  const ask = (): void => {
    if (isAsked) return
    isAsked = true
    setImmediate(runAll)
  }
  const runAll = (): void => {
    isAsked = false
    const running = waiting
    waiting = []
    let index = 0
    try {
      while (index < running.length) running[index++]?.()
    } finally {
      // One that throws reaches the process's handler: those behind it run all the same, on the next turn.
      if (index < running.length) {
        waiting = running.slice(index).concat(waiting)
        ask()
      }
    }
  }
  return (run) => {
    waiting.push(run)
    ask()
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
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_MS))
    return { cancel: () => clearTimeout(timer) }
  }
}

export const systemClock: Clock = new SystemClock()

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
}
