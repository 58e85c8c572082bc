/** How the process ends: on a signal after a clean stop, hard when that takes too long, and never silently. */
import { errorText } from '../model/errors.ts'
import type { SystemLog } from '../logging/log.ts'

/** What of the process is needed here; tests hand in their own. */
export interface EndingProcess {
  on(event: 'SIGTERM' | 'SIGINT', listener: (signal: NodeJS.Signals) => void): unknown
  exit(code: number): void
}

export interface Stoppable {
  /** Whether every part closed cleanly. */
  close(): Promise<boolean>
}

/** A defect, or a store that can no longer work. */
const EXIT_FATAL = 70

/**
 * Stops on SIGTERM and SIGINT: exit code 0 where all closed cleanly, 1 where not, or not within `limitMs`. Hand the platform to what
 * it returns once that has started: a signal that came before is obeyed then, and it answers that it was.
 */
export function stopOnSignals(own: EndingProcess, log: SystemLog, limitMs: number): (platform: Stoppable) => boolean {
  let platform: Stoppable | undefined
  let signalled = false
  let limit: NodeJS.Timeout | undefined
  const end = (code: number): void => {
    clearTimeout(limit)
    log.flush()
    own.exit(code)
  }
  const stop = (): void => {
    void platform?.close().then((clean) => {
      log.info('stopped')
      end(clean ? 0 : 1)
    })
  }
  const stopOn = (signal: NodeJS.Signals): void => {
    if (signalled) return
    signalled = true
    log.info('stopping', { signal })
    // All that was acknowledged is durable: an end as hard as a kill loses none of it.
    limit = setTimeout(() => {
      log.error('the stop took too long; what is not settled is delivered again at the next start', { limitMs })
      end(1)
    }, limitMs)
    stop()
  }
  own.on('SIGTERM', stopOn)
  own.on('SIGINT', stopOn)
  return (started) => {
    platform = started
    if (signalled) stop()
    return signalled
  }
}

/** Ends hard with the reason in the log: what was acknowledged is durable, so this loses nothing, and going on could. */
export function endFatally(log: SystemLog, error: unknown): void {
  log.error('the process can not go on and ends', {
    reason: errorText(error),
    stack: error instanceof Error ? error.stack : undefined,
  })
  log.flush()
  process.exit(EXIT_FATAL)
}

/** What nobody caught, a rejection that nobody awaits too, is a defect: the state is not known any more. */
export function endOnUncaughtErrors(log: SystemLog): void {
  process.on('uncaughtException', (error) => endFatally(log, error))
  // Whoever read the ready line may have gone; the log's own stream answers for itself.
  process.stdout.on('error', () => undefined)
}
