/** The system log: a line is an event with fields, for the person on call. Never one a message on a hot path. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  debug(text: string, fields?: LogFields): void
  info(text: string, fields?: LogFields): void
  warn(text: string, fields?: LogFields): void
  error(text: string, fields?: LogFields): void
}
