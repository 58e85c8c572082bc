/** The real policy on the real clock, for tests against services on this machine. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { systemClock } from '../../model/system-clock.ts'
import { DEFAULT_OUTBOUND_SETTINGS, Outbound, type OutboundSettings } from './outbound.ts'

export function testOutbound(settings: Partial<OutboundSettings> = {}, clock: Clock = systemClock): Outbound {
  const loopback = { allowedAddresses: ['127.0.0.0/8', '::1'] }
  return new Outbound({ clock, settings: { ...DEFAULT_OUTBOUND_SETTINGS, ...loopback, ...settings } })
}

/** The real clock, but that the time of calls is over when the test says so: no machine is too slow for a call that is to be answered. */
export class HeldTimeouts implements Clock {
  readonly timeoutMs = 12_345
  private readonly due = new Set<() => void>()

  now(): number {
    return systemClock.now()
  }

  monotonic(): number {
    return systemClock.monotonic()
  }

  soon(run: () => void): void {
    systemClock.soon(run)
  }

  after(delayMs: number, run: () => void): TimerHandle {
    if (delayMs !== this.timeoutMs) return systemClock.after(delayMs, run)
    this.due.add(run)
    return { cancel: () => void this.due.delete(run) }
  }

  /** The time of all calls under way is over. */
  end(): void {
    for (const run of this.due) run()
  }
}
