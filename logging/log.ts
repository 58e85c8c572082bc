/** The system log over pino: JSON lines on standard error, so that standard output belongs to the ready line. */
import { pino } from 'pino'
import type { Log, LogFields } from '../model/log.ts'

export interface SystemLog extends Log {
  /** Writes out what is buffered. */
  flush(): void
}

export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): SystemLog {
  const destination = pino.destination({ fd: 2, sync: false })
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  const write = (kind: 'debug' | 'info' | 'warn' | 'error') => (text: string, fields?: LogFields) => {
    if (fields === undefined) logger[kind](text)
    else logger[kind](fields, text)
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    flush: () => {
      try {
        destination.flushSync()
      } catch {
        // The destination was not open yet: nothing is buffered.
      }
    },
  }
}
