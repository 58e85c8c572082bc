/** Faults of a PostgreSQL server as every store over it tells them. */
import { defineErrors, errorText, isMillraceError, type MillraceError } from '../../model/errors.ts'
import { tlsFault } from '../../model/tls.ts'

export const PostgresErrors = defineErrors('postgres', {
  UNAVAILABLE: { kind: 'retryable', isOutage: true, status: 503, text: 'PostgreSQL does not serve: {reason}' },
  REFUSED: {
    kind: 'retryable',
    isOutage: true,
    needsOperator: true,
    status: 503,
    text: 'PostgreSQL refuses the login: {reason}. Correct the user, password or database in DATABASE_URL',
  },
  UNTRUSTED: {
    kind: 'retryable',
    isOutage: true,
    needsOperator: true,
    status: 503,
    text: 'There is no trusted TLS connection to PostgreSQL: {reason}. Correct sslmode, sslrootcert, sslcert or sslkey in DATABASE_URL',
  },
  BUSY: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'PostgreSQL is busy: {waiting} requests wait for their answer, at most {limit}',
  },
  CLOSED: { kind: 'retryable', isOutage: true, status: 503, text: 'The connections to PostgreSQL are closed' },
  /** Another transaction was in the way: the same again may well pass. */
  CONFLICT: { kind: 'retryable', status: 503, text: 'PostgreSQL undid a transaction that met another one: {reason}' },
  TOO_SLOW: { kind: 'retryable', status: 503, text: 'PostgreSQL gave up a statement that took too long' },
  FAILED: { kind: 'retryable', status: 500, text: 'PostgreSQL refused a statement: {reason}' },
  SCHEMA_NEWER: {
    kind: 'terminal',
    status: 500,
    text: 'The {component} schema in PostgreSQL has version {found}, this program knows versions up to {known}: start a newer program',
  },
})

/** What a server says with a refusal; absent where the connection itself failed. */
interface ServerReport {
  readonly code: string
  readonly table: string | undefined
  readonly constraint: string | undefined
}

/**
 * SQLSTATE classes that say "not now": connection exceptions, insufficient resources (a full disk, too many connections),
 * operator intervention (shutdown, start-up, crash of another server process), system errors.
 */
const OUTAGE_CLASSES = new Set(['08', '53', '57', '58'])
/** Class 28 is the login; the other: no such database. */
const REFUSED_LOGIN = /^(28...|3D000)$/
const NO_TLS_THERE = 'The server does not support SSL connections'
/** Read-only: a standby that was promoted away from, or a server that protects itself. */
const READ_ONLY = '25006'
/** The server ends the session: shutdown, crash of another process, the database was dropped, idle for too long. */
const ENDS_SESSION = new Set(['57P01', '57P02', '57P03', '57P04', '57P05'])
/** A prepared statement does not fit a table that was changed since: a new connection prepares it anew. */
const STALE_PLAN = '0A000'
const STATEMENT_TIMEOUT = '57014'
const CONFLICTS = new Set(['40001', '40P01', '55P03'])

export function serverReport(error: unknown): ServerReport | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  if (!/^[0-9A-Z]{5}$/.test(error.code) || !('severity' in error)) return undefined
  const text = (name: 'table' | 'constraint') => {
    const value: unknown = name in error ? Reflect.get(error, name) : undefined
    return typeof value === 'string' ? value : undefined
  }
  return { code: error.code, table: text('table'), constraint: text('constraint') }
}

/** Whether no further query can be answered on the connection that had the error. */
export function endsConnection(error: unknown): boolean {
  const report = serverReport(error)
  return (
    report === undefined || report.code.startsWith('08') || ENDS_SESSION.has(report.code) || report.code === STALE_PLAN
  )
}

/** Anything that a query may throw, as one of {@link PostgresErrors}. Where the connection broke, the outcome is unknown. */
export function postgresError(error: unknown): MillraceError {
  if (isMillraceError(error)) return error
  const reason = errorText(error) || 'no connection'
  const report = serverReport(error)
  const untrusted = report === undefined && reason === NO_TLS_THERE ? reason : tlsFault(error)
  if (untrusted !== undefined) return PostgresErrors.UNTRUSTED({ reason: untrusted }, error)
  if (report !== undefined && REFUSED_LOGIN.test(report.code)) return PostgresErrors.REFUSED({ reason }, error)
  if (report?.code === STATEMENT_TIMEOUT) return PostgresErrors.TOO_SLOW({}, error)
  if (report === undefined || OUTAGE_CLASSES.has(report.code.slice(0, 2)) || report.code === READ_ONLY) {
    return PostgresErrors.UNAVAILABLE({ reason }, error)
  }
  if (CONFLICTS.has(report.code)) return PostgresErrors.CONFLICT({ reason }, error)
  return PostgresErrors.FAILED({ reason, sqlState: report.code }, error)
}
