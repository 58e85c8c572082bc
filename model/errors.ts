/**
 * One kind of error for the whole project. A room declares its errors as a table; the kind says what the caller can do,
 * the status is what an HTTP client sees, the code is stable and searchable. One place maps them to each protocol
 * (`api/errors.ts`, `transports/mqtt/reason-codes.ts`).
 */

/** invalid: the sender must change it · denied: never says whether the thing exists · retryable: later · terminal: stop. */
export type ErrorKind = 'invalid' | 'denied' | 'retryable' | 'terminal'

export interface ErrorDefinition {
  readonly kind: ErrorKind
  /** HTTP status. */
  readonly status: number
  /** Message template; `{name}` is replaced by the field of that name. */
  readonly text: string
  /** The numeric `errorCode` of the REST error body where it is not the status's usual one (`rest-api.md` 2.2). */
  readonly restCode?: number
  /** Fields that the REST error body shows beside the text. */
  readonly shown?: readonly string[]
  /** A part of the platform is away or full, whatever the message: it is tried again for as long as that lasts. */
  readonly isOutage?: boolean
  /** Something did not answer in time: a queue that treats time-outs in a way of their own does so here too. */
  readonly isTimeout?: boolean
  /** With `isOutage`: the limit that was reached is the tenant's own. Others go on, so its messages may be put aside. */
  readonly isOwnLimit?: boolean
  /** Waiting alone mends nothing: a start says so at once. What runs already waits as in any outage, since nothing in hand may be lost by it. */
  readonly needsOperator?: boolean
}

export type ErrorFields = Readonly<Record<string, unknown>>

export class MillraceError extends Error {
  readonly code: string
  readonly kind: ErrorKind
  readonly status: number
  readonly restCode: number | undefined
  readonly shown: readonly string[]
  readonly isOutage: boolean
  readonly isTimeout: boolean
  readonly isOwnLimit: boolean
  readonly needsOperator: boolean
  readonly fields: ErrorFields

  constructor(code: string, definition: ErrorDefinition, fields: ErrorFields = {}, cause?: unknown) {
    super(fill(definition.text, fields), cause === undefined ? undefined : { cause })
    this.name = 'MillraceError'
    this.code = code
    this.kind = definition.kind
    this.status = definition.status
    this.restCode = definition.restCode
    this.shown = definition.shown ?? []
    this.isOutage = definition.isOutage ?? false
    this.isTimeout = definition.isTimeout ?? false
    this.isOwnLimit = definition.isOwnLimit ?? false
    this.needsOperator = definition.needsOperator ?? false
    this.fields = fields
  }
}

export type ErrorFactory = (fields?: ErrorFields, cause?: unknown) => MillraceError

/** Declares a room's table of errors; each row becomes a factory, its code `room.NAME`. */
export function defineErrors<Name extends string>(
  room: string,
  table: Readonly<Record<Name, ErrorDefinition>>,
): Readonly<Record<Name, ErrorFactory>> {
  const factories: Partial<Record<Name, ErrorFactory>> = {}
  for (const name of Object.keys(table) as Name[]) {
    const definition = table[name]
    factories[name] = (fields, cause) => new MillraceError(`${room}.${name}`, definition, fields, cause)
  }
  return factories as Record<Name, ErrorFactory>
}

export function isMillraceError(error: unknown): error is MillraceError {
  return error instanceof MillraceError
}

/** The text of anything thrown. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A name with several addresses, none of which answers: Node says so without a word of its own.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(errorText).join('; ')
  return error.message
}

function fill(template: string, fields: ErrorFields): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => (name in fields ? String(fields[name]) : whole))
}
