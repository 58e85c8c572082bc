/**
 * Ends a sandbox process whose call does not come back. The isolate's own time limit stops scripts, but not a built-in that
 * runs for minutes without looking up (a search through a huge text) and not an isolate that has stopped for good. It watches
 * from the pool's thread: the process needs no thread of its own for it, and nothing in the process can stop it.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Clock, TimerHandle } from '../../../model/clock.ts'

/** A call that is given no processor is not stuck; one that uses none for so many limits is. */
const IDLE_LIMITS = 20
/** Linux counts processor time in hundredths of a second, on every machine. */
const TICK_MS = 10

export class Watchdog {
  private readonly clock: Clock
  private readonly limitMs: number
  private timer: TimerHandle | undefined

  constructor(clock: Clock, limitMs: number) {
    this.clock = clock
    this.limitMs = limitMs
  }

  /** A call begins in the process, or its next try. Reads nothing yet: most calls come back long before the first look. */
  arm(pid: number): void {
    this.disarm()
    const halfMs = this.limitMs / 2
    this.timer = this.clock.after(halfMs, () => this.look(pid, processorMsOf(pid), halfMs))
  }

  /** The call came back, or its process ended. */
  disarm(): void {
    this.timer?.cancel()
    this.timer = undefined
  }

  /** The process had used so much when it was looked at last. */
  private look(pid: number, usedBefore: number | undefined, waitMs: number, looks = 1): void {
    this.timer = this.clock.after(waitMs, () => {
      const used = processorMsOf(pid)
      const isBusy = used !== undefined && usedBefore !== undefined && used - usedBefore >= waitMs / 2
      if (isBusy || looks >= IDLE_LIMITS) kill(pid)
      else this.look(pid, used, this.limitMs, looks + 1)
    })
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself: whoever waits for its answer hears of that.
  }
}

/** Undefined where the machine does not say. */
function processorMsOf(pid: number): number | undefined {
  return process.platform === 'linux' ? linuxProcessorMs(pid) : listedProcessorMs(pid)
}

function linuxProcessorMs(pid: number): number | undefined {
  let line: string
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // After the name in brackets: the state, then numbers, of which the 12th and 13th are ticks in user and system mode.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined
}

/** `[[days-]hours:]minutes:seconds` */
function listedProcessorMs(pid: number): number | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' })
  const match = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(stdout.trim())
  if (match === null) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0))
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
}
