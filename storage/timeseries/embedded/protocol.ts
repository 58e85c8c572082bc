/** What goes between the callers' thread and the worker's. Points cross as bytes in transferred buffers, never as cloned objects. */
import { errorText, isMillraceError, type ErrorFields } from '../../../model/errors.ts'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { LatestColumn } from '../../../model/latest-column.ts'
import type { DeleteRange } from '../store.ts'
import type { CoreFigures } from './core.ts'
import { EmbeddedErrors, type EmbeddedErrorName } from './errors.ts'

export type Question =
  | { readonly kind: 'write'; readonly operation: Uint8Array }
  | { readonly kind: 'history'; readonly entityId: string; readonly query: HistoryQuery }
  | { readonly kind: 'latest'; readonly entityId: string; readonly keys: readonly string[] | undefined }
  | { readonly kind: 'latestOfMany'; readonly entityIds: readonly string[]; readonly keys: readonly string[] }
  /** Ids of one length, one behind the other: a text crosses at once, and is known again. */
  | { readonly kind: 'latestColumn'; readonly entityIds: string; readonly from: number; readonly key: string }
  | { readonly kind: 'keys'; readonly entityId: string }
  | { readonly kind: 'storedKeys'; readonly entityId: string }
  | { readonly kind: 'delete'; readonly range: DeleteRange }
  | { readonly kind: 'deleteEntity'; readonly entityId: string }
  | { readonly kind: 'pack' }
  | { readonly kind: 'copy'; readonly directory: string }
  | { readonly kind: 'close' }

export interface Request {
  readonly id: number
  /** The caller's clock, Unix ms: the worker has none of its own. */
  readonly now: number
  readonly question: Question
}

export interface ErrorOnWire {
  /** Undefined for an error that is none of the store's table. */
  readonly name: EmbeddedErrorName | undefined
  readonly fields: ErrorFields
  readonly message: string
  /** With the stack, where there is one. */
  readonly text: string
}

export interface Reply {
  readonly id: number
  /** The last commit at the time of the answer. */
  readonly sequence: number
  readonly figures: CoreFigures
  readonly points?: Uint8Array
  readonly keys?: readonly string[]
  readonly column?: LatestColumn
  /** Everything is in chunks, and nothing in a log. */
  readonly isPacked?: boolean
  /** The highest log position of any write in a copy. */
  readonly maxSequence?: number
  readonly error?: ErrorOnWire
}

/** The first message of the worker: open, or why not. */
export interface Opened {
  readonly opened: true | ErrorOnWire
}

export function errorOnWire(error: unknown): ErrorOnWire {
  const message = errorText(error)
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (!isMillraceError(error)) return { name: undefined, fields: {}, message, text }
  const name = error.code.replace(/^timeseries\./, '')
  return isErrorName(name)
    ? { name, fields: error.fields, message, text }
    : { name: undefined, fields: {}, message, text }
}

/** The message is the sentence that a person reads; where it came from in the worker is the cause's. */
export function errorFromWire(error: ErrorOnWire): Error {
  return error.name === undefined
    ? new Error(error.message, { cause: new Error(error.text) })
    : EmbeddedErrors[error.name](error.fields, new Error(error.text))
}

function isErrorName(name: string): name is EmbeddedErrorName {
  return name in EmbeddedErrors
}
