/** Does something again and again, until it is closed. */
import type { Clock, TimerHandle } from '../model/clock.ts'

export function repeat(clock: Clock, everyMs: number, run: () => void): { close(): void } {
  let timer: TimerHandle
  const wait = (): void => {
    timer = clock.after(everyMs, () => {
      wait()
      run()
    })
  }
  wait()
  return { close: () => timer.cancel() }
}
