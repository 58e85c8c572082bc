/** What a statement was refused for, as the entity store tells it. */
import { errorText, isMillraceError } from '../../../model/errors.ts'
import { serverReport } from '../../postgres/errors.ts'
import type { Statement } from '../database.ts'
import { EntityStoreErrors } from '../errors.ts'
import { UNEXPECTED_CHANGES } from './schema.ts'

const UNIQUE_VIOLATION = '23505'
/** Integrity constraints, values that do not fit, a text too long for an index: the same again fails again. */
const SENDERS_FAULT = new Set(['22', '23', '54'])

/** Unique constraints and indexes by name, with their columns as {@link Statement.constraints} names them. */
export type UniqueColumns = ReadonlyMap<string, string>

/** An error of the connection or of a whole transaction. */
export function storeError(error: unknown): Error {
  if (!isMillraceError(error)) return EntityStoreErrors.FAILED({ reason: errorText(error) }, error)
  if (error.code === 'postgres.BUSY') return EntityStoreErrors.OVERLOADED({ ...error.fields }, error)
  if (error.isOutage) return EntityStoreErrors.UNAVAILABLE({ reason: error.message }, error)
  return error.kind === 'terminal' ? error : EntityStoreErrors.FAILED({ reason: error.message }, error)
}

/** An error of one statement. */
export function refusalOf(statement: Statement, error: Error, unique: UniqueColumns): Error {
  const report = serverReport(error.cause)
  if (report === undefined) return storeError(error)
  if (report.code === UNEXPECTED_CHANGES) return statement.expect?.otherwise() ?? storeError(error)
  const columns = report.constraint === undefined ? undefined : unique.get(report.constraint)
  if (report.code === UNIQUE_VIOLATION && columns !== undefined) {
    return statement.constraints?.[columns]?.() ?? EntityStoreErrors.CONSTRAINT({ constraint: columns }, error)
  }
  if (SENDERS_FAULT.has(report.code.slice(0, 2))) {
    return EntityStoreErrors.CONSTRAINT({ constraint: report.constraint ?? errorText(error.cause) }, error)
  }
  return storeError(error)
}
