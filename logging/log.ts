/** The system log over pino: JSON lines on standard error, so that standard output belongs to the ready line. */
import { pino } from 'pino'
import type { Log, LogFields } from '../model/log.ts'
import { LineWriter } from './line-writer.ts'

export interface SystemLog extends Log {
  /** Writes out what is buffered: the last thing before the process ends. */
  flush(): void
}

const STANDARD_ERROR = 2
const MAX_BUFFERED_BYTES = 8 * 2 ** 20

/** Never ends the process: where standard error takes nothing, the lines wait, and the work goes on. */
export function createLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): SystemLog {
  const lines = new LineWriter(STANDARD_ERROR, MAX_BUFFERED_BYTES)
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
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
    flush: () => lines.flush(),
  }
}
